"""An observer's work by itself: which turn of a dialogue is the first challenging one; rules, texts, environment, observers."""
