"""TrueSkill match by match, with the rating history."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from rating.stats.results import Duel, duels
from rating.stats.trueskill_rating.closed_form import check_draws, update_duel
from rating.stats.trueskill_rating.options import TrueSkillOptions, TrueSkillRating
from rating.store.outcome import Outcome


class RatingStep(NamedTuple):
    """A policy's rating after one of its matches: match number, mean and standard deviation."""

    number: int
    mu: float
    sigma: float


@dataclass(frozen=True)
class TrueSkillResult:
    """Ratings after all matches.

    Attributes:
        ratings: by policy name.
        history: for each policy its rating after each of its matches, in match-number order.
    """

    ratings: dict[str, TrueSkillRating]
    history: dict[str, tuple[RatingStep, ...]]


def rate(outcomes: Iterable[Outcome], options: TrueSkillOptions | None = None) -> TrueSkillResult:
    """Rates finished two-player matches in match-number order.

    Args:
        outcomes: outcomes of one environment, in any order; void ones are skipped.
        options: parameters of the model.

    Raises:
        ValueError: if a match was a draw and ``draw_probability`` is 0; see also ``rating.stats.results.duels``.
    """
    running = RunningRatings(options or TrueSkillOptions())
    history: dict[str, list[RatingStep]] = {}
    for duel in duels(outcomes):
        running.add(duel)
        for name in (duel.first, duel.second):
            history.setdefault(name, []).append(RatingStep(duel.number, *running.ratings[name]))
    return TrueSkillResult(
        dict(sorted(running.ratings.items())), {name: tuple(history[name]) for name in sorted(history)}
    )


class RunningRatings:
    """TrueSkill ratings updated match by match.

    Args:
        options: parameters of the model.

    Attributes:
        ratings: by policy, after all added matches.
    """

    def __init__(self, options: TrueSkillOptions) -> None:
        self.ratings: dict[str, TrueSkillRating] = {}
        self._options = options
        self._start = TrueSkillRating(options.mu, options.sigma)

    def add(self, duel: Duel) -> None:
        """Rates the next match.

        Raises:
            ValueError: if it was a draw and ``draw_probability`` is 0.
        """
        check_draws((duel,), self._options)
        winner, loser = (duel.first, duel.second) if duel.score > 0 else (duel.second, duel.first)
        before = self.ratings.get(winner, self._start), self.ratings.get(loser, self._start)
        self.ratings[winner], self.ratings[loser] = update_duel(*before, duel.score == 0.5, self._options)
