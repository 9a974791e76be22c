"""Hanabi, version 0; see ``llmarena_envs.hanabi.env``."""

from llmarena_envs.hanabi.env import env, raw_env

__all__ = ["env", "raw_env"]
