"""No-limit Texas hold'em, version 0; see ``llmarena_envs.holdem.env``."""

from llmarena_envs.holdem.env import env, raw_env

__all__ = ["env", "raw_env"]
