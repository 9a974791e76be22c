"""A judge of descriptions: rules, texts and environment."""
