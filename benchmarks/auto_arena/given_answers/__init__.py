"""Judging of first answers from other debates."""
