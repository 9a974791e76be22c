"""The store of a run in PostgreSQL, with one writing process and readers on several machines."""
