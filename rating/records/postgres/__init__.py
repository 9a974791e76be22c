"""The store of a run in PostgreSQL, which several machines read while one process writes."""
