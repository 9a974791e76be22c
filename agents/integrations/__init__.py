"""The suite as environments of training libraries: one module per library, each with its own extra.

All of them use ``agents.training.Match``. Each module imports its library itself, so ``import agents`` needs none of them.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from llmarena_envs.core.libraries import why_unusable
from llmarena_envs.textarena.package import VERSION

PINS = {"verifiers": "0.4", "trl": "1.16", "openenv": "0.10", "textarena": VERSION}
"""The supported minor version of each library, as installed by the extra of the same name."""


@contextmanager
def importing(library: str) -> Iterator[None]:
    """Checks that a library is installed in the supported version, before it is imported in the block.

    Raises:
        ImportError: if it is not; the message gives the install command.
    """
    reason = why_unusable(library, PINS[library])
    if reason:
        raise ImportError(
            f"agents.integrations.{library}: {reason}: pip install 'llmarena-envs[{library}]'", name=library
        )
    yield
