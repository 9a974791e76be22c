"""Win matrices: tables of the wins of the row over the column."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from llmarena_envs.core.options import OptionError
from rating.judgements import NOTHING
from rating.readers.results import MOST_BATTLES, Rejected, Result, battle_of, finite_number, name_of
from rating.readers.rows import UnreadableRow, each_row


def is_matrix(columns: Sequence[str], names: Sequence[str]) -> bool:
    """Returns whether a table with these columns is a win matrix; ``names`` are the first cells of its rows."""
    others = [name for name in columns[1:] if name]
    return len(others) > 1 and sum(name in others for name in names) * 2 > len(names)


def read_matrix(paths: Sequence[Path], metric: str = "") -> Iterator[Result | Rejected]:
    """Yields a result for every whole win of the row over the column, and one tie for the fractional rest of a pair.

    A tie is half a win for each policy, so cells may hold fractions.

    Raises:
        OptionError: if a matrix states more than ``MOST_BATTLES`` results.
    """
    for path in paths:
        wins: dict[tuple[str, str], float] = {}
        for where, row in each_row(path, fold=str):
            if isinstance(row, UnreadableRow):
                yield Rejected(path, where, row.reason)
                continue
            try:
                wins |= _matrix_row({name: str(cell) for name, cell in row.items()}, wins)
            except OptionError as error:
                yield Rejected(path, where, str(error))
            if len(wins) > MOST_BATTLES:
                break
        games = max(len(wins), sum(wins.values()))
        if games > MOST_BATTLES:
            raise OptionError(f"{path}: expected at most {MOST_BATTLES} games or cells, got {games:.0f}")
        for first, second in sorted({(min(pair), max(pair)) for pair in wins}):
            yield from _games(first, second, wins.get((first, second), 0.0), wins.get((second, first), 0.0))


def _matrix_row(row: dict[str, str], known: Mapping[tuple[str, str], float]) -> dict[tuple[str, str], float]:
    """Returns the wins of a row by pair; empty cells and the diagonal are skipped."""
    (_, policy), *cells = row.items()
    policy = name_of(policy)
    if not cells:
        raise OptionError("expected a name and a cell for every policy, got a name only")
    wins: dict[tuple[str, str], float] = {}
    for column, cell in cells:
        other = name_of(column)
        if other == policy or cell.casefold() in ("", "-", *NOTHING):
            continue
        if (policy, other) in known:
            raise OptionError(f"expected one row for each policy, got a second one for {policy!r:.60}")
        wins[policy, other] = finite_number(other, cell)
        if wins[policy, other] < 0:
            raise OptionError(f"{other}: expected a number of wins of 0 or more, got {cell:.60}")
    return wins


def _games(first: str, second: str, won: float, lost: float) -> Iterator[Result]:
    whole = int(won), int(lost)
    for score, count in zip((1.0, 0.0), whole, strict=True):
        yield from itertools.repeat(Result(battle_of((first, second), score)), count)
    rest = won - whole[0], lost - whole[1]
    if sum(rest) > 1e-9:
        yield Result(battle_of((first, second), rest[0] / sum(rest), weight=sum(rest)))
