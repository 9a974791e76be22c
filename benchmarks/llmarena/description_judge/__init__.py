"""A judge of descriptions: requests and texts."""
