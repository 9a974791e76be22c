"""What ``import rating`` offers to people with results of their own: battles from anywhere, rated and compared."""
