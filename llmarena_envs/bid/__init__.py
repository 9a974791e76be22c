"""First-price sealed-bid auction: rules, texts and environment."""
