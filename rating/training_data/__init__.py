"""Data for the training of language models, out of the recorded matches of a run: records in, rows out."""
