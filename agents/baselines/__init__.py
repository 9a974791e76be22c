"""Scripted policies: ``general`` plays every game with enumerated actions, the other modules play one game each."""
