"""Coverage of the printed 95 % intervals of ratings after adaptive play; rows of ``coverage``.

    python -m research.coverage --only "adaptive play"

Results decide who meets whom. Among equals that is noise: a policy that was lucky early would look settled, meet nobody any more
and keep its luck. So equals are the hardest case.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from rating.stats.bradley_terry import Comparisons
from rating.stats.design import Design
from research.pools import Duellists, pool
from research.trials import Setting, Trial, rated

Floats = NDArray[np.float64]

BATCH = 14
"""Pairs that a run with ``ahead = 2`` chooses before the results of as many others."""

SKILLS = {"8 equals": (8, 0.0), "14 equals": (14, 0.0), "14 of sd 30": (14, 30.0)} | {
    f"{size} of sd 200": (size, 200.0) for size in (8, 14)
}
"""Size and standard deviation in Elo of pools that are drawn anew for every data set."""


def rows() -> tuple[Setting, ...]:
    """Returns every row."""
    drawn = (
        (f"adaptive play of {games} games, {name}", partial(after_play, skills=name, games=games))
        for name in SKILLS
        for games in (200, 400, 1000)
    )
    fixed = (
        (f"adaptive play of {games} games, pool {name}", partial(after_play, skills=name, games=games))
        for name in ("A", "B", "D")
        for games in (400, 1000)
    )
    batches = (
        (f"adaptive play in batches, 400 games, {name}", partial(after_play, skills=name, games=400, under_way=BATCH))
        for name in ("8 equals", "14 equals", "A")
    )
    return tuple(Setting(name, run, share=0.5) for name, run in (*drawn, *fixed, *batches))


def after_play(rng: np.random.Generator, *, skills: str, games: int, under_way: int = 0) -> Iterator[Trial]:
    """Plays pairs on one deal from both seats, each chosen by the results of all but the latest pairs.

    Args:
        rng: of skills, choices and results.
        skills: a name of ``SKILLS`` or of a pool.
        games: to play.
        under_way: number of latest pairs whose results are unknown when a pair is chosen.
    """
    size, sd = SKILLS.get(skills, (0, 0.0))
    strengths = rng.normal(0, sd, size) if size else pool(skills)
    size, players = len(strengths), Duellists(strengths, rng)
    design = Design(size, seed=int(rng.integers(2**32)))
    first, second = np.empty((2, games), dtype=np.int64)
    score = np.empty(games)
    for begin in range(0, games + 2 * under_way, 2):
        if begin < games:
            one, other = np.unravel_index(int(design.draw().argmax()), (size, size))
            both = slice(begin, begin + 2)
            first[both], second[both] = (one, other), (other, one)
            score[both] = players.play(first[both], second[both])
            design.enter(_counts(size, first[both], second[both]) + _counts(size, second[both], first[both]))
        ended = slice(begin - 2 * under_way, begin - 2 * under_way + 2)
        if ended.start >= 0:
            one_by_one, swapped = first[ended], second[ended]
            design.enter(-_counts(size, one_by_one, swapped) - _counts(size, swapped, one_by_one))
            design.add(_counts(size, one_by_one, swapped, score[ended]), _counts(size, one_by_one, swapped))
    names = tuple(f"{index:02}" for index in range(size))
    return rated(Comparisons(names, first, second, score, np.arange(games) // 2), strengths)


def _counts(size: int, first: NDArray[np.int64], second: NDArray[np.int64], weights: Floats | None = None) -> Floats:
    """Returns the games of each pair, the first on the row, or the sums of weights of them, shape (n, n)."""
    counts = np.zeros((size, size))
    np.add.at(counts, (first, second), 1.0 if weights is None else weights)
    return counts
