"""Schedules: which policies meet on which seats, from which seed, in which order.

A schedule is an infinite, deterministic sequence of batches of matches. Within a batch the matches may be played in any
order and at the same time; at the end of every batch each policy has played equally often on each seat, so a run may stop
there (X-5). A match's seed depends on the root seed, the environment's name and the number of its deal, and on nothing
else: neither on other environments of the run nor on the number of workers (X-4). Matches of one deal have the same seed
and so the same cards, opening, words or valuations.

================  ==================================================================================================
kind              what is played
================  ==================================================================================================
``round_robin``   two seats: every pair of policies on both seats
``self_play``     every policy with itself on all seats
``cross_play``    two seats: every policy with every policy, itself included, on both seats
``field``         every policy on one seat against a fixed policy on all others
``rotation``      any number of seats: every subset of the policies, on every seat in turn
================  ==================================================================================================
"""

import hashlib
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from llmarena_envs.core.options import OptionError, check_choice, check_int
from rating.records.match import Match
from rating.records.outcome import Outcome

SEED_BITS = 53
"""Seeds fit into the integers that every JSON reader keeps exactly."""


class Stop(NamedTuple):
    """The answer of a schedule that has played enough: the name of the reason, e.g. ``count`` or ``cap``."""

    reason: str


class Schedule(Protocol):
    """What is played next, as a pure function of the outcomes so far, folded batch by batch.

    Batch k depends on the outcomes of the batches 0 to k - ``lag`` only, so that it can be under way while the batches
    before it are still being finished, and is the same on any number of workers.

    Attributes:
        lag: 1 for a schedule that needs the batch before, as a Swiss round does; 2 or more lets play run ahead.
    """

    lag: int

    def add(self, outcomes: Sequence[Outcome]) -> None:
        """Takes the outcomes of the next whole batch, in match-number order, void ones included."""

    def next_batch(self) -> list[Match] | Stop:
        """Returns batch k, given that exactly the batches 0 to k - ``lag`` have been added; or why there is none."""


@dataclass(frozen=True)
class Contest:
    """What is to be scheduled.

    Attributes:
        environment: module name.
        policies: names; their order is kept, and the schedule depends on it.
        seats: number of seats of the environment.
        options: of the environment.
        seed: root seed of the run.
        batch: a batch is as many whole cycles of the schedule as give each policy at least this many matches.
    """

    environment: str
    policies: tuple[str, ...]
    seats: int = 2
    options: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    batch: int = 10

    def __post_init__(self) -> None:
        check_int("seats", self.seats, 1, 1_000)
        check_int("seed", self.seed, 0, 2**128 - 1)
        check_int("batch", self.batch, 1, 1_000_000)
        if not self.policies or len(set(self.policies)) < len(self.policies):
            raise OptionError(f"policies: expected one name or more, all different, got {list(self.policies)}")


class _Planned(NamedTuple):
    """A match without its number: deal, policy on each seat, and options besides the contest's."""

    deal: int
    policies: tuple[str, ...]
    options: Mapping[str, Any] = {}


_Cycle = list[_Planned]


def deal_seed(root: int, environment: str, deal: int) -> int:
    """Returns the seed of the matches of one deal, 0 to 2^53 - 1.

    Args:
        root: root seed of the run, 0 or more.
        environment: module name.
        deal: number of the deal, 0 or more: the child of the environment's ``SeedSequence`` it belongs to.
    """
    name = int.from_bytes(hashlib.sha256(environment.encode()).digest()[:16], "big")
    words = np.random.SeedSequence([root, name], spawn_key=(deal,)).generate_state(1, np.uint64)
    return int(words[0]) >> (64 - SEED_BITS)


def schedule(
    environment: str,
    policies: Sequence[str],
    options: Mapping[str, Any],
    seed: int,
    *,
    kind: str = "round_robin",
    seats: int = 2,
    batch: int = 10,
    **details: Any,
) -> Iterator[list[Match]]:
    """Returns a schedule by name.

    Args:
        environment: module name.
        policies: names of the policies.
        options: of the environment.
        seed: root seed of the run.
        kind: see the module's documentation.
        seats: number of seats of the environment.
        batch: least number of matches of each policy in a batch.
        details: further arguments of the kind's function.

    Raises:
        OptionError: if the kind is not known or cannot be played with this number of policies and seats.
    """
    check_choice("kind", kind, SCHEDULES)
    contest = Contest(environment, tuple(policies), seats, options, seed, batch)
    return SCHEDULES[kind](contest, **details)


