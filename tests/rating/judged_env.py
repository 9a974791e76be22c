"""Two debaters name a number of 100 each, then ``n_judges`` judges see both numbers and vote."""

from typing import Any, ClassVar, NamedTuple

import numpy as np

from agents.errors import ProviderError
from agents.policy import ScriptedPolicy
from llmarena_envs.core.codec import Codec
from llmarena_envs.core.declaration import Declaration
from llmarena_envs.core.failures import Failure, ParseError, Reason
from llmarena_envs.core.game import Game
from llmarena_envs.core.options import check_int
from llmarena_envs.core.order import OrderWrapper
from llmarena_envs.core.text_env import TextEnv
from tests.rating.players import CALLS

QUESTIONS = 7


class JudgedView(NamedTuple):
    agent: str
    to_move: bool
    legal: tuple[int, ...]
    said: tuple[int, ...]


class Judged(Game):
    """Judges vote for the first (0), the second (1) or neither (2); the majority wins."""

    num_actions = 100

    def __init__(self, n_judges: int) -> None:
        self.agents = ("debater_0", "debater_1", *(f"judge_{number}" for number in range(n_judges)))
        self.max_turns = len(self.agents)

    def reset(self, rng: np.random.Generator) -> None:
        self.said: tuple[int, ...] = ()
        self.to_move: tuple[str, ...] = self.agents[:1]
        self.rewards = (0.0,) * len(self.agents)

    def view(self, agent: str) -> JudgedView:
        to_move = agent in self.to_move
        judges = agent.startswith("judge")
        legal = tuple(range(3 if judges else 100)) if to_move else ()
        return JudgedView(agent, to_move, legal, self.said[:2] if judges else ())

    def why_illegal(self, agent: str, action: int) -> Reason | None:
        return None if action in self.view(agent).legal else Reason("no_such_action", {"last": 99})

    @property
    def undecided(self) -> bool:
        return not self.to_move and len(self.agents) == 2

    def apply(self, actions: tuple[int, ...]) -> None:
        self.said += actions
        if len(self.said) == len(self.agents):
            votes = self.said[2:]
            lead = votes.count(0) - votes.count(1)
            sign = float((lead > 0) - (lead < 0))
            self.rewards = (sign, -sign, *(0.0,) * len(votes))
            self.to_move = ()
        else:
            self.to_move = self.agents[1:2] if len(self.said) == 1 else self.agents[2:]


class JudgedCodec(Codec):
    def rules(self, agent: str) -> str:
        return f"You are {agent}. Say a number."

    def observation(self, view: JudgedView) -> str:
        return f"Said: {view.said}"

    def read(self, reply: str, view: JudgedView) -> int:
        if not reply.strip().isdecimal():
            raise ParseError(Failure.UNPARSABLE, "nothing_stated")
        return int(reply)

    def format(self, action: int, view: JudgedView) -> str:
        return str(action)

    def picture(self, game: Any) -> str:
        return str(game.said)


class raw_env(TextEnv):
    metadata: ClassVar[dict[str, Any]] = {
        "name": "judged_v0",
        "render_modes": ["ansi", "human"],
        "render_fps": 1,
        "is_parallelizable": False,
    }
    declaration: ClassVar[Declaration] = Declaration(scheme="tournament", rated_roles=("debater",))

    def __init__(
        self, *, n_judges: int = 5, number: int | None = None, obs_type: str = "text", render_mode: str | None = None
    ) -> None:
        check_int("n_judges", n_judges, 0, 9)
        if number is not None:
            check_int("number", number, 0, QUESTIONS - 1)
        super().__init__(Judged(n_judges), JudgedCodec(), obs_type=obs_type, render_mode=render_mode)

    def cases(self) -> dict[str, list[int]]:
        return {"number": list(range(QUESTIONS))}


def env(**options: Any) -> OrderWrapper:
    return OrderWrapper(raw_env(**options))


class Model(ScriptedPolicy):
    """Debates with a strength and judges well, but for its noise; both in points of a hundred.

    Every ``period``-th call fails, of those to agents whose names begin with ``fails_as``.
    """

    def __init__(self, strength: float = 50, noise: float = 12, period: int = 0, fails_as: str = "") -> None:
        self.strength, self.noise, self.period, self.fails_as = strength, noise, period, fails_as

    def __call__(self, view: JudgedView) -> int:
        noise = self.rng.normal(0, self.noise)
        if self.period and view.agent.startswith(self.fails_as) and next(CALLS) % self.period == 0:
            raise ProviderError("503")
        if view.agent.startswith("debater"):
            return int(np.clip(self.strength + noise, 0, 99))
        return int(view.said[0] + noise < view.said[1])
