"""Batches: the matches of a schedule, numbered, seeded and grouped.

A pairing (``rating.schedules.round_robin`` and its neighbours) is an infinite, deterministic sequence of cycles. Within a
cycle every policy plays equally often on each seat, so a run may stop after any batch of whole cycles. A match's seed depends
on the root seed, the environment's name and the number of the deal, and on nothing else: neither on other environments of the
run nor on the number of workers. Matches of one deal have the same seed and so the same cards, opening, words or valuations.
"""

import hashlib
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from llmarena_envs.core.options import OptionError, check_int
from rating.records.match import Match

SEED_BITS = 53
"""Seeds fit into the integers that every JSON reader keeps exactly."""

BATCH_MATCHES = 30
"""Matches of each policy in a batch, at least: so many that two batches of a handful of policies keep dozens of slots busy while
their slowest matches end (``benchmarks.performance.overlap``); no more, since play stops between batches only and runs ahead by
whole ones."""


@dataclass(frozen=True)
class Contest:
    """What is to be scheduled.

    Attributes:
        environment: module name.
        policies: names; their order is kept, and the schedule depends on it.
        seats: number of rated seats of the environment.
        options: of the environment.
        seed: root seed of the run.
        batch: a batch is as many whole cycles of the schedule as give each policy at least this many matches.
        staff: name of the policy on each seat that is not rated, by the number of the seat among all seats.
        by_deal: values of options that change from deal to deal, in turn: deal d has value d modulo their number.
    """

    environment: str
    policies: tuple[str, ...]
    seats: int = 2
    options: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    batch: int = BATCH_MATCHES
    staff: Mapping[int, str] = field(default_factory=dict)
    by_deal: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_int("seats", self.seats, 1, 1_000)
        check_int("seed", self.seed, 0, 2**128 - 1)
        check_int("batch", self.batch, 1, 1_000_000)
        if not self.policies or len(set(self.policies)) < len(self.policies):
            raise OptionError(f"policies: expected one name or more, all different, got {list(self.policies)}")
        everybody = range(self.seats + len(self.staff))
        if not self.staff.keys() <= set(everybody):
            raise OptionError(f"staff: expected seats from 0 to {everybody[-1]}, got {sorted(self.staff)}")

    def check(self, pairing: str, *, policies: int, seats: int | None = None) -> None:
        """Checks what a pairing needs.

        Raises:
            OptionError: if there are fewer policies, or another number of rated seats.
        """
        if seats is not None and self.seats != seats:
            raise OptionError(f"{pairing}: expected an environment with {seats} rated seats, got {self.seats}")
        if len(self.policies) < policies:
            raise OptionError(f"{pairing}: expected {policies} policies or more, got {len(self.policies)}")

    def everybody(self, rated: Sequence[str]) -> tuple[str, ...]:
        """Returns the policy on every seat, given those on the rated ones."""
        players = iter(rated)
        return tuple(self.staff.get(seat) or next(players) for seat in range(self.seats + len(self.staff)))

    def rated(self, policies: Sequence[str]) -> list[str]:
        """Returns the policies on the rated seats, given those on all."""
        return [name for seat, name in enumerate(policies) if seat not in self.staff]

    def match(self, number: int, planned: "Planned", case: int) -> Match:
        """Returns a match of the contest.

        Args:
            number: of the match.
            planned: deal, policies on the rated seats, and options of its own.
            case: which of the values in turn it has.
        """
        seed = deal_seed(self.seed, self.environment, planned.deal)
        dealt = {name: values[case % len(values)] for name, values in self.by_deal.items()}
        options = {**self.options, **dealt, **planned.options}
        return Match(self.environment, number, self.everybody(planned.policies), seed, options)


class Planned(NamedTuple):
    """A match without its number: deal, policy on each rated seat, and options besides the contest's."""

    deal: int
    policies: tuple[str, ...]
    options: Mapping[str, Any] = {}


Cycle = list[Planned]


def even_batch(matches: int, cycle: int = 1) -> int:
    """Returns the size of batches by which ``matches`` of each policy are played and no more, if there is such a size.

    So 100 matches are four batches of 25. A number that only small or large batches divide, as 31, is played in nearly even ones,
    which is at most one match a batch too many.

    Args:
        matches: of each policy.
        cycle: matches of each policy in a cycle of the schedule.
    """
    cycles = -(-matches // cycle)
    most = max(1, min(cycles, BATCH_MATCHES // cycle))
    for size in range(most, most // 3, -1):
        if cycles % size == 0:
            return size * cycle
    return cycle * -(-cycles // -(-cycles // most))


def deal_seed(root: int, environment: str, deal: int) -> int:
    """Returns the seed of the matches of one deal, 0 to 2^53 - 1.

    Args:
        root: root seed of the run, 0 or more.
        environment: module name; a label behind ``#`` changes nothing, so that what is played twice is played on the same deals.
        deal: number of the deal, 0 or more: the child of the environment's ``SeedSequence`` it belongs to.
    """
    name = int.from_bytes(hashlib.sha256(environment.partition("#")[0].encode()).digest()[:16], "big")
    words = np.random.SeedSequence([root, name], spawn_key=(deal,)).generate_state(1, np.uint64)
    return int(words[0]) >> (64 - SEED_BITS)


def batches(contest: Contest, cycles: Iterator[Cycle]) -> Iterator[list[Match]]:
    """Numbers the matches of the cycles and groups them into batches, without end."""
    number = 0
    while True:
        batch: list[Match] = []
        played = dict.fromkeys(contest.policies, 0)
        for cycle in itertools.islice(cycles, contest.batch):  # a cycle is a match of each policy, at least
            for planned in cycle:
                batch.append(contest.match(number, planned, planned.deal))
                number += 1
                for name in set(planned.policies) & played.keys():
                    played[name] += 1
            if min(played.values()) >= contest.batch:
                break
        yield batch
