"""A module that cannot be imported."""

raise RuntimeError("this package was built for another version")
