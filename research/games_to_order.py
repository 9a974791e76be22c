"""Schedules: how many games until the order of the policies is known.

    python -m research.games_to_order

Pools of known strength (``research.pools``) play games drawn from the Bradley-Terry model: two for every choice,
with the seats swapped. After every ten choices the fitted ratings are compared with the truth. A schedule is done at the first
number of finished games after which the Spearman correlation, in the mean over the runs, stays at or above the wanted one.
Where many pairs are under way at once, a pair is chosen without the results of that many before it. All runs of a line go side
by side.

The second table is about policies whose games cost different amounts, in proportions from 0.1 to 3.65 and with mean 1: the
cost until then, where a game costs the mean of its two players. The third is the time of a choice, with the fit before it,
for one contest alone.
"""

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import cycle

import numpy as np
from numpy.typing import NDArray

from benchmarks.options import option, parse
from rating.stats.bradley_terry import Floats, Integers
from rating.stats.design import Design
from research.pools import POOLS, round_robin, spearman, win

LOOK = 10
"""Choices after which the ratings are compared with the truth."""

SCHEDULES = ("round robin", "random", "adaptive")

HORIZONS = {
    "A": (2400, 1300),
    "B": (1800, 1000),
    "D": (3200, 1800),
}
"""Games after which a run of a schedule ends that does not depend on results, and of one that does."""

UNDER_WAY = (28, 64)
"""Pairs under way at once: 28 are the most that a run of 14 policies has with two batches of 14 (``ahead = 2``)."""

WANTED = 0.99
"""Mean Spearman correlation that counts as a known order."""

CHEAPEST, DEAREST = 0.1, 3.65

STEPS = 60
"""Choices that are timed."""


@dataclass(frozen=True)
class Options:
    """Options of the study."""

    pools: tuple[str, ...] = option(("A", "B", "D"), "pools, of A, B, D", smoke=("B",))
    runs: int = option(300, "runs of each line", smoke=3)
    seed: int = option(20261122, "of the games")
    smoke: bool = option(False, "the smallest size, which only shows that everything runs")


@dataclass(frozen=True)
class Setting:
    """A simulated setting.

    Attributes:
        schedule: one of ``SCHEDULES``.
        pool: name of the pool.
        under_way: pairs under way at once.
        is_costly: whether games cost different amounts.
        is_aware: whether the schedule knows them.
    """

    schedule: str
    pool: str
    under_way: int = 1
    is_costly: bool = False
    is_aware: bool = True


@dataclass(frozen=True)
class Course:
    """How the runs of one setting went.

    Attributes:
        games: finished at each look.
        order: mean Spearman correlation with the truth.
        spend: mean cost of those games.
    """

    games: Integers
    order: Floats
    spend: Floats

    def reached(self, wanted: float) -> int | None:
        """Returns the index of the first look with a good enough order there and at all later looks, or ``None``."""
        worse = np.flatnonzero(self.order < wanted)
        first = int(worse[-1]) + 1 if len(worse) else 0
        return first if first < len(self.order) else None


def simulate(setting: Setting, games: int, options: Options) -> Course:
    """Plays runs of one setting side by side, each until so many games."""
    runs, row = options.runs, np.arange(options.runs)
    rng = np.random.default_rng([options.seed, ord(setting.pool[0]), setting.under_way])
    strengths = np.tile(POOLS[setting.pool], (runs, 1))
    size = strengths.shape[1]
    costs = rng.permuted(np.tile(_costs(size), (runs, 1)), axis=1) if setting.is_costly else np.ones((runs, size))
    chooser = _Chooser(setting, costs if setting.is_aware else np.ones_like(costs), options)
    spent = np.zeros(runs)
    looks: list[tuple[int, float, float]] = []
    waiting: deque[tuple[Integers, Integers]] = deque()
    while len(looks) < games // (2 * LOOK):
        for _ in range(LOOK):
            while len(waiting) < setting.under_way:
                waiting.append(chooser.choose())
            first, second = waiting.popleft()
            lead = strengths[row, first] - strengths[row, second]
            chooser.finish(first, second, rng.random((2, runs)) < win(lead))
            spent += costs[row, first] + costs[row, second]  # two games, each the mean of both
        order = spearman(chooser.design.strengths, strengths)
        looks.append((2 * LOOK * (len(looks) + 1), float(order.mean()), float(spent.mean())))
    numbers, orders, spends = (np.array(column) for column in zip(*looks, strict=True))
    return Course(numbers, orders, spends)


