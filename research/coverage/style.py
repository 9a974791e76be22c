"""Rows of style control: ratings with style held equal, and effects of style."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from rating.stats.bradley_terry import ELO_PER_NAT, Floats, Standing, Standings, standings
from rating.stats.bradley_terry.comparisons import comparisons_of
from rating.stats.results import Battle
from rating.stats.style import StyleControl, StyleRow, style_control
from research.coverage.trials import AT_LEAST, Setting, Trial, two_sided

MISSED = (0.0, 0.5)
"""Goal of intervals that are about something else."""

LENGTH = {"length": 120.0}
ALL = {"length": 80.0, "headers": 40.0, "lists": 0.0, "bold": -30.0}
"""Effects of a doubling, in Elo."""


class Pool(NamedTuple):
    """Policies, and what their answers look like.

    Attributes:
        strengths: with style held equal, in Elo.
        wordy: by how many doublings each writes more than usual.
    """

    strengths: Floats
    wordy: Floats

    @property
    def with_style(self) -> Floats:
        """Strengths with the typical length of each policy."""
        return self.strengths + LENGTH["length"] * self.wordy


class Shown(NamedTuple):
    """The printed results for a set of battles."""

    plain: Standings
    control: StyleControl


def rows() -> tuple[Setting, ...]:
    """Returns every row."""
    many, few = partial(votes, games=1500), questions
    return (
        Setting("length decides, held equal", partial(trial, confounded, many, LENGTH, held)),
        Setting("length decides, ignored", partial(trial, confounded, many, LENGTH, ignored), MISSED),
        Setting("length decides, its effect", partial(trial, confounded, many, LENGTH, effects)),
        Setting("length and format decide, held equal", partial(trial, confounded, many, ALL, held)),
        Setting("length and format decide, their effects", partial(trial, confounded, many, ALL, effects)),
        *(
            Setting(
                f"length decides, {deals} questions alike within, {name}",
                partial(trial, confounded, partial(few, deals=deals), LENGTH, show),
            )
            for deals in (6, 12, 40)
            for name, show in (("held equal", held), ("its effect", effects))
        ),
        Setting("length is the quality, held equal: the rest", partial(trial, quality, many, LENGTH, held)),
        Setting("length is the quality, held equal: all of it", partial(trial, quality, many, LENGTH, whole), MISSED),
        Setting("length decides among equals: ranks", partial(trial, quality, many, LENGTH, ranks), AT_LEAST),
    )


def confounded(rng: np.random.Generator, size: int) -> Pool:
    """Weaker policies write more."""
    strengths = rng.normal(0, 100, size)
    return Pool(strengths, -0.008 * strengths + rng.normal(0, 0.5, size))


def quality(rng: np.random.Generator, size: int) -> Pool:
    """Policies differ only by how much they write: better only by that, or equals where length is no quality."""
    return Pool(np.zeros(size), rng.normal(0, 1, size))


def counts(rng: np.random.Generator, wordy: Floats) -> dict[str, NDArray[np.int64]]:
    """Draws the counts of answers that are longer than usual by so many doublings; longer ones have more format."""
    length = np.exp2(7 + wordy + rng.normal(0, 1, wordy.shape))
    shares = {"headers": 0.01, "lists": 0.02, "bold": 0.03}
    format = {name: rng.poisson(length * share * rng.gamma(2, 0.5, wordy.shape)) for name, share in shares.items()}
    return {"length": np.rint(length).astype(np.int64), **format}


def chance(pool: Pool, pair: tuple[int, int], style: dict[str, tuple[int, int]], effect: dict[str, float]) -> float:
    """Returns the chance that the first wins."""
    doublings = {name: np.log2((1 + one) / (1 + other)) for name, (one, other) in style.items()}
    lead = pool.strengths[pair[0]] - pool.strengths[pair[1]]
    lead += sum(effect.get(name, 0.0) * value for name, value in doublings.items())
    return float(1 / (1 + np.exp(-lead / ELO_PER_NAT)))


Battles = Callable[
    [np.random.Generator, Callable[[np.random.Generator, int], Pool], dict[str, float]], tuple[Pool, list[Battle]]
]


def votes(
    rng: np.random.Generator,
    draw: Callable[[np.random.Generator, int], Pool],
    effect: dict[str, float],
    *,
    games: int,
) -> tuple[Pool, list[Battle]]:
    """Draws votes on random pairs of ten policies, each on a question of its own."""
    pool = draw(rng, 10)
    first = rng.integers(10, size=games)
    second = (first + rng.integers(1, 10, size=games)) % 10
    answers = counts(rng, pool.wordy[np.column_stack((first, second))])
    battles = []
    for game, pair in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        style = {name: (int(values[game, 0]), int(values[game, 1])) for name, values in answers.items()}
        won = rng.random() < chance(pool, pair, style, effect)
        battles.append(Battle(f"{pair[0]:02}", f"{pair[1]:02}", float(won), style=style))
    return pool, battles


def questions(
    rng: np.random.Generator,
    draw: Callable[[np.random.Generator, int], Pool],
    effect: dict[str, float],
    *,
    deals: int,
) -> tuple[Pool, list[Battle]]:
    """Draws votes of three judges on all pairs of six policies; each policy answers every question once.

    The effect of a question on a policy has half of the variance; each vote by itself follows the model.
    """
    pool, battles = draw(rng, 6), []
    for deal in range(deals):
        answers, suited = counts(rng, pool.wordy), rng.normal(size=6)
        for one in range(6):
            for other in range(one):
                style = {name: (int(values[one]), int(values[other])) for name, values in answers.items()}
                typical = norm.ppf(chance(pool, (one, other), style, effect))
                noise = (0.5 * (suited[one] - suited[other]) + np.sqrt(0.5) * rng.normal(size=3)) < typical
                battles += [Battle(f"{one:02}", f"{other:02}", float(won), f"{deal}", style=style) for won in noise]
    return pool, battles


def trial(
    draw: Callable[[np.random.Generator, int], Pool],
    results: Battles,
    effect: dict[str, float],
    show: Callable[[Shown, Pool, dict[str, float]], Iterator[Trial]],
    rng: np.random.Generator,
) -> Iterator[Trial]:
    """Draws battles of a pool and compares the printed results with the truth."""
    pool, battles = results(rng, draw, effect)
    plain = standings(comparisons_of(battles))
    return show(Shown(plain, style_control(battles, tuple(effect), plain)), pool, effect)


def held(shown: Shown, pool: Pool, effect: dict[str, float]) -> Iterator[Trial]:
    """Ratings with style held equal."""
    return _intervals(shown.control.rows, shown.plain, pool.strengths)


def whole(shown: Shown, pool: Pool, effect: dict[str, float]) -> Iterator[Trial]:
    """The same ratings, taken for strengths with the usual style of each policy."""
    return _intervals(shown.control.rows, shown.plain, pool.with_style)


def ignored(shown: Shown, pool: Pool, effect: dict[str, float]) -> Iterator[Trial]:
    """Ratings without style control, taken for strengths with style held equal."""
    return _intervals(shown.plain.rows, shown.plain, pool.strengths)


def effects(shown: Shown, pool: Pool, effect: dict[str, float]) -> Iterator[Trial]:
    """Effects of a doubling."""
    for name, (_, low, high, *_) in shown.control.effects.items():
        yield from two_sided(low, high, effect[name])


def ranks(shown: Shown, pool: Pool, effect: dict[str, float]) -> Iterator[Trial]:
    """Ranks of equal policies; any separation is a mistake."""
    yield Trial(all(row.best_rank == 1 for row in shown.control.rows))


def _intervals(rows: Iterable[Standing | StyleRow], plain: Standings, strengths: Floats) -> Iterator[Trial]:
    mean = strengths[[int(row.policy) for row in plain.rows if row.is_anchor]].mean()
    for row in rows:
        yield from two_sided(row.rating.low, row.rating.high, 1000 + strengths[int(row.policy)] - mean)
