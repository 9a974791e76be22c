"""Text games as PettingZoo environments.

Each one is a module: ``from llmarena_envs import tictactoe_v0; env = tictactoe_v0.env()``. Importing this package also
registers them for ``pettingzoo.make("aec", "llmarena/tictactoe-v0")``, which PettingZoo has since version 1.27.
"""

import pettingzoo

from llmarena_envs.catalogue import CATALOGUE

__version__ = "0.1.0"

if hasattr(pettingzoo, "register"):
    for _entry in CATALOGUE:
        pettingzoo.register("aec", _entry.registry_id, f"llmarena_envs.{_entry.name}:env")
        if _entry.simultaneous:
            pettingzoo.register("parallel", _entry.registry_id, f"llmarena_envs.{_entry.name}:parallel_env")
