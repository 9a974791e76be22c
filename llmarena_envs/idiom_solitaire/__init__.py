"""Idiom solitaire."""
