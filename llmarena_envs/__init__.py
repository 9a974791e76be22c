"""Text games as PettingZoo environments.

Each one is a module: ``from llmarena_envs import tictactoe_v0; env = tictactoe_v0.env()``. Importing this package also
registers them for ``pettingzoo.make("aec", "llmarena/tictactoe-v0")``, which PettingZoo has since version 1.27.
"""

import pettingzoo

from llmarena_envs.adapters import adapted_names, registry_id, simultaneous_names
from llmarena_envs.catalogue import CATALOGUE

__version__ = "0.1.0"

if hasattr(pettingzoo, "register"):
    for _entry in CATALOGUE:
        pettingzoo.register("aec", _entry.registry_id, f"llmarena_envs.{_entry.name}:env")
        if _entry.simultaneous:
            pettingzoo.register("parallel", _entry.registry_id, f"llmarena_envs.{_entry.name}:parallel_env")
    for _name in adapted_names():
        pettingzoo.register("aec", registry_id(_name), "llmarena_envs.adapters:make_adapted", kwargs={"name": _name})
    for _name in simultaneous_names():
        pettingzoo.register(
            "parallel", registry_id(_name), "llmarena_envs.adapters:make_adapted_parallel", kwargs={"name": _name}
        )
