"""Undercover, version 0; see ``llmarena_envs.undercover.env``."""

from llmarena_envs.undercover.env import env, raw_env

__all__ = ["env", "raw_env"]
