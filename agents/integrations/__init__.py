"""The suite as the environments of training libraries: one module a library, each with an extra of its own.

All of them drive ``agents.training.Match``. They import their library where they stand, so ``import agents`` needs none of them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata

PINS = {"verifiers": "0.4", "trl": "1.16", "openenv": "0.10", "textarena": "0.7"}
"""The minor version of each library that its module was written for, as the extra of the same name installs it."""


@contextmanager
def importing(library: str) -> Iterator[None]:
    """Checks that a library is there in the version that its module was written for, before it is imported in the block.

    Raises:
        ImportError: if it is not; the message says how to install it.
    """
    cure = f"pip install 'llmarena-envs[{library}]'"
    try:
        version = metadata.version(library)
    except metadata.PackageNotFoundError:
        raise ImportError(
            f"agents.integrations.{library} needs {library!r}, which is not installed: {cure}", name=library
        ) from None
    if version.split(".")[:2] != PINS[library].split("."):
        raise ImportError(
            f"agents.integrations.{library}: expected {library} {PINS[library]}, got {version}: {cure}", name=library
        )
    yield
