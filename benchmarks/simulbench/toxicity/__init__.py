"""Toxicity of tasks and scripts: the row, and a small lexicon as the default scorer."""
