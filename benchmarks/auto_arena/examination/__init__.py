"""An examiner's work by itself, apart from debates: rules, texts, environment and scripted examiners."""
