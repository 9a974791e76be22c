"""OpenSpiel's games as environments (Lanctot et al., arXiv 1908.09453)."""
