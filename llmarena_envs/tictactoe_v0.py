"""Tic-tac-toe, version 0; see ``llmarena_envs.tictactoe.env``."""

from llmarena_envs.tictactoe.env import env, raw_env

__all__ = ["env", "raw_env"]
