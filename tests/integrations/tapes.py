"""Records matches of ``play`` with all replies, to give the same replies through a library."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from agents.play import play
from agents.records import Episode
from agents.registry import make_policy
from agents.training import Deal
from llmarena_envs.catalogue import CATALOGUE, load_environment, make_environment

GAMES = [*(entry.name for entry in CATALOGUE), pytest.param("openspiel/kuhn_poker", marks=pytest.mark.needs("pyspiel"))]


@dataclass
class Tape:
    """The learners' replies of a match, in order, and its result."""

    deal: Deal
    replies: list[str] = field(default_factory=list)
    episode: Episode | None = None

    @property
    def rewards(self) -> dict[str, float]:
        assert self.episode is not None
        return self.episode.rewards

    @property
    def digest(self) -> str:
        assert self.episode is not None
        return self.episode.digest


class _Recorded:
    """Says something legal as a rule, and junk now and then."""

    wants_legal = True

    def __init__(self, tape: Tape, examples: tuple[str, ...]) -> None:
        self._tape, self._examples = tape, examples
        self._rng = np.random.default_rng(5)

    def __call__(self, observation: Mapping[str, Any]) -> str:
        choices = (
            ["no idea", "I \x00 {{x}} 💥"] if self._rng.random() < 0.15 else observation["legal"] or self._examples
        )
        self._tape.replies.append(choices[int(self._rng.integers(len(choices)))])
        return self._tape.replies[-1]


def record(environment: str, opponents: Mapping[str, str] | None = None, seed: int = 3) -> Tape:
    """Plays a match; the seats without an opponent are learners."""
    tape = Tape(Deal(environment, seed, opponents or {}))
    raw = load_environment(environment)
    policies: dict[str, Any] = {agent: make_policy(spec, environment) for agent, spec in tape.deal.opponents.items()}
    policies |= {agent: _Recorded(tape, raw.action_examples) for agent in tape.deal.learners}
    tape.episode = play(make_environment(environment, dict(raw.declaration.rated_options)), policies, seed)
    return tape


def all_but_one(environment: str) -> dict[str, str]:
    """Returns random opponents on all seats but the first rated one."""
    raw = load_environment(environment)
    agents = make_environment(environment, dict(raw.declaration.rated_options)).unwrapped.possible_agents
    learner = next(agent for agent in agents if raw.declaration.is_rated(agent))
    return {agent: "random" for agent in agents if agent != learner}
