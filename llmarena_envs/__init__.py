"""Text games as PettingZoo environments.

Importing this package registers every environment: ``pettingzoo.make("aec", "llmarena/tictactoe-v0")``. Each one is also a
module: ``from llmarena_envs import tictactoe_v0; env = tictactoe_v0.env()``.
"""

from pettingzoo import register

from llmarena_envs.catalogue import CATALOGUE

__version__ = "0.1.0"

for _entry in CATALOGUE:
    register("aec", _entry.registry_id, f"llmarena_envs.{_entry.name}:env")
    if _entry.simultaneous:
        register("parallel", _entry.registry_id, f"llmarena_envs.{_entry.name}:parallel_env")
