"""Online Elo ratings."""

from collections.abc import Iterable

from rating.stats.results import duels
from rating.store.outcome import Outcome


def elo(outcomes: Iterable[Outcome], *, k: float = 4.0, start: float = 1000.0) -> dict[str, float]:
    """Returns Elo ratings after all finished two-player matches, by policy name.

    Scale 400, base 10; a tie is half a win; matches are applied in match-number order. The defaults are from Auto-Arena (arXiv
    2405.20267v1). The result depends on the order of the matches: publish ``rating.stats.bradley_terry`` instead.

    Args:
        outcomes: outcomes of one environment; void ones are skipped.
        k: largest change by one match.
        start: rating of a new policy.
    """
    ratings: dict[str, float] = {}
    for duel in duels(outcomes):
        first, second = ratings.setdefault(duel.first, start), ratings.setdefault(duel.second, start)
        change = k * (duel.score - 1 / (1 + 10 ** ((second - first) / 400)))
        ratings[duel.first], ratings[duel.second] = first + change, second - change
    return dict(sorted(ratings.items()))
