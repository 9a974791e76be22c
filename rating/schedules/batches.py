"""Schedules, and batches: numbered, seeded and grouped matches.

A schedule module (such as ``rating.schedules.round_robin``) yields an infinite, deterministic sequence of cycles. Within a
cycle every policy plays equally often on each seat, so a run may stop after any batch of complete cycles. A match's seed depends
only on the root seed, the environment's name and the deal number, not on other environments or the number of workers.
Matches of one deal have the same seed and therefore the same cards, opening, words or valuations.
"""

import hashlib
import itertools
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from llmarena_envs.core.options import OptionError, check_int
from rating.store.records import Match, Outcome

UNLIMITED = sys.maxsize
"""The lag of batches that do not depend on outcomes."""


class Stop(NamedTuple):
    """A schedule's answer when it has ended, with the name of the reason, e.g. ``count`` or ``cap``."""

    reason: str


class Schedule(Protocol):
    """A sequence of batches, as a pure function of the outcomes, folded batch by batch.

    Batch k depends on the outcomes of batches 0 to k - ``lag`` only. It can run while the batches before it finish, and does not
    depend on the number of workers.
    """

    @property
    def lag(self) -> int:
        """Maximum number of concurrent batches.

        1 if the next batch needs the one before, as in a Swiss round; 2 or more lets play run ahead. ``UNLIMITED`` as long as the
        next batch does not depend on outcomes.
        """

    @property
    def starts(self) -> Sequence[int]:
        """Number of the first match of each begun phase after the first; empty without phases."""

    def add(self, outcomes: Sequence[Outcome]) -> None:
        """Adds the outcomes of the next complete batch, in match-number order, including void ones."""

    def leave_out(self, policy: str) -> None:
        """Excludes a policy: its matches are void from now on, without being played."""

    def next_batch(self) -> list[Match] | Stop:
        """Returns batch k after the outcomes of batches 0 to k - ``lag`` were added, or the reason to stop."""


_DISTINCTION = re.compile(r"[?#][^/]*")

SEED_BITS = 53
"""Bits of a seed; JSON readers keep integers of this size exactly."""

BATCH_MATCHES = 30
"""Minimum number of matches of each policy in a batch. Two batches of a few policies keep dozens of slots busy until their
slowest matches end (``research.overlap``). Not more, since play runs ahead by whole batches and stops between
them.
"""


@dataclass(frozen=True)
class Contest:
    """The policies, environment and seeds to schedule.

    Attributes:
        environment: module name.
        policies: names; the schedule depends on their order.
        seats: number of rated seats of the environment.
        options: of the environment.
        seed: root seed of the run.
        batch: minimum number of matches of each policy in a batch; batches are whole cycles.
        staff: policy on each unrated seat, by index among all seats.
        by_deal: options varied across deals: name -> values, cycled.
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
        """Checks the requirements of a pairing.

        Raises:
            OptionError: if there are too few policies, or the number of rated seats differs.
        """
        if seats is not None and self.seats != seats:
            raise OptionError(f"{pairing}: expected an environment with {seats} rated seats, got {self.seats}")
        if len(self.policies) < policies:
            raise OptionError(f"{pairing}: expected {policies} policies or more, got {len(self.policies)}")

    def everybody(self, rated: Sequence[str]) -> tuple[str, ...]:
        """Returns the policy on every seat, given those on the rated seats."""
        players = iter(rated)
        return tuple(self.staff.get(seat) or next(players) for seat in range(self.seats + len(self.staff)))

    def rated(self, policies: Sequence[str]) -> list[str]:
        """Returns the policies on the rated seats, given those on all seats."""
        return [name for seat, name in enumerate(policies) if seat not in self.staff]

    def match(self, number: int, planned: "Planned", case: int) -> Match:
        """Returns a match of the contest.

        Args:
            number: match number.
            planned: deal, policies on the rated seats, and the match's own options.
            case: index into the values of ``by_deal``, modulo their number.
        """
        seed = deal_seed(self.seed, self.environment, planned.deal)
        dealt = {name: values[case % len(values)] for name, values in self.by_deal.items()}
        options = {**self.options, **dealt, **planned.options}
        return Match(self.environment, number, self.everybody(planned.policies), seed, options)


class Planned(NamedTuple):
    """A match without its number: deal, policy on each rated seat, and additional options."""

    deal: int
    policies: tuple[str, ...]
    options: Mapping[str, Any] = {}


Cycle = list[Planned]


def even_batch(matches: int, cycle: int = 1) -> int:
    """Returns the batch size that gives each policy exactly ``matches`` matches, if there is one.

    For example, 100 matches are four batches of 25. If only very small or large batches divide the number, e.g. 31, batches are
    nearly even, with at most one extra match per batch.

    Args:
        matches: matches of each policy.
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
        environment: module name; an isomorph after ``?`` and a label after ``#`` are ignored, so that uses of one environment
            under other names share deals.
        deal: deal number, 0 or more; index of the child of the environment's ``SeedSequence``.
    """
    name = int.from_bytes(hashlib.sha256(_DISTINCTION.sub("", environment).encode()).digest()[:16], "big")
    words = np.random.SeedSequence([root, name], spawn_key=(deal,)).generate_state(1, np.uint64)
    return int(words[0]) >> (64 - SEED_BITS)


def batches(contest: Contest, cycles: Iterator[Cycle]) -> Iterator[list[Match]]:
    """Numbers the matches of the cycles and groups them into batches, without end."""
    number = 0
    while True:
        batch: list[Match] = []
        played = dict.fromkeys(contest.policies, 0)
        for cycle in itertools.islice(cycles, contest.batch):  # a cycle has at least one match of each policy
            for planned in cycle:
                batch.append(contest.match(number, planned, planned.deal))
                number += 1
                for name in set(planned.policies) & played.keys():
                    played[name] += 1
            if min(played.values()) >= contest.batch:
                break
        yield batch
