"""Tic-tac-toe with a bug: it raises after the third move."""

from llmarena_envs.core.order import OrderWrapper
from llmarena_envs.tictactoe.env import raw_env as working_env


class raw_env(working_env):
    def step(self, action):
        if len(self.game.moves) == 3:
            raise ZeroDivisionError("a bug")
        super().step(action)


def env(**options):
    return OrderWrapper(raw_env(**options))
