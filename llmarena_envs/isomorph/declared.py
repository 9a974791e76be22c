"""The names that a game renames, from ``games/<game>.toml``."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import NamedTuple

_FOLDER = resources.files("llmarena_envs.isomorph")


class Group(NamedTuple):
    """Names of one kind.

    Attributes:
        tokens: the original names; words in small letters. Irregular forms follow after ``|``, in the order of
            ``renaming.ENDINGS``; an empty one is left out.
        style: what replaces them: a ``word``, a ``capital``, a ``letter`` or a ``syllable``.
        forms: forms of a word: ``noun`` (plural), ``verb`` (three endings), ``fixed`` (no others) or ``exact`` (not even in
            other letters).
        title: whether a syllable begins with a capital.
        contextual: whether the names are renamed in the regions only.
    """

    tokens: tuple[str, ...]
    style: str = "word"
    forms: str = "noun"
    title: bool = False
    contextual: bool = False


class Phrase(NamedTuple):
    """A phrase about names and its replacement, where ``{group.token}`` is the new name of a token."""

    old: str
    new: str


class Declared(NamedTuple):
    """The names of a game.

    Attributes:
        groups: groups of names.
        regions: patterns of names in context; each named group of a pattern holds names of the group so called.
        phrases: phrases that are replaced as a whole.
        order: two groups whose names a reply states in this order only.
        blocked: patterns of further original names in replies, e.g. synonyms; they are made unreadable.
        player: the name of a player in moves, with ``{}`` for its number.
    """

    groups: Mapping[str, Group]
    regions: tuple[str, ...] = ()
    phrases: tuple[Phrase, ...] = ()
    order: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()
    player: str = "player_{}"


@cache
def declared(game: str) -> Declared | None:
    """Returns the declared names of a game; ``None`` if there is no declaration."""
    file = _FOLDER.joinpath("games", f"{game.replace('/', '.')}.toml")
    if not file.is_file():
        return None
    table = tomllib.loads(file.read_text(encoding="utf-8"))
    groups = {
        name: Group(tuple(group), "word")
        if isinstance(group, list)
        else Group(**{**group, "tokens": tuple(group["tokens"])})
        for name, group in table["groups"].items()
    }
    phrases = tuple(Phrase(each["old"].strip("\n"), each["new"].strip("\n")) for each in table.get("phrases", ()))
    return Declared(
        groups,
        tuple(table.get("regions", ())),
        phrases,
        tuple(table.get("order", ())),
        tuple(table.get("blocked", ())),
    )


@cache
def invented_words() -> tuple[str, ...]:
    """Returns the invented words: pronounceable, of three consonants and two vowels, and in no dictionary."""
    return tuple(_FOLDER.joinpath("words.txt").read_text(encoding="utf-8").split())
