"""A task creator's work: rules, texts, environment and scripted creators."""
