"""The store of a run in PostgreSQL, in which several machines write."""
