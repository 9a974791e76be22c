"""How often pools are flagged as non-transitive, by simulation: pools on one scale should not be, others should.

    python -m research.transitivity

Every pair plays both seats of every deal, all pairs the same deals unless the row says otherwise. Rows of one scale are false
alarms, to be at most the level; the others are power.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.options import option, parse
from rating.stats.bradley_terry import Comparisons, Floats
from rating.stats.transitivity import lack_of_fit
from research.pools import POOLS, win


@dataclass(frozen=True)
class Options:
    """Options of the study."""

    runs: int = option(300, "pools of each row", smoke=3)
    seed: int = option(0, "of everything drawn")
    smoke: bool = option(False, "the smallest size, which only shows that everything runs")


@dataclass(frozen=True)
class Setting:
    """A simulated pool.

    Attributes:
        name: label of the row.
        strengths: of the policies, in Elo.
        deals: that every pair plays from both seats.
        circle: by how much the first three beat each other in a circle, in Elo, beside their strengths.
        scatter: standard deviation of a pair's effect beside strengths, in Elo.
        ties: share of ties.
        luck: standard deviation of a deal's effect on a policy in all of its matches, in Elo.
        alike: share of the matches of a pair on a deal that end for the same policy from both seats.
        shared: whether all pairs play the same deals, or each match has its own.
    """

    name: str
    strengths: Floats
    deals: int
    circle: float = 0.0
    scatter: float = 0.0
    ties: float = 0.0
    luck: float = 0.0
    alike: float = 0.0
    shared: bool = True

    @property
    def is_one_scale(self) -> bool:
        """Whether a flag is a false alarm."""
        return not self.circle and not self.scatter


@dataclass(frozen=True)
class Line:
    """A row of the table: the share of pools that are flagged at each of ``LEVELS``."""

    setting: Setting
    flagged: tuple[float, ...]


LEVELS = (0.01, 0.05, 0.1)

DRAWS = 199
"""Random signs of each test."""


def settings() -> list[Setting]:
    """Returns the rows."""
    a, three = POOLS["A"], np.zeros(3)
    return [
        Setting("pool A, 5 deals", a, 5),
        Setting("pool A, 20 deals", a, 20),
        Setting("pool A, 1 match a seat, deals of their own", a, 1, shared=False),
        Setting("pool A, 5 matches a seat, deals of their own", a, 5, shared=False),
        Setting("pool D, 20 deals", POOLS["D"], 20),
        Setting("pool A, 5 deals, half of the matches tied", a, 5, ties=0.5),
        Setting("pool A, 50 deals, half of the matches tied", a, 50, ties=0.5),
        Setting("pool A, 10 deals, both seats mostly alike", a, 10, alike=0.8),
        Setting("pool A, 10 deals, lucky for policies by 300 Elo", a, 10, luck=300.0),
        Setting("one at +900, 20 deals", POOLS["outlier"], 20),
        Setting("three policies, 10 deals", np.array([0.0, 100, 300]), 10),
        *(
            Setting(f"rock, paper, scissors by 150 Elo, {deals} deals", three, deals, circle=150.0)
            for deals in (10, 20, 40)
        ),
        *(
            Setting(
                f"rock, paper, scissors by 150 Elo, {games} matches a seat", three, games, circle=150.0, shared=False
            )
            for games in (10, 20, 40)
        ),
        *(
            Setting(f"pool A, a circle of three by 400 Elo, {deals} deals", a, deals, circle=400.0)
            for deals in (10, 20)
        ),
        *(Setting(f"pool A, pairs scatter by 150 Elo, {deals} deals", a, deals, scatter=150.0) for deals in (5, 10)),
    ]


def play(setting: Setting, rng: np.random.Generator) -> Comparisons:
    """Draws the results of one pool."""
    size = len(setting.strengths)
    one, other = np.triu_indices(size, 1)
    beyond = np.triu(rng.normal(0, setting.scatter, (size, size)), 1) if setting.scatter else np.zeros((size, size))
    for winner, loser in ((0, 1), (1, 2)):
        beyond[winner, loser] += setting.circle
    beyond[0, 2] -= setting.circle
    lead = np.subtract.outer(setting.strengths, setting.strengths) + beyond - beyond.T
    shape = (setting.deals, len(one))
    luck = rng.normal(0, setting.luck, (setting.deals, size)) if setting.luck else np.zeros((setting.deals, size))
    share = win(lead[one, other] + luck[:, one] - luck[:, other])
    deals = np.broadcast_to(np.arange(setting.deals)[:, None], shape)
    results = []
    common = rng.random(shape)
    for seat in range(2):
        chance = np.where(rng.random(shape) < setting.alike, common, rng.random(shape))
        score = (chance < share).astype(float)
        score[rng.random(shape) < setting.ties] = 0.5
        players = (one, other) if seat == 0 else (other, one)
        cluster = deals if setting.shared else seat * deals.size + np.arange(deals.size).reshape(shape)
        columns = (*(np.broadcast_to(player, shape) for player in players), score if seat == 0 else 1 - score, cluster)
        results.append([column.ravel() for column in columns])
    names = tuple(f"policy {index:02d}" for index in range(size))
    first, second, score, cluster = (np.concatenate(parts) for parts in zip(*results, strict=True))
    return Comparisons(names, first, second, score, cluster)


def measure(setting: Setting, options: Options) -> Line:
    """Tests pools of one setting."""
    values = []
    for run in range(options.runs):
        tested = lack_of_fit(play(setting, np.random.default_rng([options.seed, run])), draws=DRAWS, seed=run)
        values.append(tested.p_value if tested else 1.0)
    return Line(setting, tuple(float(np.mean(np.array(values) <= level)) for level in LEVELS))


def table(lines: Sequence[Line]) -> str:
    """Returns the rows as a table in Markdown."""
    rows = [(line.setting, [f"{share:.3f}" for share in line.flagged]) for line in lines]
    return pool_table([f"flagged at {level:g}" for level in LEVELS], rows)


def pool_table(columns: Sequence[str], rows: Sequence[tuple[Setting, Sequence[str]]]) -> str:
    """Returns results for the pools of each setting as a table in Markdown.

    Args:
        columns: their names, besides those that say which pool it is.
        rows: for each setting a cell for every column.
    """
    lines = [f"| pool | one scale | {' | '.join(columns)} |", "|---" * (2 + len(columns)) + "|"]
    for setting, found in rows:
        lines.append(f"| {setting.name} | {'yes' if setting.is_one_scale else 'no'} | {' | '.join(found)} |")
    return "\n".join(lines)


def main(options: Options) -> list[Line]:
    """Simulates and prints the table."""
    lines = [measure(setting, options) for setting in settings()]
    print(table(lines))
    return lines


if __name__ == "__main__":
    main(parse(Options, __doc__))
