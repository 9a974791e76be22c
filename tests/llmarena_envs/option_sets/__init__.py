"""Option sets: one module an environment, named like it.

``OPTION_SETS``: the options its conformance is checked with. ``PLAYTHROUGHS``: the options of its golden playthroughs,
by name.
"""

import importlib
from types import ModuleType


def option_sets(environment: str) -> ModuleType:
    """Returns the module of option sets for an environment, e.g. ``tictactoe_v0``."""
    return importlib.import_module(f"{__name__}.{environment}")
