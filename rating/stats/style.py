"""Style control: ratings with the length and format of answers held equal, as on the leaderboards of Chatbot Arena.

A covariate is the difference of the binary logarithms of 1 + count, so one unit is a doubling. Its effect is fitted together
with the ratings (``fit_terms``), from results that vary in style for the same policies.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real

import numpy as np
from scipy import sparse

from rating.stats.battles import Battle, comparisons_of
from rating.stats.bradley_terry import (
    MEAN_RATING,
    BradleyTerryFit,
    BradleyTerryOptions,
    Comparisons,
    Floats,
    Standings,
    Term,
    fit_terms,
)
from rating.stats.simultaneous import difference_errors, established_above

LENGTH = "length"
FORMAT = ("headers", "lists", "bold")
GROUPS = {LENGTH: (LENGTH,), "format": FORMAT}
"""Groups of counts, by name."""

_MOST = 1e12
"""Greatest count."""

_TOLERANCE = 1e-9
"""Minimum share of a covariate's variation that the policies and other covariates leave unexplained."""


@dataclass(frozen=True)
class StyleRow:
    """A policy.

    Attributes:
        policy: its name.
        best_rank: best possible rank with style held equal, from 1.
        worst_rank: worst possible rank.
        rating: with style held equal, in Elo.
        low: lower end of its 95 % interval; ``None`` if wins and losses do not link it with the others.
        high: upper end; as ``low``.
        plain: its rating without style control.
    """

    policy: str
    best_rank: int
    worst_rank: int
    rating: float
    low: float | None
    high: float | None
    plain: float


@dataclass(frozen=True)
class StyleEffect:
    """Effect of a doubling of 1 + count, at equal ratings.

    Attributes:
        name: name of the count.
        value: in Elo.
        low: lower end of its 95 % interval.
        high: upper end.
    """

    name: str
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class StyleControl:
    """Ratings with style held equal.

    Attributes:
        rows: best first, ties by name.
        effects: effects of the counts held equal.
        alike: counts that are equal on both sides of every result, which have no fitted effect.
        deals: number of deals; errors are clustered by deal.
    """

    rows: tuple[StyleRow, ...]
    effects: tuple[StyleEffect, ...]
    alike: tuple[str, ...]
    deals: int


def style_control(
    battles: Iterable[Battle], names: Sequence[str], plain: Standings, *, seated: bool = False
) -> StyleControl:
    """Fits ratings with style held equal.

    Args:
        battles: in any order.
        names: counts in the ``style`` of the battles; ``format`` means headers, lists and bold.
        plain: standings of the same battles; ratings are centred on the same policies.
        seated: whether the first of a battle is on the first seat; its advantage is then fitted.

    Raises:
        ValueError: if a battle lacks a count, a count is not a number of 0 or more, both sides are always equal, the policies
            alone determine a covariate, or all battles are of one deal.
    """
    kept = [battle for battle in battles if battle.first != battle.second]
    wanted = _expanded(names)
    columns = {name: _column(kept, name) for name in wanted}
    alike = tuple(name for name, values in columns.items() if not values.any())
    comparisons = comparisons_of(kept, seated=seated)
    if len(alike) == len(wanted):
        raise ValueError(f"style: expected results whose sides differ in {', '.join(wanted)}, got none")
    terms = [Term(name, values) for name, values in columns.items() if name not in alike]
    _check_separable(comparisons, terms)
    result = fit_terms(comparisons, terms, BradleyTerryOptions(prior_sd="fitted"))
    reach = result.fitted.reach
    effects = (
        StyleEffect(name, value, value - reach * error, value + reach * error) for name, value, error in result.effects
    )
    return StyleControl(_rows(result.fitted, plain), tuple(effects), alike, result.fitted.clusters)


def _expanded(names: Sequence[str]) -> tuple[str, ...]:
    """Returns the requested counts, each once."""
    if isinstance(names, str) or not names or not all(isinstance(name, str) and name for name in names):
        raise ValueError(f"style: expected names such as ('length', 'format'), got {names!r:.80}")
    return tuple(dict.fromkeys(count for name in names for count in GROUPS.get(name, (name,))))


