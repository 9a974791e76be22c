"""Where matches are played: in this process, a process pool or a Ray cluster. Results are the same."""
