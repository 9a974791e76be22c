"""Debates of two assistants before a committee of judges."""
