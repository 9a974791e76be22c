"""An examiner's work without debates: rules, texts, environment and scripted examiners."""
