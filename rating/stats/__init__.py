"""Statistics: ratings, intervals and tests, as functions of outcomes."""
