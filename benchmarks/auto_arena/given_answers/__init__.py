"""Judging of first answers that were given in other debates."""
