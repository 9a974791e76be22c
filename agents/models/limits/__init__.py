"""What a server bears: how many requests at once and a second, when none at all, and how often one is sent again."""
