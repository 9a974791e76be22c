"""Bargaining, version 0; see ``llmarena_envs.bargain.env``."""

from llmarena_envs.bargain.env import env, raw_env

__all__ = ["env", "raw_env"]
