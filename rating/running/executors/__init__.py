"""Where a match is played: in this process, or in a pool of processes. The result is the same."""
