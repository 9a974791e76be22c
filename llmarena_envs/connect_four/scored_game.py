"""Connect four with the strategic reward as a statistic."""

from collections.abc import Mapping

import numpy as np

from llmarena_envs.connect_four.game import ConnectFour
from llmarena_envs.connect_four.strategy import REWARD_MODES, match_reward, position_value
from llmarena_envs.core.options import check_choice


class ScoredConnectFour(ConnectFour):
    """Connect four that also reports the strategic reward, with the same rules and game rewards.

    Args:
        random_opening: as in ``ConnectFour``; its plies earn nothing.
        reward_mode: as in ``strategic_reward``.
        count: as in ``position_value``.

    Attributes:
        values: V for ``player_0`` after 0, 1, 2, ... plies; negated for ``player_1``.
    """

    def __init__(self, random_opening: int, reward_mode: str, count: str) -> None:
        check_choice("reward_mode", reward_mode, REWARD_MODES)
        super().__init__(random_opening)
        self.reward_mode = reward_mode
        self.count = count

    def reset(self, rng: np.random.Generator) -> None:
        """Clears the board and plays the random opening."""
        self.values: tuple[int, ...] = (0,)
        super().reset(rng)

    def apply(self, actions: tuple[int, ...]) -> None:
        """Drops the mover's disc into a column and evaluates the position."""
        super().apply(actions)
        self.values += (position_value(*self.discs, self.count),)

    def statistics(self, agent: str) -> Mapping[str, float]:
        """Returns the sum of the strategic rewards of ``agent``."""
        seat = self.agents.index(agent)
        return {"strategic_reward": float(match_reward(self.values, seat, self.random_opening, self.reward_mode))}
