"""Running: the run file, the directory of a run, where matches are played and the runner that plays them all."""
