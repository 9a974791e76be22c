"""A task creator's work: requests, texts, checks and scripted creators."""
