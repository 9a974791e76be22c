"""Libraries that play the environments: what each of them takes, and what it does not."""
