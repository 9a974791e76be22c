"""Rotation: every subset of the policies that fills the table, on every seat in turn."""

import itertools
from collections.abc import Iterator

import numpy as np

from rating.records.match import Match
from rating.schedules.batches import Contest, Cycle, Planned, batches, deal_seed


def rotation(contest: Contest) -> Iterator[list[Match]]:
    """Schedules every subset of the policies that fills the table, and each on every seat in turn.

    The seatings of one subset form a Latin square and share a deal. A cycle is the set of subsets that arise from one by
    shifting all policies by the same number of places in their list; in it every policy takes every seat equally often.
    The cycles come in a random order drawn from the root seed. Once every subset has been played it begins again with
    another order around the table, so that in the end everybody sits beside everybody.

    Args:
        contest: as many policies as rated seats, or more.

    Raises:
        OptionError: if the contest is another.
    """
    contest.check("rotation", policies=contest.seats)
    return batches(contest, _cycles(contest))


def _cycles(contest: Contest) -> Iterator[Cycle]:
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
                planned += [Planned(deal, (*seated[turn:], *seated[:turn])) for turn in range(seats)]
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
