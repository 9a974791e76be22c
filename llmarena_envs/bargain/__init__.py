"""Bargaining over three kinds of items: scenarios, rules, texts and environment."""