class _Chooser:
    """A schedule, for runs side by side."""

    def __init__(self, setting: Setting, costs: Floats, options: Options) -> None:
        self._runs, size = costs.shape
        self._is_adaptive = setting.schedule == "adaptive"
        self.design = Design(size, seed=options.seed, shape=(self._runs,))
        self._pairs = np.triu_indices(size, 1)
        self._price = costs[:, self._pairs[0]] + costs[:, self._pairs[1]]
        self._row = np.arange(self._runs)
        self._circle = cycle(round_robin(size)) if setting.schedule == "round robin" else None
        self._rng = np.random.default_rng(options.seed)
        self._shape = (self._runs, size, size)

    def choose(self) -> tuple[Integers, Integers]:
        """Returns the first and the second of the next pair of each run."""
        if self._circle is not None:
            one, other = next(self._circle)
            return np.full(self._runs, one), np.full(self._runs, other)
        if not self._is_adaptive:
            chosen = self._rng.integers(len(self._pairs[0]), size=self._runs)
        else:
            scores = self.design.draw()[:, self._pairs[0], self._pairs[1]] / self._price
            chosen = scores.argmax(axis=1)
        first, second = self._pairs[0][chosen], self._pairs[1][chosen]
        self.design.enter(2 * self._meeting(first, second))
        return first, second

    def finish(self, first: Integers, second: Integers, won: NDArray[np.bool_]) -> None:
        """Takes whether the first has won, on the first seat and on the second, shape (2, runs)."""
        meeting, wins = self._meeting(first, second), np.zeros(self._shape)
        wins[self._row, first, second], wins[self._row, second, first] = won[0], ~won[1]
        if self._circle is None:
            self.design.enter(-2 * meeting)
        self.design.add(wins, meeting)

    def _meeting(self, first: Integers, second: Integers) -> Floats:
        games = np.zeros(self._shape)
        games[self._row, first, second] = games[self._row, second, first] = 1.0
        return games


def _costs(size: int) -> Floats:
    costs = np.geomspace(CHEAPEST, DEAREST, size)
    return costs / costs.mean()


def milliseconds(size: int) -> float:
    """Returns the time of a choice among so many policies, with the fit to all results before it."""
    design, rng, spent = Design(size), np.random.default_rng(0), 0.0
    for _ in range(STEPS):
        begin = time.perf_counter()
        first, second = np.unravel_index(np.argmax(design.draw()), (size, size))
        spent += time.perf_counter() - begin
        wins, games = np.zeros((2, size, size))
        games[first, second] = games[second, first] = 1.0
        wins[first, second], wins[second, first] = rng.integers(2, size=2)
        design.add(wins, games)
    return 1000 * spent / STEPS


def run(options: Options) -> dict[Setting, Course]:
    """Simulates the settings of both tables of games."""
    kinds = [
        *(Setting(schedule, "") for schedule in SCHEDULES),
        *(Setting("adaptive", "", under_way=under_way) for under_way in UNDER_WAY),
        Setting("adaptive", "", is_costly=True),
        Setting("adaptive", "", is_costly=True, is_aware=False),
        Setting("round robin", "", is_costly=True),
    ]
    settings = [replace(kind, pool=name) for kind in kinds for name in options.pools]
    return {
        setting: simulate(setting, HORIZONS[setting.pool][setting.schedule == "adaptive"], options)
        for setting in settings
    }


def tables(courses: dict[Setting, Course], options: Options, steps: dict[int, float]) -> str:
    """Writes the tables."""
    head = f"| {{}} | {' | '.join(options.pools)} |\n|---|{'---:|' * len(options.pools)}"
    games, spend = [head.format(f"games until rho stays at {WANTED:g}")], [head.format("spend until then")]
    for setting in (item for item in courses if item.pool == options.pools[0]):
        of_pools = [(replace(setting, pool=name), courses[replace(setting, pool=name)]) for name in options.pools]
        name = setting.schedule
        if setting.is_costly:
            name += (
                ""
                if setting.schedule == "round robin"
                else ", costs known"
                if setting.is_aware
                else ", costs not known"
            )
            spend.append(_row(name, [_cell(course, course.spend, WANTED) for _, course in of_pools]))
        else:
            name += f", {setting.under_way} pairs under way" if setting.under_way > 1 else ""
            cells = [_cell(course, course.games, WANTED) for _, course in of_pools]
            games.append(_row(name, cells))
    timed = ["| policies | ms a choice |\n|---:|---:|", *(_row(str(size), [f"{ms:.2f}"]) for size, ms in steps.items())]
    return "\n\n".join("\n".join(lines) for lines in (games, spend, timed))


def _cell(course: Course, values: Floats | Integers, wanted: float) -> str:
    look = course.reached(wanted)
    return f"{values[look]:.0f}" if look is not None else f"> {values[-1]:.0f}"


def _row(name: str, cells: Sequence[str]) -> str:
    return f"| {name} | {' | '.join(cells)} |"


def main() -> None:
    """Simulates and prints the tables."""
    options = parse(Options, __doc__)
    print(tables(run(options), options, {size: milliseconds(size) for size in (14, 40, 100)}))


if __name__ == "__main__":
    main()
