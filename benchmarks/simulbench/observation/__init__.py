"""An observer's work: the first challenging turn of a dialogue; rules, texts, environment, observers."""