def _column(battles: Sequence[Battle], name: str) -> Floats:
    """Returns the excess of the first side in doublings of 1 + count, shape (m,).

    Raises:
        ValueError: if a battle lacks the count, or it is not a number of 0 or more.
    """
    counts = []
    for battle in battles:
        check_style(battle.style)
        if name in battle.style:
            counts.append(battle.style[name])
    if len(counts) < len(battles):
        others = ", ".join(sorted({other for battle in battles for other in battle.style}))
        raise ValueError(
            f"style: expected {name!r} of both texts in all {len(battles)} results, got it in {len(counts)}; these results have"
            f" {others[:200] or 'no style'}"
        )
    logarithms = np.log2(1 + np.array(counts, dtype=float).reshape(-1, 2))
    column: Floats = logarithms[:, 0] - logarithms[:, 1]
    return column


def check_style(style: object) -> None:
    """Checks the style of a result.

    Raises:
        ValueError: if it does not map names to a number of 0 or more for each side.
    """
    if not isinstance(style, Mapping):
        raise ValueError(f"style: expected counts by name, such as {{'length': (412, 230)}}, got {style!r:.80}")
    for name, pair in style.items():
        if not isinstance(name, str) or not _is_pair(pair):
            raise ValueError(f"style: expected a number of 0 or more for each side of {name!r:.60}, got {pair!r:.80}")


def _is_pair(pair: object) -> bool:
    return isinstance(pair, Sequence) and len(pair) == 2 and all(map(_is_count, pair))


def _is_count(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and 0 <= float(value) <= _MOST


def _check_separable(comparisons: Comparisons, terms: Sequence[Term]) -> None:
    """Checks that results of the same policies vary in style.

    Raises:
        ValueError: if policies and other covariates determine a covariate.
    """
    size, rows = len(comparisons.policies), np.arange(len(comparisons.score))
    ones = np.ones(len(rows))
    signs, index = np.concatenate((ones, -ones)), np.concatenate((comparisons.first, comparisons.second))
    pairs = sparse.csr_matrix((signs, (np.tile(rows, 2), index)), (len(rows), size))
    design = sparse.hstack((pairs, *(sparse.csr_matrix(term.values[:, None]) for term in terms)), format="csr")
    for place, term in enumerate(terms, size):
        before, values = design[:, :place], term.values
        products = (before.T @ before).toarray()
        left = values - before @ (np.linalg.pinv(products, hermitian=True) @ (before.T @ values))
        if left @ left <= _TOLERANCE * (values @ values):
            raise ValueError(
                f"style: expected results in which {term.name!r} varies by itself, but"
                f" {', '.join(['who plays', *(other.name for other in terms[: place - size])])} determine it"
            )


def _rows(fitted: BradleyTerryFit, plain: Standings) -> tuple[StyleRow, ...]:
    """Returns the rows, with ratings centred on the anchors of the plain standings."""
    about = {row.policy: row for row in plain.rows}
    size = len(fitted.policies)
    anchors = np.array([about[policy].is_anchor for policy in fitted.policies])
    linked = np.array([about[policy].is_linked for policy in fitted.policies])
    contrasts = np.eye(size) - anchors / anchors.sum()
    ratings = MEAN_RATING + contrasts @ fitted.ratings
    covariance = contrasts @ fitted.covariance @ contrasts.T
    errors = np.sqrt(np.clip(np.diag(covariance), 0, None))
    chosen = np.flatnonzero(linked)
    one, other = (chosen[index] for index in np.triu_indices(len(chosen), 1))
    lead = (ratings[one] - ratings[other]) / difference_errors(covariance, one, other)
    above = established_above(lead, covariance, one, other, degrees=fitted.clusters - 1)
    order = sorted(range(size), key=lambda index: (-round(float(ratings[index]), 6), index))
    return tuple(
        StyleRow(
            fitted.policies[index],
            1 + int(above[:, index].sum()),
            size - int(above[index].sum()),
            float(ratings[index]),
            float(ratings[index] - fitted.reach * errors[index]) if linked[index] else None,
            float(ratings[index] + fitted.reach * errors[index]) if linked[index] else None,
            about[fitted.policies[index]].rating,
        )
        for index in order
    )
