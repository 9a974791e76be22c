"""Schedules: pairings, seats, seeds and order of the matches."""
