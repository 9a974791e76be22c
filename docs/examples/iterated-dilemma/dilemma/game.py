"""The rules of an iterated prisoner's dilemma with talk."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from llmarena_envs.core.declaration import Channel
from llmarena_envs.core.failures import Reason
from llmarena_envs.core.game import Game
from llmarena_envs.core.messages import Message, MessagePool
from llmarena_envs.core.options import check_int, check_number

COOPERATE, DEFECT = CHOICES = ("cooperate", "defect")
PAYOFFS = {(COOPERATE, COOPERATE): 3, (COOPERATE, DEFECT): 0, (DEFECT, COOPERATE): 5, (DEFECT, DEFECT): 1}
"""Points of the first of two choices."""

CHANNELS = {"message": Channel("player", ("player",))}
"""Players read each other's messages."""

MAX_MESSAGE = 500
SILENCE = "..."
_SMALL_TALK = (SILENCE, "Shall we both cooperate?", "I shall do what you did last time.", "You cannot trust me.")


class DilemmaView(NamedTuple):
    """A player's knowledge."""

    agent: str
    to_move: bool
    legal: tuple[str, ...]  # empty for messages, which cannot be listed
    round: int
    talks: bool  # whether messages are written now
    messages: tuple[Message, ...]
    past: tuple[tuple[str, str], ...]  # own and opponent's choice in each finished round


class Dilemma(Game[str, DilemmaView]):
    """A position of the dilemma. An action is a message, or one of ``CHOICES``."""

    agents = ("player_0", "player_1")

    def __init__(self, continuation: float, most_rounds: int) -> None:
        check_number("continuation", continuation, 0.01, 0.99)
        check_int("most_rounds", most_rounds, 2, 100)
        self.continuation = continuation
        self.most_rounds = most_rounds
        self.max_turns = 4 * most_rounds

    def reset(self, rng: np.random.Generator) -> None:
        """Begins the first round, and draws the last one, which no player knows."""
        self.round = 1
        self.talks = True
        self.pool: MessagePool[Message] = MessagePool(CHANNELS, self.agents)
        self.past: tuple[tuple[str, str], ...] = ()
        self.to_move: tuple[str, ...] = self.agents
        self.rewards = (0.0, 0.0)
        self.last_round = self._draw_last_round(rng)

    def _draw_last_round(self, rng: np.random.Generator) -> int:
        """Draws the last round, given that the present one has begun."""
        last = self.round
        while last < self.most_rounds and rng.random() < self.continuation:
            last += 1
        return last

    def view(self, agent: str) -> DilemmaView:
        """Returns the knowledge of ``agent``."""
        to_move = agent in self.to_move
        past = self.past if agent == "player_0" else tuple((own, other) for other, own in self.past)
        legal = CHOICES if to_move and not self.talks else ()
        return DilemmaView(agent, to_move, legal, self.round, self.talks, self.pool.visible_to(agent), past)

    def why_illegal(self, agent: str, action: str) -> Reason | None:
        """Refuses empty and long messages, and other choices."""
        if not self.talks:
            return None if action in CHOICES else Reason("no_choice")
        if not action.strip():
            return Reason("empty")
        return Reason("too_long", {"limit": MAX_MESSAGE}) if len(action) > MAX_MESSAGE else None

    def apply(self, actions: tuple[str, ...]) -> None:
        """Delivers both messages, or pays both choices."""
        if self.talks:
            for agent, text in zip(self.agents, actions, strict=True):
                self.pool = self.pool.with_message("message", agent, Message(self.round, agent, text))
            self.talks, self.rewards = False, (0.0, 0.0)
            return
        first, second = actions
        self.past += ((first, second),)
        self.rewards = (float(PAYOFFS[first, second]), float(PAYOFFS[second, first]))
        if self.round == self.last_round:
            self.to_move = ()
        else:
            self.round, self.talks = self.round + 1, True

    def resample(self, agent: str, rng: np.random.Generator) -> None:
        """Redraws the hidden information: the last round, given that it is not over."""
        if self.to_move:
            self.last_round = self._draw_last_round(rng)

    def random_action(self, agent: str, rng: np.random.Generator) -> str:
        """Draws a choice, or some small talk."""
        options = _SMALL_TALK if self.talks else CHOICES
        return options[int(rng.integers(len(options)))]

    def default_action(self, agent: str) -> str | None:
        """Returns silence for a message; there is no harmless choice."""
        return SILENCE if self.talks else None

    def statistics(self, agent: str) -> Mapping[str, float]:
        """Returns the share of rounds in which ``agent`` cooperated; -1 before the first."""
        own = [choice for choice, _ in self.view(agent).past]
        return {"cooperation": own.count(COOPERATE) / len(own) if own else -1.0}
