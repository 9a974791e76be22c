"""Debate, version 0; see ``llmarena_envs.debate.env``."""

from llmarena_envs.debate.env import env, raw_env

__all__ = ["env", "raw_env"]
