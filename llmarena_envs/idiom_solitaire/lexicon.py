"""A list of idioms with their equivalence and frequency."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from llmarena_envs.core.source import Source
from llmarena_envs.idiom_solitaire.characters import Folding, bare


class Lexicon:
    """An immutable list of idioms, shared by all copies of a game.

    Forms that differ only in traditional and simplified characters are one idiom with one key.

    Args:
        idioms: the idioms, each with its frequency: any number that is greater for a more common one. Of multiple forms of an
            idiom the first one is listed.
        folding: tables that make characters equal.
        sources: where the idioms come from.
        starts: candidates for the referee's first idiom; all by default.
        readings: pronunciation of the first and the last character of idioms, if known.
        recipe: a function and its arguments that rebuild the list in another process; without it, the list is copied.

    Attributes:
        by_rank: the idioms, the most common first.
        starts: candidates for the referee's first idiom, in the order of ``by_rank``.
        sources: where the idioms come from.
        readings: as given.
    """

    def __init__(
        self,
        idioms: Mapping[str, float],
        folding: Folding,
        sources: Sequence[Source],
        *,
        starts: Sequence[str] | None = None,
        readings: Mapping[str, tuple[str, str]] | None = None,
        recipe: tuple[Callable[..., "Lexicon"], tuple[Any, ...]] | None = None,
    ) -> None:
        self._folding = folding
        self._recipe = recipe
        self._forms: dict[str, str] = {}
        frequencies: dict[str, float] = {}
        for idiom, frequency in idioms.items():
            key = idiom.translate(folding.forms)
            self._forms.setdefault(key, idiom)
            frequencies[key] = max(frequency, frequencies.get(key, frequency))
        ranked = sorted(self._forms, key=lambda key: (-frequencies[key], key))
        self.by_rank = tuple(self._forms[key] for key in ranked)
        may_start = None if starts is None else {idiom.translate(folding.forms) for idiom in starts}
        self.starts = tuple(self._forms[key] for key in ranked if may_start is None or key in may_start)
        self.sources = tuple(sources)
        self.readings = readings or {}

    def key(self, text: str) -> str:
        """Returns the common key of all forms of an idiom."""
        return bare(text).translate(self._folding.forms)

    def find(self, text: str) -> str | None:
        """Returns an idiom in its listed form, or ``None`` if it is not listed.

        Args:
            text: the idiom in traditional or simplified characters; punctuation is ignored.
        """
        return self._forms.get(self.key(text))

    def character(self, character: str) -> str:
        """Returns the common key of all forms of a character."""
        return character.translate(self._folding.characters)

    def __len__(self) -> int:
        return len(self._forms)

    def __repr__(self) -> str:
        return f"Lexicon({len(self)} idioms from {', '.join(source.name for source in self.sources)})"

    def __copy__(self) -> "Lexicon":
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> "Lexicon":
        return self

    def __reduce__(self) -> str | tuple[Any, ...]:
        return self._recipe or super().__reduce__()
