"""Training data for language models from the recorded matches of a run."""
