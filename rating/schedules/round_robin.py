"""Fixed schedules: every pair, every pair and self-play, self-play, every table, and one seating."""

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from rating.schedules.batches import Contest, Cycle, Planned, batches, deal_seed
from rating.store.records import Match


def round_robin(contest: Contest, *, shared_deals: bool = False) -> Iterator[list[Match]]:
    """Schedules every pair of policies twice per cycle: one deal with the seats swapped.

    Pairs follow the rounds of the circle method, which spreads concurrent matches over the policies.

    By default each pair has its own deals. In a zero-sum game with ratings, swapping seats on one deal removes the luck of the
    deal from the pair; the remaining variance averages out sooner over different deals, and the intervals have as many
    independent deals as pairs of matches. Share deals where mean rewards are compared and depend more on the deal than on the
    opponent, as in an auction: all policies get the same valuations, and a cycle counts as one case.

    Args:
        contest: two rated seats, two policies or more.
        shared_deals: use one deal for all matches of a cycle.

    Raises:
        OptionError: if the contest does not fit.
    """
    contest.check("round robin", policies=2, seats=2)
    return batches(contest, _pair_cycles(contest.policies, shared_deals))


def circle(policies: Sequence[str]) -> list[list[tuple[str, str]]]:
    """Returns every pair once, in rounds in which each policy plays at most once (circle method)."""
    ring: list[str | None] = [*policies, *([None] if len(policies) % 2 else [])]
    rounds = []
    for _ in range(len(ring) - 1):
        opposite = zip(ring[: len(ring) // 2], reversed(ring), strict=False)
        rounds.append([(first, second) for first, second in opposite if first is not None and second is not None])
        ring = [ring[0], ring[-1], *ring[1:-1]]
    return rounds


def _pair_cycles(policies: Sequence[str], shared_deals: bool) -> Iterator[Cycle]:
    rounds = circle(policies)
    deals = itertools.count()
    for cycle in itertools.count():
        planned = []
        for pairs in rounds:
            numbers = [cycle if shared_deals else next(deals) for _ in pairs]
            planned += [Planned(deal, pair) for deal, pair in zip(numbers, pairs, strict=True)]
            planned += [Planned(deal, pair[::-1]) for deal, pair in zip(numbers, pairs, strict=True)]
        yield planned


def cross_play(contest: Contest) -> Iterator[list[Match]]:
    """Schedules every ordered pair of policies, self-play included; a cycle is one deal.

    For cooperative games: a common deal reduces the variance of differences between policies.

    Args:
        contest: two rated seats.

    Raises:
        OptionError: if the contest does not have two rated seats.
    """
    contest.check("cross-play", policies=1, seats=2)
    pairs = [(name, name) for name in contest.policies]
    for players in circle(contest.policies):
        pairs += players + [pair[::-1] for pair in players]
    return batches(contest, ([Planned(deal, pair) for pair in pairs] for deal in itertools.count()))


def self_play(contest: Contest) -> Iterator[list[Match]]:
    """Schedules every policy with itself on all rated seats; a cycle is one deal shared by all policies."""
    cycles = ([Planned(deal, (name,) * contest.seats) for name in contest.policies] for deal in itertools.count())
    return batches(contest, cycles)


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
    return batches(contest, _table_cycles(contest))


def _table_cycles(contest: Contest) -> Iterator[Cycle]:
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


def everywhere(contest: Contest) -> Iterator[list[Match]]:
    """Schedules every policy equally often on each rated seat.

    One seat: every policy alone, on the same deals. Two: a round robin on shared deals. More: a rotation.

    Raises:
        OptionError: if there are fewer policies than rated seats.
    """
    if contest.seats == 1:
        return self_play(contest)
    if contest.seats == 2:
        return round_robin(contest, shared_deals=True)
    return rotation(contest)


def seating(contest: Contest, policies: Sequence[str]) -> Iterator[list[Match]]:
    """Schedules matches that differ only in their deals.

    Args:
        contest: contest to schedule.
        policies: policies on the rated seats.
    """
    return batches(contest, ([Planned(deal, tuple(policies))] for deal in itertools.count()))
