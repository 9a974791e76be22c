"""Public functions of ``import rating`` for users with their own results: rate and compare battles from any source."""
