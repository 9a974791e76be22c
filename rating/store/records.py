"""Matches, their outcomes and records, and how these are stored."""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, asdict, dataclass, field, fields
from functools import cached_property
from typing import Any, NamedTuple

from agents.records import Attempt, Episode, Turn, encodable
from llmarena_envs.core.failures import Failure
from rating.errors import RunError
from rating.store.environments import load_environment

UNFINISHED = "unfinished"
FINISHED = "finished"
UNDECIDED = "undecided"
VOID = "void"
BUG = "bug"

PLAYED = (FINISHED, UNDECIDED)
"""Statuses of matches played to the end."""

FINAL = (*PLAYED, BUG)
"""Statuses of matches that are not played again."""


@dataclass(frozen=True)
class Match:
    """One match to be played.

    Attributes:
        environment: module name, e.g. ``tictactoe_v0``.
        number: position in the schedule of its environment, counted from 0; ratings are applied in this order.
        policies: name of the policy on each seat, in the order of the environment's ``possible_agents``.
        seed: the seed of the match; the random streams of the game and of every seat are spawned from it. Matches of the same
            opening or deal with exchanged seats share it.
        options: options of the environment; JSON values.
    """

    environment: str
    number: int
    policies: tuple[str, ...]
    seed: int
    options: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def id(self) -> str:
        """Hash of all fields, 16 hexadecimal digits."""
        canonical = json.dumps(asdict(self), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class SeatOutcome:
    """The outcome of one seat.

    Attributes:
        policy: name of the policy.
        reward: sum of its rewards.
        turns: number of its turns.
        failures: number of replies by failure name in lower case (``unparsable``: 2); ``ok`` is not counted.
        forfeit: name of the failure that forfeited the match, or an empty string.
        reasks: number of repeated requests after an invalid reply.
        fallbacks: number of turns decided by the fallback.
        prompt_tokens: tokens read.
        completion_tokens: tokens written.
        statistics: the environment's analysis values for this seat at the end.
        agent: id of the seat; the part before the number is its role.
        rated: whether the seat is rated; staff, e.g. a judge, is not.
        reasoning_tokens: completion tokens known to be reasoning.
        unknown_usage: number of replies with unknown token usage, which is not part of the sums.
    """

    policy: str
    reward: float
    turns: int = 0
    failures: Mapping[str, int] = field(default_factory=dict)
    forfeit: str = ""
    reasks: int = 0
    fallbacks: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    statistics: Mapping[str, float] = field(default_factory=dict)
    agent: str = ""
    rated: bool = True
    reasoning_tokens: int = 0
    unknown_usage: int = 0


@dataclass(frozen=True)
class Outcome:
    """The outcome of one match.

    Attributes:
        environment: module name of the environment.
        number: position in the schedule of its environment.
        seed: seed of the match; matches with the same seed had the same opening or deal.
        status: ``finished``; or, never rated, ``undecided`` (played to the end without a result, e.g. every judge abstained),
            ``void`` (a provider failed) or ``bug`` (the environment failed).
        seats: one entry per seat, in seat order.
    """

    environment: str
    number: int
    seed: int
    status: str
    seats: tuple[SeatOutcome, ...]


@dataclass(frozen=True)
class Record:
    """The record of one match.

    Attributes:
        match: the match.
        outcome: the outcome, or ``None`` while unfinished.
        turns: turns played so far.
        digest: digest of the finished match, else an empty string; see ``agents.records``.
        tries: number of attempts, including void ones.
        error: reason if it is void, or an empty string.
    """

    match: Match
    outcome: Outcome | None
    turns: tuple[Turn, ...]
    digest: str
    tries: int
    error: str

    @property
    def status(self) -> str:
        """``unfinished``, or the status of the outcome."""
        return self.outcome.status if self.outcome else UNFINISHED


class Glance(NamedTuple):
    """Summary of a match, without its turns.

    Attributes:
        match: the match, without its options.
        outcome: the outcome, or ``None`` while unfinished.
        turns: number of turns, once the match has ended.
        error: reason if it is void, or an empty string.
        tries: number of attempts, including void ones.
    """

    match: Match
    outcome: Outcome | None
    turns: int
    error: str
    tries: int


class Damage(NamedTuple):
    """A damaged match of a run.

    Attributes:
        where: the match.
        error: description of the damage.
    """

    where: str
    error: str


def outcome_of(match: Match, agents: list[str], episode: Episode) -> Outcome:
    """Returns the outcome of a finished match; ``agents`` are in seat order."""
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
                prompt_tokens=sum(attempt.prompt_tokens or 0 for attempt in attempts),
                completion_tokens=sum(attempt.completion_tokens or 0 for attempt in attempts),
                reasoning_tokens=sum(attempt.reasoning_tokens or 0 for attempt in attempts),
                statistics=statistics,
                unknown_usage=sum(None in (attempt.prompt_tokens, attempt.completion_tokens) for attempt in attempts),
            )
        )
    status = UNDECIDED if episode.undecided else FINISHED
    return Outcome(match.environment, match.number, match.seed, status, tuple(seats))


