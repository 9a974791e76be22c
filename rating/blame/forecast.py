"""Expected usage of models by an analysis, from the recorded replies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from agents.models.service import Target
from agents.player import Player
from agents.records import Turn
from rating.blame.analysis import most_pairs
from rating.blame.continuing import Continuer
from rating.blame.question import Candidate, Question

_CHARACTERS = 4
"""Characters per token of a text that no model has read in the match."""


@dataclass(frozen=True)
class Expected:
    """Expected usage of a model, at most.

    Attributes:
        calls: number of requests.
        prompt_tokens: tokens read.
        completion_tokens: tokens written.
    """

    calls: float
    prompt_tokens: float
    completion_tokens: float

    def __add__(self, other: "Expected") -> "Expected":
        return Expected(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
        )

    def times(self, factor: float) -> "Expected":
        """Returns a multiple."""
        return Expected(factor * self.calls, factor * self.prompt_tokens, factor * self.completion_tokens)


NOTHING = Expected(0.0, 0.0, 0.0)


def forecast(
    continuer: Continuer,
    question: Question,
    turns: Sequence[Turn],
    found: Sequence[Candidate],
    *,
    size: int,
    reply_tokens: int,
) -> Mapping[Target, Expected]:
    """Returns the expected usage of each model: as many turns as in the match after each turn in question.

    Args:
        continuer: with the policies.
        question: the question.
        turns: of the match.
        found: the turns in question.
        size: pairs of each finalist.
        reply_tokens: assumed tokens of a reply of a model that did not play.
    """
    pairs = most_pairs(len(found), size)
    usage: dict[Target, Expected] = {}

    def add(player: Player | None, agent: str, number: float) -> None:
        target = getattr(player.policy, "target", None) if player else None
        if isinstance(target, Target):
            own = [turn for turn in turns if turn.agent == agent]
            usage[target] = usage.get(target, NOTHING) + _of_a_turn(own, reply_tokens).times(number)

    for agent, player in continuer.players.items():
        later = [sum(turn.agent == agent and turn.index > one.turn for turn in turns) for one in found]
        add(player, agent, 2 * pairs * fmean(later))
    add(continuer.substitute, question.seat, pairs)
    return usage


def _of_a_turn(turns: Sequence[Turn], reply_tokens: int) -> Expected:
    """Returns the mean usage of a turn, as recorded, or by the length of the texts if no model replied."""
    if not turns:
        return NOTHING
    attempts = [attempt for turn in turns for attempt in turn.attempts]
    read = sum(attempt.prompt_tokens or 0 for attempt in attempts)
    written = sum(attempt.completion_tokens or 0 for attempt in attempts)
    if not read:
        return Expected(1.0, fmean(len(turn.read) for turn in turns) / _CHARACTERS, reply_tokens)
    number = len(turns)
    return Expected(len(attempts) / number, read / number, written / number)
