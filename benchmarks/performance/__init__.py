"""Speed beside named peers, measured in one process."""
