"""Tables of the studies, printed as Markdown row by row."""

from collections.abc import Iterable, Sequence


def print_table(header: str, rows: Iterable[Sequence[str]]) -> None:
    """Prints a table.

    Args:
        header: headings, separated by ``|``.
        rows: cells by row, printed as soon as they are computed.
    """
    print(f"| {header} |\n{'|---' * (header.count('|') + 1)}|")
    for row in rows:
        print(f"| {' | '.join(row)} |", flush=True)
