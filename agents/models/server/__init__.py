"""One model server: a request, and everything that can come back."""
