"""The rating harness: seeded matches, ratings, leaderboards and reports.

Data flows one way: a schedule yields matches, the runner plays them into records, and everything else (ratings, tables,
pages) is a function of the records.

Who has results of their own needs none of that. Battles are ``(first, second, score)`` tuples with 1 for a win of the first, 0.5
for a tie and 0 for a loss, ``rating.Battle`` tuples, which also say what belongs together and how much it counts, or a table with
columns of these names, as a DataFrame of pandas.

    >>> import rating
    >>> battles = [("ann", "bob", 1), ("bob", "cid", 1), ("cid", "ann", 0), ("bob", "ann", 0.5), ("cid", "bob", 0.5)]
    >>> [row.policy for row in rating.standings(battles).rows]
    ['ann', 'bob', 'cid']
    >>> fitted = rating.fit(battles)
    >>> max(zip(fitted.ratings, fitted.policies))[1]  # ratings are in Elo
    'ann'
    >>> print(rating.leaderboard(battles))  # doctest: +ELLIPSIS
    battles...

``rating.compare(battles, "ann", "bob")`` says whether one is better, whenever one looks, and ``rating.read_battles(path)`` reads
logs of others.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rating.api.board import leaderboard
    from rating.api.comparison import compare
    from rating.api.ratings import fit, standings
    from rating.readers import read_battles
    from rating.readers.style import style_of
    from rating.stats.results import Battle

__all__ = ["Battle", "compare", "fit", "leaderboard", "read_battles", "standings", "style_of"]

_HOMES = {
    "Battle": "rating.stats.results",
    "compare": "rating.api.comparison",
    "fit": "rating.api.ratings",
    "leaderboard": "rating.api.board",
    "read_battles": "rating.readers",
    "standings": "rating.api.ratings",
    "style_of": "rating.readers.style",
}
"""Where the public names are; they are imported when they are asked for."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
