"""A bijective renaming of the names in a game's texts, and its inverse for replies."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import NamedTuple

from llmarena_envs.core.reading.grammar import PLAYER, player_name
from llmarena_envs.isomorph.declared import Declared, Group, Phrase, invented_words

INERT = "unknown"
"""Replaces an original name in a reply where no invented name corresponds to it."""

ENDINGS = ("", "s", "ed", "ing", "er", "ers", "ment", "ments")
"""Endings of the invented words, in the order of the forms of an original one."""

_START, _END = r"(?<![A-Za-z0-9])", r"(?![A-Za-z0-9])"
_SINGLE_START = r"(?<![A-Za-z0-9.'’])"
"""Start of a single letter in a reply: the letters of ``e.g.`` and ``it's`` are no names."""

_CAPITALS = "DGKTVZ"
"""Letters pronounced with a consonant first, so the article of each is ``a``."""

_LETTERS = "bcfhjnpqrw"
"""Letters that are no capitals above, and that no contraction such as ``I'm`` ends in."""

_ENGLISH = frozenset(
    "be bi da de di do du fa fi ga go ka ki ko la le li lo ma me mi mu na no nu pa pi ra re ro ta te ti to".split()
)
_SYLLABLES = tuple(a + b for a in "bdfgklmnprtvz" for b in "aeiou" if a + b not in _ENGLISH)


_PLAYER = re.compile(rf"{_START}(?:[Pp]layer|PLAYER)[ _](\d{{1,3}}){_END}")


class _Rule(NamedTuple):
    """A pattern of names, and the function that returns the renamed pieces of a match by their spans."""

    pattern: re.Pattern[str]
    pieces: Callable[[re.Match[str]], Iterator[tuple[int, int, str]]]


class Renaming:
    """The names of one game under one seed.

    Args:
        declared: the names that are renamed.
        agents: the agents of the game.
        seed: seed of the new names.
        met: words of the game's texts; no new name is one of them.

    Attributes:
        names: invented name of each agent.
        table: invented name of each renamed form of a word.
    """

    def __init__(self, declared: Declared, agents: Sequence[str], seed: str, met: frozenset[str] = frozenset()) -> None:
        self._given = declared, tuple(agents), seed, met
        draw = Random(seed)
        capitals, letters, syllables, invented = (
            draw.sample(each, len(each)) for each in (_CAPITALS, _LETTERS, _SYLLABLES, invented_words())
        )
        words = (word for word in invented if word not in met)
        pools = {"word": words, "capital": iter(capitals), "letter": iter(letters), "syllable": iter(syllables)}
        self.names = {agent: next(words).title() for agent in agents}
        self.table: dict[str, str] = {}
        self._new = {
            name.casefold(): declared.player.format(agent.removeprefix("player_")) if _PLAYER.match(agent) else agent
            for agent, name in self.names.items()
        }
        self._singles: dict[str, str] = {}
        self._exact: dict[str, str] = {}
        self._old = {agent.casefold(): name for agent, name in self.names.items()}
        self._groups = {name: dict(_named(group, pools[group.style])) for name, group in declared.groups.items()}
        for name, group in declared.groups.items():
            self._learn(group, self._groups[name])
        self._order = [self._groups[name] for name in declared.order]
        self._blocked = [re.compile(pattern, re.IGNORECASE) for pattern in declared.blocked]
        self._rules = [
            *(_phrase_rule(phrase, self._fill) for phrase in declared.phrases),
            *(self._region_rule(pattern) for pattern in declared.regions),
            _Rule(_PLAYER, self._player),
            _Rule(_pattern(agents), self._agent),
            _Rule(_pattern(self.table, r"(?:[Aa](?P<n>n) )?"), self._word),
        ]
        self._reading = self._reading_pattern()

    def __reduce__(self) -> tuple[type["Renaming"], tuple[Declared, tuple[str, ...], str, frozenset[str]]]:
        return Renaming, self._given

    def _learn(self, group: Group, table: Mapping[str, str]) -> None:
        """Adds the names of a group to the tables of both directions."""
        if not group.contextual:
            self.table.update(table)
            self._old |= {old.casefold(): new for old, new in table.items()}
        if group.style == "syllable":
            return
        for old, new in table.items():
            if len(new) == 1:
                self._singles[new.casefold()] = old
            else:
                self._exact.setdefault(new, old)
                self._new.setdefault(new.casefold(), old)

    def write(self, text: str) -> str:
        """Returns a text of the game with its names renamed."""
        pieces = [(text, False)]
        for rule in self._rules:
            pieces = [part for piece in pieces for part in _split(piece, rule)]
        return "".join([part for part, _ in pieces])

    def read(self, reply: str) -> str:
        """Returns a reply with the original names for the renamed ones, and the original ones made unreadable."""
        for pattern in self._blocked:
            reply = pattern.sub(INERT, reply)
        if self._order:
            reply = self._refuse_other_order(reply)
        return self._reading.sub(self._read_name, reply)

    def _refuse_other_order(self, reply: str) -> str:
        """Makes pairs such as column and row unreadable where the row comes first."""
        first, second = (f"[{''.join(table.values())}]" for table in self._order)
        return re.sub(rf"{_START}{second}[ \t]*[,;]?[ \t]*{first}{_END}", INERT, reply, flags=re.IGNORECASE)

    def _read_name(self, match: re.Match[str]) -> str:
        text = match[0]
        key = text.casefold()
        if match["single"] is not None:
            return self._singles[key]
        if match["player"] is not None:
            return self.names.get(player_name(text), INERT)
        if match["old"] is not None:
            return self._old[key]
        return self._exact.get(text) or self._new[key]

    def _reading_pattern(self) -> re.Pattern[str]:
        singles = "|".join(map(re.escape, self._singles)) or r"(?!)"
        return re.compile(
            rf"{_SINGLE_START}(?P<single>{singles}){_END}|{_START}(?:(?P<new>{_longest_first(self._new)})"
            rf"|(?P<player>{PLAYER})|(?P<old>{_longest_first(self._old)})){_END}",
            re.IGNORECASE,
        )

    def _player(self, match: re.Match[str]) -> Iterator[tuple[int, int, str]]:
        name = self.names.get(f"player_{int(match[1])}")
        if name is not None:
            yield *match.span(), name

    def _agent(self, match: re.Match[str]) -> Iterator[tuple[int, int, str]]:
        yield *match.span(), self.names[match["token"]]

    def _word(self, match: re.Match[str]) -> Iterator[tuple[int, int, str]]:
        if match["n"]:
            yield *match.span("n"), ""
        yield *match.span("token"), self.table[match["token"]]

    def _region_rule(self, source: str) -> _Rule:
        pattern = re.compile(source)
        inner = {name: _pattern(self._groups[name]) for name in pattern.groupindex}

        def pieces(match: re.Match[str]) -> Iterator[tuple[int, int, str]]:
            for name in pattern.groupindex:
                for token in inner[name].finditer(match[name] or ""):
                    start = match.start(name)
                    yield start + token.start(), start + token.end(), self._groups[name][token["token"]]

        return _Rule(pattern, pieces)

    def _fill(self, template: str) -> str:
        """Fills in ``{group.token}`` and renames the words between."""
        parts = re.split(r"\{(\w+)\.([^{}]+)\}", template)
        filled = []
        for index in range(0, len(parts), 3):
            filled.append(_pattern(self.table).sub(lambda match: self.table[match["token"]], parts[index]))
            if index + 2 < len(parts):
                filled.append(self._groups[parts[index + 1]][parts[index + 2]])
        return "".join(filled)