def round_robin(contest: Contest, *, shared_deals: bool = False) -> Iterator[list[Match]]:
    """Schedules every pair of policies twice a cycle: one deal from both sides.

    The pairs come in the rounds of the circle method, so that matches played at the same time spread over the policies.

    By default every pair has deals of its own. In a zero-sum game that is rated, playing a deal from both sides removes
    the luck of the deal from the pair; what is left is how well each policy happens to play it, and that averages out
    sooner over different deals. There are also as many independent deals as pairs of matches, which intervals need. Share
    the deals where mean rewards are compared and depend on the deal more than on the opponent, as in an auction: then all
    policies are given the same valuations, and a cycle counts as one case.

    Args:
        contest: two seats, two policies or more.
        shared_deals: play one deal in all matches of a cycle.
    """
    _check_contest(contest, "round_robin", seats=2, policies=2)
    return _batches(contest, _round_robin_cycles(contest.policies, shared_deals))


def self_play(contest: Contest) -> Iterator[list[Match]]:
    """Schedules every policy with itself on all seats; a cycle is one deal, the same for all policies."""
    return _batches(
        contest, ([_Planned(deal, (name,) * contest.seats) for name in contest.policies] for deal in itertools.count())
    )


def cross_play(contest: Contest) -> Iterator[list[Match]]:
    """Schedules every ordered pair of policies, each policy with itself included; a cycle is one deal.

    For games of co-operation: the same deal for all makes the difference between policies clearer.

    Args:
        contest: two seats.
    """
    _check_contest(contest, "cross_play", seats=2, policies=1)
    pairs = [(name, name) for name in contest.policies]
    for players in _circle(contest.policies):
        pairs += players + [pair[::-1] for pair in players]
    return _batches(contest, ([_Planned(deal, pair) for pair in pairs] for deal in itertools.count()))


def field_play(
    contest: Contest, *, opponent: str, focus_option: str = "", both_roles: bool = False
) -> Iterator[list[Match]]:
    """Schedules every policy on one seat against ``opponent`` on all others.

    A cycle has one deal for each seat; on it every policy takes that seat.

    Args:
        contest: two seats or more.
        opponent: name of the policy on the other seats; it may be one of the contest's, and then plays itself too.
        focus_option: name of the environment's option that is given the index of the seat under test, e.g. ``seat`` of
            undercover, which makes that seat the undercover. Empty for none.
        both_roles: whether every policy also takes all other seats, with ``opponent`` on the one.
    """
    _check_contest(contest, "field", policies=1)
    if contest.seats < 2:
        raise OptionError("field: expected two seats or more, got 1")
    return _batches(contest, _field_cycles(contest, opponent, focus_option, both_roles))


def rotation(contest: Contest) -> Iterator[list[Match]]:
    """Schedules every subset of the policies that fills the table, and each on every seat in turn.

    The seatings of one subset form a Latin square and share a deal. A cycle is the set of subsets that arise from one by
    shifting all policies by the same number of places in their list; in it every policy takes every seat equally often.
    The cycles come in a random order drawn from the root seed. Once every subset has been played it begins again with
    another order around the table, so that in the end everybody sits beside everybody.

    Args:
        contest: as many policies as seats, or more.
    """
    _check_contest(contest, "rotation", policies=contest.seats)
    return _batches(contest, _rotation_cycles(contest))


SCHEDULES: dict[str, Callable[..., Iterator[list[Match]]]] = {
    "round_robin": round_robin,
    "self_play": self_play,
    "cross_play": cross_play,
    "field": field_play,
    "rotation": rotation,
}
"""Schedules by kind."""


