"""Coverage of printed 95 % intervals, by simulation with policies of known strength.

    python -m research.coverage
    python -m research.coverage --only ties seat

Every row draws data sets, computes the intervals of a leaderboard, and counts how often the interval of a policy holds its true
value. Where the Bradley-Terry model does not hold (ties, non-transitive pools), the true rating is the one that endless play of
the same kind would give.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from benchmarks.options import option, parse
from research.coverage import means, ratings, style
from research.coverage.trials import Setting, measure, table

ROWS: tuple[Setting, ...] = (*ratings.rows(), *means.rows(), *style.rows())


@dataclass(frozen=True)
class Options:
    """Options of the study."""

    runs: int = option(300, "data sets of each row", smoke=1)
    seed: int = option(0, "seed of all data")
    only: tuple[str, ...] = option((), "rows whose name contains one of these")
    smoke: bool = option(False, "the smallest size, which only shows that everything runs")


def chosen_rows(only: Iterable[str]) -> list[Setting]:
    """Returns the rows whose name contains one of the words, or all without any."""
    words = tuple(only)
    return [row for row in ROWS if not words or any(word in row.name for word in words)]


def main(options: Options) -> None:
    """Simulates and prints the table."""
    print(table([measure(row, options.runs, options.seed) for row in chosen_rows(options.only)]))


if __name__ == "__main__":
    main(parse(Options, __doc__))
