"""HTML report of a run or of imported results: one self-contained page."""
