"""Idiom solitaire, version 0; see ``llmarena_envs.idiom_solitaire.env``."""

from llmarena_envs.idiom_solitaire.env import env, raw_env

__all__ = ["env", "raw_env"]
