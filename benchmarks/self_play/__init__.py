"""Self-play of small transformers: games and their tokens, networks, matches in batches, evaluation. See ``train_self_play``."""
