"""Toxicity of tasks and scripts: the row, and a small lexicon that scores them where no scorer is named."""
