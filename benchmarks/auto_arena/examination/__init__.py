"""An examiner's work without debates: requests, texts, checks and scripted examiners."""
