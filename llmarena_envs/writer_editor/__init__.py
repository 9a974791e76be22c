"""Writer and editor: a program and its review, or a translation and its revision, scored by judges."""
