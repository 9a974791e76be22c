"""A task creator's work by itself: rules, texts, environment and scripted creators."""
