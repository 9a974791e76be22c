"""Runnable scripts: published experiments done again, speed, training."""
