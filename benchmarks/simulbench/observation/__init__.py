"""An observer's work: the first challenging turn of a dialogue; requests, texts and scripted observers."""
