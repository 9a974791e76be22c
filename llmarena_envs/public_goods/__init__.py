"""Public goods: rules, texts and environment."""
