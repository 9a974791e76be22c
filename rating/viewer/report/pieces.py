"""Texts of a pack of matches, stored as pieces: repeated lines and elements of drawings are stored once.

Observations repeat their beginning every turn, and successive drawings differ in a few elements.
"""

LINES, ELEMENTS = "\n", "><"
"""Separators of the pieces of texts and of drawings."""


class Pieces:
    """Pieces of the texts of a pack, numbered from 0.

    Attributes:
        size: total characters of the pieces.
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self.size = 0

    def runs(self, text: str, separator: str) -> list[int]:
        """Returns a text as runs of consecutive pieces: the first piece and the number of pieces of each run."""
        runs: list[int] = []
        end = -1
        for piece in text.split(separator):
            number = self._numbers.get(piece)
            if number is None:
                number = self._numbers[piece] = len(self._numbers)
                self.size += len(piece)
            if number == end:
                runs[-1] += 1
            else:
                runs += (number, 1)
            end = number + 1
        return runs

    def table(self) -> list[str]:
        """Returns the pieces in order."""
        return list(self._numbers)
