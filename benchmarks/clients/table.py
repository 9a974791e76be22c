"""The table of the client trials: a row for every trial of a client, a column for every environment, and notes."""

from collections.abc import Sequence

from benchmarks.clients.trials import ACCEPTED, Row
from llmarena_envs.catalogue import CATALOGUE

_FORMS = {"vector": "vector", "text": "text", "parallel": "vector, parallel"}


def table(rows: Sequence[Row]) -> str:
    """Returns rows as a Markdown table with its notes; a row without an environment shows in the first column."""
    names = [entry.name for entry in CATALOGUE]
    titles = [name.rsplit("_v", 1)[0].replace("_", " ") for name in names]
    lines = [f"| client | trial | form | {' | '.join(titles)} |", "|---" * (3 + len(names)) + "|"]
    notes = _Notes()
    for line in dict.fromkeys((row.client, row.trial, row.form) for row in rows):
        of_line = {row.game or names[0]: row for row in rows if (row.client, row.trial, row.form) == line}
        cells = [notes.cell(of_line[name]) if name in of_line else "" for name in names]
        lines.append(f"| `{line[0]}` | {line[1]} | {_FORMS.get(line[2], '')} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", *(f"{number}. {note}" for number, note in enumerate(notes.texts, 1))])


class _Notes:
    """The notes below a table: one for all errors of a kind in one trial of a client.

    Attributes:
        texts: the notes in order.
    """

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._numbers: dict[tuple[str, ...], int] = {}

    def cell(self, row: Row) -> str:
        """Returns a verdict with the number of its note."""
        if row.verdict == ACCEPTED and not row.peer_reason:
            return row.verdict
        if row.verdict == ACCEPTED:
            text = f"PettingZoo's `{row.peer}` is not accepted: `{_code(row.peer_reason)}`"
        else:
            text = f"`{_code(row.reason)}`"
        error = row.peer if row.verdict == ACCEPTED else row.reason.split(":")[0]
        kind = (row.client, row.trial, row.verdict, error)
        if kind not in self._numbers:
            if text not in self.texts:
                self.texts.append(text)
            self._numbers[kind] = self.texts.index(text) + 1
        return f"{row.verdict} ({self._numbers[kind]})"


def _code(text: str) -> str:
    return text.replace("`", "'").replace("|", "/")
