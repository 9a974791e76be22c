"""The version check of optional libraries."""

from importlib import metadata


def why_unusable(library: str, minor: str) -> str:
    """Returns why a library cannot be used, or an empty text.

    Args:
        library: name of the distribution.
        minor: the supported minor version, e.g. ``0.7``.
    """
    try:
        version = metadata.version(library)
    except metadata.PackageNotFoundError:
        return f"{library} is not installed"
    return "" if version.split(".")[:2] == minor.split(".") else f"expected {library} {minor}, got {version}"
