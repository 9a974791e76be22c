"""TextArena's games as environments (Guertler et al., arXiv 2504.11442)."""
