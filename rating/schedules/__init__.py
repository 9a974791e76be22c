"""Schedules: who meets whom, on which seats, from which seed, in which order."""
