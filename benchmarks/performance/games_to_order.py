"""Schedules: how many games until the order of the policies is known.

    python -m benchmarks.performance.games_to_order

Pools of known strength (``benchmarks.performance.pools``) play games drawn from the Bradley-Terry model, two for every choice, with the
seats swapped. After every ten choices the ratings are compared with the truth; a schedule is done at the first number of games from
which the mean Spearman correlation over all runs is never below the wanted one again. All runs of a line go side by side. No game
is played twice: seeds are those of the option.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle

import numpy as np
from numpy.typing import NDArray

from benchmarks.options import option
from benchmarks.performance.pools import pool
from rating.schedules.round_robin import circle
from rating.statistics.design import NATS_PER_ELO, Design

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

LOOK = 10
"""Choices after which the ratings are compared with the truth."""

GOALS = {"A": (600, 680), "B": (400, 530), "D": (800, 900)}
"""Games of the adaptive schedule, one pair at a time and with 64 pairs under way."""

HORIZON = {"A": 2400, "B": 1800, "C": 6000, "D": 3400, "outlier": 2400, "wide": 4800}
"""Games after which a run ends."""

SCHEDULES = ("round robin", "random", "D-optimal", "adaptive", "L-optimal")


@dataclass(frozen=True)
class Options:
    """Options of the benchmark."""

    pools: tuple[str, ...] = option(("A", "B", "D"), "pools", smoke=("B",))
    schedules: tuple[str, ...] = option(
        ("round robin", "random", "D-optimal", "adaptive"), f"of {', '.join(SCHEDULES)}"
    )
    runs: int = option(200, "runs of each line", smoke=4)
    under_way: int = option(64, "pairs under way at once, in the lines that are not played one at a time")
    wanted: float = option(0.99, "mean Spearman correlation")
    horizon: int = option(0, "games after which a run ends, 0 for what suits the pool", smoke=200)
    seed: int = option(20261122, "of the games")
    smoke: bool = option(False, "the smallest size, which only shows that everything runs")


@dataclass(frozen=True)
class Line:
    """How runs of one schedule went.

    Attributes:
        games: played at each look.
        order: mean Spearman correlation with the truth at each look.
        spend: mean cost of the games until each look.
    """

    games: Integers
    order: Floats
    spend: Floats

    def reached(self, wanted: float) -> int | None:
        """Returns the first look from which the order is never worse than wanted; ``None`` if there is none."""
        worse = np.flatnonzero(self.order < wanted)
        first = int(worse[-1]) + 1 if len(worse) else 0
        return first if first < len(self.order) else None


def simulate(
    schedule: str,
    name: str,
    *,
    runs: int,
    games: int,
    under_way: int = 1,
    costs: Floats | None = None,
    is_aware: bool = True,
    least: int = 0,
    seed: int = 0,
) -> Line:
    """Plays runs of one schedule.

    Args:
        schedule: one of ``SCHEDULES``.
        name: of the pool.
        runs: side by side.
        games: of each run.
        under_way: pairs that are under way while the next is chosen, with the next one.
        costs: of a game of each policy, shape (n,); all alike by default.
        is_aware: whether the schedule knows the costs.
        least: games of every policy to which those who have fewer go first.
        seed: of results and choices.
    """
    rng = np.random.default_rng([seed, under_way])
    strengths = NATS_PER_ELO * np.stack([pool(name, run) for run in range(runs)])
    size = strengths.shape[1]
    shares = {"D-optimal": 1.0, "adaptive": 0.15}
    design = Design(size, d_share=shares.get(schedule, 0.0), seed=seed, shape=(runs,))
    cost = np.ones(size) if costs is None else costs
    of_pair = cost[:, None] + cost[None, :]
    pairs = _circle(size)
    played = np.zeros((runs, size))
    spent = np.zeros(runs)
    row = np.arange(runs)
    upper = np.triu_indices(size, 1)
    waiting: deque[tuple[Integers, Integers]] = deque()
    looks: list[tuple[int, float, float]] = []
    ranks = _ranks(strengths)
    for choice in range(1, games // 2 + under_way):
        if schedule == "round robin":
            first, second = (np.full(runs, index) for index in next(pairs))
        elif schedule == "random":
            chosen = rng.integers(len(upper[0]), size=runs)
            first, second = upper[0][chosen], upper[1][chosen]
        else:
            scores = (design.draw() / (of_pair if is_aware else 2.0))[:, *upper]
            if least:
                behind = played < least
                allowed = behind[:, upper[0]] | behind[:, upper[1]] | ~behind.any(axis=1)[:, None]
                scores = np.where(allowed, scores, -1.0)
            chosen = scores.argmax(axis=1)
            first, second = upper[0][chosen], upper[1][chosen]
        played[row, first] += 2
        played[row, second] += 2
        spent += 2 * of_pair[first, second]
        waiting.append((first, second))
        if under_way > 1 and schedule not in ("round robin", "random"):
            design.enter(_both(runs, size, first, second))
        if len(waiting) == under_way:
            first, second = waiting.popleft()
            if under_way > 1 and schedule not in ("round robin", "random"):
                design.enter(-_both(runs, size, first, second))
            lead = strengths[row, first] - strengths[row, second]
            wins, met = np.zeros((2, runs, size, size))
            wins[row, first, second] = rng.random(runs) < 1 / (1 + np.exp(-lead))
            wins[row, second, first] = rng.random(runs) < 1 / (1 + np.exp(lead))
            met[row, first, second] = met[row, second, first] = 1.0
            design.add(wins, met)
        finished = choice + 1 - under_way
        if finished > 0 and finished % LOOK == 0:
            distance = _ranks(design.strengths) - ranks
            order = 1 - 6 * (distance**2).sum(axis=1) / (size * (size**2 - 1))
            looks.append((2 * finished, float(order.mean()), float(spent.mean())))
    numbers, order, spend = zip(*looks, strict=True)
    return Line(np.array(numbers), np.array(order), np.array(spend))


def _circle(size: int) -> Iterator[tuple[int, int]]:
    names = [str(index) for index in range(size)]
    return cycle([(int(first), int(second)) for pairs in circle(names) for first, second in pairs])


def _both(runs: int, size: int, first: Integers, second: Integers) -> Floats:
    games, row = np.zeros((runs, size, size)), np.arange(runs)
    games[row, first, second] = games[row, second, first] = 2.0
    return games


def _ranks(values: Floats) -> Integers:
    return np.argsort(np.argsort(values, axis=-1), axis=-1)