def _check_contest(contest: Contest, kind: str, *, policies: int, seats: int | None = None) -> None:
    if seats is not None and contest.seats != seats:
        raise OptionError(f"{kind}: expected an environment with {seats} seats, got {contest.seats}")
    if len(contest.policies) < policies:
        raise OptionError(f"{kind}: expected {policies} policies or more, got {len(contest.policies)}")


def _batches(contest: Contest, cycles: Iterator[_Cycle]) -> Iterator[list[Match]]:
    """Numbers the matches of the cycles and groups them into batches."""
    number = 0
    while True:
        batch: list[Match] = []
        played = dict.fromkeys(contest.policies, 0)
        while min(played.values()) < contest.batch:
            for deal, policies, options in next(cycles):
                seed = deal_seed(contest.seed, contest.environment, deal)
                batch.append(Match(contest.environment, number, policies, seed, {**contest.options, **options}))
                number += 1
                for name in set(policies) & played.keys():
                    played[name] += 1
        yield batch


def _circle(policies: Sequence[str]) -> list[list[tuple[str, str]]]:
    """Returns every pair once, in rounds in which nobody plays twice (circle method)."""
    ring: list[str | None] = [*policies, *([None] if len(policies) % 2 else [])]
    rounds = []
    for _ in range(len(ring) - 1):
        opposite = zip(ring[: len(ring) // 2], reversed(ring), strict=False)
        rounds.append([(first, second) for first, second in opposite if first is not None and second is not None])
        ring = [ring[0], ring[-1], *ring[1:-1]]
    return rounds


def _round_robin_cycles(policies: Sequence[str], shared_deals: bool) -> Iterator[_Cycle]:
    rounds = _circle(policies)
    deals = itertools.count()
    for cycle in itertools.count():
        planned = []
        for pairs in rounds:
            numbers = [cycle if shared_deals else next(deals) for _ in pairs]
            planned += [_Planned(deal, pair) for deal, pair in zip(numbers, pairs, strict=True)]
            planned += [_Planned(deal, pair[::-1]) for deal, pair in zip(numbers, pairs, strict=True)]
        yield planned


def _field_cycles(contest: Contest, opponent: str, focus_option: str, both_roles: bool) -> Iterator[_Cycle]:
    for cycle in itertools.count():
        planned = []
        for seat in range(contest.seats):
            deal, options = cycle * contest.seats + seat, {focus_option: seat} if focus_option else {}
            for name in contest.policies:
                tables = [(name, opponent)]
                if both_roles and name != opponent:
                    tables.append((opponent, name))
                for focus, other in tables:
                    seats = tuple(focus if index == seat else other for index in range(contest.seats))
                    planned.append(_Planned(deal, seats, options))
        yield planned


def _rotation_cycles(contest: Contest) -> Iterator[_Cycle]:
    policies, seats = contest.policies, contest.seats
    size = len(policies)
    tables = _tables(size, seats)
    rng = np.random.default_rng(deal_seed(contest.seed, f"{contest.environment}/order", 0))
    order = rng.permutation(len(tables))
    deals = itertools.count()
    for arrangement in itertools.cycle(itertools.permutations(range(1, seats))):
        for index in order:
            planned = []
            for table in _shifts(tables[index], size):
                seated = [policies[table[place]] for place in (0, *arrangement)]
                deal = next(deals)
                planned += [_Planned(deal, (*seated[turn:], *seated[:turn])) for turn in range(seats)]
            yield planned


def _tables(size: int, seats: int) -> list[tuple[int, ...]]:
    """Returns one subset of ``range(size)`` from each class of subsets that are shifts of each other.

    Subsets are shifts of each other if the gaps between their members, around the circle, are rotations of each other.
    """
    tables = []
    for rest in itertools.combinations(range(1, size), seats - 1):
        gaps = [after - before for before, after in itertools.pairwise((0, *rest, size))]
        if all(gaps <= gaps[turn:] + gaps[:turn] for turn in range(1, seats)):
            tables.append((0, *rest))
    return tables


def _shifts(table: tuple[int, ...], size: int) -> list[tuple[int, ...]]:
    """Returns the different subsets that arise by adding a number to all members, modulo ``size``."""
    return sorted({tuple(sorted((place + shift) % size for place in table)) for shift in range(size)})
