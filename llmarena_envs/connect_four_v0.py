"""Connect four, version 0; see ``llmarena_envs.connect_four.env``."""

from llmarena_envs.connect_four.env import env, raw_env

__all__ = ["env", "raw_env"]
