"""Play and watch in a browser: pages of people who play, and of a run that somebody watches."""
