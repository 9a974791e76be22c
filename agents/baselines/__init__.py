"""Scripted policies: ``general`` plays every game with enumerated actions, one module a game holds its own players."""
