"""Rotation: every subset of the policies that fills the table, rotated through all seats."""

import itertools
from collections.abc import Iterator

import numpy as np

from rating.schedules.batches import Contest, Cycle, Planned, batches, deal_seed
from rating.store.match import Match


def rotation(contest: Contest) -> Iterator[list[Match]]:
    """Schedules every subset of the policies that fills the table, rotated through all seats.

    The seatings of one subset form a Latin square and share a deal. A cycle contains all shifts of one subset along the list of
    policies; in it, every policy takes every seat equally often. Cycles come in a random order drawn from the root seed. After
    all subsets, the schedule repeats with another order around the table, which over time seats every pair side by side.

    Args:
        contest: at least as many policies as rated seats.

    Raises:
        OptionError: if there are fewer policies than rated seats.
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

    Subsets are shifts of each other if the gaps between their members around the circle are rotations of each other.
    """
    tables = []
    for rest in itertools.combinations(range(1, size), seats - 1):
        gaps = [after - before for before, after in itertools.pairwise((0, *rest, size))]
        if all(gaps <= gaps[turn:] + gaps[:turn] for turn in range(1, seats)):
            tables.append((0, *rest))
    return tables


def _shifts(table: tuple[int, ...], size: int) -> list[tuple[int, ...]]:
    """Returns the different shifts of a subset, modulo ``size``."""
    return sorted({tuple(sorted((place + shift) % size for place in table)) for shift in range(size)})
