"""Coverage of printed 95 % intervals, by simulation."""
