"""The suite as environments of training libraries: one module per library, each with its own extra.

All of them use ``agents.training.Match``. Each module imports its library itself, so ``import agents`` needs none of them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata

PINS = {"verifiers": "0.4", "trl": "1.16", "openenv": "0.10", "textarena": "0.7"}
"""The supported minor version of each library, as installed by the extra of the same name."""


@contextmanager
def importing(library: str) -> Iterator[None]:
    """Checks that a library is installed in the supported version, before it is imported in the block.

    Raises:
        ImportError: if it is not; the message gives the install command.
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
