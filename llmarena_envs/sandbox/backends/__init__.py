"""Ways of starting the runner apart from everything else, one module each."""