def _named(group: Group, pool: Iterator[str]) -> Iterator[tuple[str, str]]:
    """Yields each form of the tokens of a group with its new name."""
    for token in group.tokens:
        new = next(pool)
        if group.style != "word":
            yield token, new.title() if group.title else new
            continue
        if group.forms == "exact":
            yield token, new.title()
            continue
        renamed = [f"{new}{ending}" for ending in ENDINGS]
        for old, form in zip(inflected(token, group.forms), renamed, strict=False):
            if old:
                yield from _in_all_cases(old, form).items()


def inflected(token: str, forms: str) -> list[str]:
    """Returns the forms of a word in the order of ``ENDINGS``."""
    base, *given = token.split("|")
    if given or forms == "fixed":
        return [base, *given]
    plural = f"{base}es" if base.endswith(("s", "x", "ch", "sh")) else f"{base}s"
    if forms == "noun":
        return [base, plural]
    stem = base.removesuffix("e")
    return [base, plural, f"{stem}ed", f"{stem}ing"]


def _in_all_cases(old: str, new: str) -> dict[str, str]:
    """Returns a word in small letters, with capitals, with a first capital and in capitals."""
    capitals = re.sub(r"(?<![A-Za-z'])[a-z]", lambda match: match[0].upper(), old)
    first = old[:1].upper() + old[1:]
    return {old: new, capitals: new.title(), first: new.title(), old.upper(): new.upper()}


def _longest_first(names: Iterable[str]) -> str:
    return "|".join([re.escape(name) for name in sorted(names, key=len, reverse=True)]) or r"(?!)"


def _pattern(table: Iterable[str], before: str = "") -> re.Pattern[str]:
    """Returns a pattern of the names of a table between word boundaries."""
    return re.compile(rf"{_START}{before}(?P<token>{_longest_first(table)}){_END}")


def _phrase_rule(phrase: Phrase, fill: Callable[[str], str]) -> _Rule:
    new = fill(phrase.new)

    def pieces(match: re.Match[str]) -> Iterator[tuple[int, int, str]]:
        yield *match.span(), new

    return _Rule(re.compile(re.escape(phrase.old)), pieces)


def _split(piece: tuple[str, bool], rule: _Rule) -> Iterator[tuple[str, bool]]:
    """Yields the parts of a text, each with whether it is renamed already."""
    text, renamed = piece
    if renamed:
        yield piece
        return
    end = 0
    for match in rule.pattern.finditer(text):
        for start, stop, new in rule.pieces(match):
            if start > end:
                yield text[end:start], False
            yield new, True
            end = stop
    if end < len(text):
        yield text[end:], False
