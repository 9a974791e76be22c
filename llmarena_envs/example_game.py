"""# Nim.

Two players take one to three sticks in turn. The player who takes the last stick wins.

### Arguments

* `sticks=21`: maximum number of sticks at the beginning, 2 to 100.
* `obs_type="text"`: `text` or `vector`.
* `render_mode=None`: `ansi` or `human`.
"""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from gymnasium import spaces

from llmarena_envs.core.game import Game
from llmarena_envs.core.options import check_int
from llmarena_envs.core.order import order_checked
from llmarena_envs.core.template_codec import TemplateCodec
from llmarena_envs.core.text_env import ObsType, RenderMode, TextEnv

PROMPTS = {
    "rules": "You are {agent} in a game of Nim. Take 1, 2 or 3 of at most {sticks} sticks in turn. The last stick wins.",
    "observation": "There {sticks:is|are} {sticks} {sticks:stick|sticks} left.",
    "instruction": "It is your turn. End your reply with one line, with one of {legal} in place of <number>:\ntake: <number>",
    "wait": "It is not your turn.",
    "action": "take: {action}",
}


class NimView(NamedTuple):
    """The knowledge of one agent: its texts and vectors depend on nothing else."""

    agent: str
    to_move: bool
    legal: tuple[int, ...]
    sticks: int


class Nim(Game[int, NimView]):
    """The rules. Action ``a`` takes ``a + 1`` sticks."""

    agents = ("player_0", "player_1")
    num_actions = 3
    perfect_information = True

    def __init__(self, sticks: int) -> None:
        check_int("sticks", sticks, 2, 100)
        self.most = self.max_turns = sticks

    def reset(self, rng: np.random.Generator) -> None:
        """Begins a match; all chance comes from ``rng``."""
        self.sticks = int(rng.integers(self.most // 2, self.most, endpoint=True))
        self.to_move: tuple[str, ...] = ("player_0",)
        self.rewards = (0.0, 0.0)

    def view(self, agent: str) -> NimView:
        """Returns the view of ``agent``; an action is legal if ``legal`` contains it."""
        to_move = agent in self.to_move
        return NimView(agent, to_move, tuple(range(min(3, self.sticks))) if to_move else (), self.sticks)

    def apply(self, actions: tuple[int, ...]) -> None:
        """Applies one action for each agent of ``to_move``; sets the next agents and the rewards."""
        mover = self.agents.index(self.to_move[0])
        self.sticks -= actions[0] + 1
        self.to_move = (self.agents[1 - mover],) if self.sticks else ()  # empty: the match is over
        if not self.sticks:
            self.rewards = (1.0, -1.0) if mover == 0 else (-1.0, 1.0)


class raw_env(TextEnv):
    """Nim as a PettingZoo AEC environment."""

    metadata: ClassVar = {"name": "nim_v0", "render_modes": ["ansi", "human"], "is_parallelizable": False}

    def __init__(self, sticks: int = 21, obs_type: ObsType = "text", render_mode: RenderMode | None = None) -> None:
        codec = TemplateCodec[NimView](PROMPTS, ("1", "2", "3"), __file__, sticks=sticks)
        super().__init__(Nim(sticks), codec, obs_type=obs_type, render_mode=render_mode)

    def vector_space(self) -> spaces.Box:
        """Returns the space of ``encode``; without these two methods, set ``obs_types = ("text",)``."""
        return spaces.Box(0, 1, (self.max_turns,), np.int8)

    def encode(self, view: NimView) -> np.ndarray[Any, Any]:
        """Returns the observation for ``obs_type="vector"``: a one for each stick that is left."""
        return (np.arange(self.max_turns) < view.sticks).astype(np.int8)


env = order_checked(raw_env)
