"""The rating harness: seeded matches, ratings, leaderboards and reports.

Data flows one way: a schedule yields matches, the runner plays them into records, and everything else (ratings, tables,
pages) is a function of the records.

The functions here rate results of any origin. Battles are ``(first, second, score)`` tuples with 1 for a win of the first, 0.5
for a tie and 0 for a loss; ``rating.Battle`` tuples, which also hold deal, weight and style; or a table with columns of these
names, such as a DataFrame of pandas.

    >>> import rating
    >>> battles = [("ann", "bob", 1), ("bob", "cid", 1), ("cid", "ann", 0), ("bob", "ann", 0.5), ("cid", "bob", 0.5)]
    >>> [row.policy for row in rating.standings(battles).rows]
    ['ann', 'bob', 'cid']
    >>> fitted = rating.fit(battles)
    >>> max(zip(fitted.ratings, fitted.policies))[1]  # ratings are in Elo
    'ann'
    >>> print(rating.leaderboard(battles))  # doctest: +ELLIPSIS
    battles...

``rating.compare(battles, "ann", "bob")`` tests whether one is better, at any time.
``rating.read_battles(path)`` reads logs of other tools.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rating.api import compare, fit, leaderboard, standings
    from rating.readers import read_battles
    from rating.readers.style import style_of
    from rating.stats.results import Battle

__all__ = ["Battle", "compare", "fit", "leaderboard", "read_battles", "standings", "style_of"]

_HOMES = {
    "Battle": "rating.stats.results",
    "compare": "rating.api",
    "fit": "rating.api",
    "leaderboard": "rating.api",
    "read_battles": "rating.readers",
    "standings": "rating.api",
    "style_of": "rating.readers.style",
}
"""Modules of the public names, which are imported on first use."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
