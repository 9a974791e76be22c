"""Limits on requests to a server: concurrency, request rate, outages and retries."""