def void_outcome(match: Match, status: str) -> Outcome:
    """Returns the outcome of a match that could not be played."""
    seats = tuple(SeatOutcome(policy, 0.0) for policy in match.policies)
    return Outcome(match.environment, match.number, match.seed, status, seats)


def dump_turn(turn: Turn) -> str:
    """Returns a turn as JSON on one line; wall times have microseconds, fields for models are left out if unused."""
    return _json({**vars(turn), "attempts": [_attempt_table(attempt) for attempt in turn.attempts]})


_OF_MODELS = ("cached_tokens", "reasoning_tokens", "reasoning", "calls", "waited", "request_id")


def _attempt_table(attempt: Attempt) -> dict[str, Any]:
    table = {**vars(attempt), "seconds": round(attempt.seconds, 6), "waited": round(attempt.waited, 6)}
    return {name: value for name, value in table.items() if name not in _OF_MODELS or value or value is None}


def load_turn(text: str) -> Turn:
    """Parses the output of ``dump_turn``.

    Raises:
        RunError: if it is damaged.
    """
    with _damage_reported("turn", text):
        table: dict[str, Any] = json.loads(text)
        attempts = tuple(Attempt(**{**attempt, "kind": Failure(attempt["kind"])}) for attempt in table.pop("attempts"))
        return Turn(**table, attempts=attempts)


def dump_seats(seats: Sequence[SeatOutcome]) -> str:
    """Returns the outcomes of the seats of a match as JSON, without default values."""
    return _json(
        [{name: value for name, value in vars(seat).items() if value != _DEFAULTS.get(name)} for seat in seats]
    )


def load_outcome(environment: str, number: int, seed: str, status: str, seats: str, policies: int) -> Outcome | None:
    """Parses the stored columns of an outcome; returns ``None`` if the match is unfinished.

    Args:
        environment: as stored, like the others.
        number: position in the schedule.
        seed: seed of the match.
        status: ``unfinished`` or the status of the outcome.
        seats: outcomes of the seats, in JSON.
        policies: number of policies of the match.

    Raises:
        RunError: if the columns are damaged.
    """
    if status == UNFINISHED:
        return None
    with _damage_reported("outcome", f"{status} {seed} {seats}"):
        if status not in (*FINAL, VOID):
            raise ValueError("unknown status")
        found = tuple(SeatOutcome(**seat) for seat in json.loads(seats))
        for seat in found:
            _check_types((seat.policy, str), (seat.failures, dict), (seat.statistics, dict))
            if not math.isfinite(seat.reward):
                raise ValueError("a reward that is not finite")
        _check_types((environment, str), (number, int))
        if policies != len(found):
            raise ValueError(f"{len(found)} seats for {policies} policies")
        return Outcome(environment, number, int(seed), status, found)


def dump_match(match: Match) -> tuple[str, str, int, str, str, str]:
    """Returns the columns of a match: id, environment, number, policies, seed, options."""
    policies, options = json.dumps(match.policies), json.dumps(match.options, sort_keys=True)
    return match.id, match.environment, match.number, policies, str(match.seed), options


def load_match(environment: str, number: int, policies: str, seed: str, options: str) -> Match:
    """Parses the stored columns of a match.

    Raises:
        RunError: if the columns are damaged.
    """
    with _damage_reported("match", f"{policies} {seed} {options}"):
        match = Match(environment, number, tuple(json.loads(policies)), int(seed), dict(json.loads(options)))
        _check_types((environment, str), (number, int), *((policy, str) for policy in match.policies))
        return match


def load_record(
    match: Match, outcome: Outcome | None, turns: tuple[Turn, ...], digest: str, tries: int, error: str
) -> Record:
    """Returns a record made of parts read from the database.

    Raises:
        RunError: if the parts are damaged.
    """
    with _damage_reported("record", f"{match.environment} {match.number}"):
        _check_types((match.id, str), (digest, str), (tries, int), (error, str))
        return Record(match, outcome, turns, digest, tries, error)


def _check_types(*values: tuple[Any, type]) -> None:
    for value, expected in values:
        if not isinstance(value, expected):
            raise TypeError(f"{str(value)[:80]!r} is no {expected.__name__}")


_DEFAULTS = {
    field.name: field.default_factory() if field.default_factory is not MISSING else field.default
    for field in fields(SeatOutcome)
}


def _json(value: Any) -> str:
    return encodable(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


@contextmanager
def _damage_reported(what: str, text: str) -> Iterator[None]:
    try:
        yield
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
        raise RunError(f"the record of a run is damaged: expected {what}, got {str(text)[:80]!r} ({error})") from error
