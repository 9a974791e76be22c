"""The record of a match: turns, outcome and the forms in which both are stored."""

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from agents.records import Attempt, Episode, Turn
from llmarena_envs.catalogue import load_environment
from llmarena_envs.core.failures import Failure
from rating.errors import RunError
from rating.records.match import Match
from rating.records.outcome import FINISHED, Outcome, SeatOutcome


@dataclass(frozen=True)
class Record:
    """Everything known of one match.

    Attributes:
        match: what was to be played.
        outcome: what it came to, or ``None`` while it is unfinished.
        turns: the turns played so far.
        digest: rolling hash of the finished match, else an empty string.
        tries: how often it was played until it ended or was void.
        error: why it is void, or an empty string.
    """

    match: Match
    outcome: Outcome | None
    turns: tuple[Turn, ...]
    digest: str
    tries: int
    error: str

    @property
    def status(self) -> str:
        """``finished``, ``void``, ``bug`` or ``unfinished``."""
        return self.outcome.status if self.outcome else "unfinished"


def outcome_of(match: Match, agents: list[str], episode: Episode) -> Outcome:
    """Returns the outcome of a match that was played to its end; ``agents`` are in seat order."""
    declaration = load_environment(match.environment).declaration
    seats = []
    for agent, policy in zip(agents, match.policies, strict=True):
        turns = [turn for turn in episode.turns if turn.agent == agent]
        attempts = [attempt for turn in turns for attempt in turn.attempts]
        failures = Counter(attempt.kind.name.lower() for attempt in attempts if attempt.kind is not Failure.OK)
        statistics = {name: float(value) for name, value in episode.infos[agent].items() if name != "illegal"}
        seats.append(
            SeatOutcome(
                policy=policy,
                reward=float(episode.rewards[agent]),
                agent=agent,
                rated=declaration.is_rated(agent),
                turns=len(turns),
                failures=dict(sorted(failures.items())),
                forfeit=episode.forfeit(agent),
                reasks=len(attempts) - len(turns),
                fallbacks=sum(bool(turn.fallback) for turn in turns),
                prompt_tokens=sum(attempt.prompt_tokens for attempt in attempts),
                completion_tokens=sum(attempt.completion_tokens for attempt in attempts),
                statistics=statistics,
            )
        )
    return Outcome(match.environment, match.number, match.seed, FINISHED, tuple(seats))


def void_outcome(match: Match, status: str) -> Outcome:
    """Returns the outcome of a match that could not be played."""
    seats = tuple(SeatOutcome(policy, 0.0) for policy in match.policies)
    return Outcome(match.environment, match.number, match.seed, status, seats)


def dump_turn(turn: Turn) -> str:
    """Returns a turn as JSON."""
    return json.dumps(asdict(turn), ensure_ascii=False)


def load_turn(text: str) -> Turn:
    """Reads what ``dump_turn`` wrote.

    Raises:
        RunError: if it is something else.
    """
    with _damage_reported("turn", text):
        table: dict[str, Any] = json.loads(text)
        attempts = tuple(Attempt(**{**attempt, "kind": Failure(attempt["kind"])}) for attempt in table.pop("attempts"))
        return Turn(**table, attempts=attempts)


def dump_outcome(outcome: Outcome) -> str:
    """Returns an outcome as JSON."""
    return json.dumps(asdict(outcome), ensure_ascii=False, sort_keys=True)


def load_outcome(text: str) -> Outcome:
    """Reads what ``dump_outcome`` wrote.

    Raises:
        RunError: if it is something else.
    """
    with _damage_reported("outcome", text):
        table: dict[str, Any] = json.loads(text)
        seats = tuple(SeatOutcome(**seat) for seat in table.pop("seats"))
        return Outcome(**table, seats=seats)


@contextmanager
def _damage_reported(what: str, text: str) -> Iterator[None]:
    try:
        yield
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise RunError(f"the record of a run is damaged: expected {what}, got {text[:80]!r} ({error})") from error
