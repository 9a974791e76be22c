"""The link rule: by the same character or the same sound."""

from collections.abc import Callable
from functools import lru_cache
from zlib import crc32

from llmarena_envs.core.options import OptionError, check_choice
from llmarena_envs.idiom_solitaire.lexicon import Lexicon
from llmarena_envs.idiom_solitaire.pronunciation import pronounce, without_tone

CHAR = "char"
PINYIN_TONE = "pinyin_tone"
PINYIN = "pinyin"
LINKS = (CHAR, PINYIN_TONE, PINYIN)


class Links:
    """The link rule for the idioms of one list.

    Args:
        lexicon: the list.
        link: ``"char"``: start with the last character of the previous idiom; ``"pinyin_tone"``: with a character of
            the same sound and tone; ``"pinyin"``: of the same sound. If sources differ about a sound, any of them counts.
    """

    def __init__(self, lexicon: Lexicon, link: str) -> None:
        check_choice("link", link, LINKS)
        self.lexicon = lexicon
        self.link = link

    def heads(self, idiom: str) -> tuple[str, ...]:
        """Returns the possible link keys of an idiom's start."""
        return self._ends(idiom, 0)

    def tails(self, idiom: str) -> tuple[str, ...]:
        """Returns the possible link keys of an idiom's end."""
        return self._ends(idiom, -1)

    def _ends(self, idiom: str, index: int) -> tuple[str, ...]:
        if self.link == CHAR:
            return (self.lexicon.character(idiom[index]),)
        known = self.lexicon.readings.get(idiom)
        syllables = [*(known[index : index + 1 or None] if known else ()), pronounce(idiom)[index]]
        if self.link == PINYIN:
            syllables = [without_tone(syllable) for syllable in syllables]
        return tuple(dict.fromkeys(syllables))

    def may_follow(self, idiom: str, previous: str) -> bool:
        """Returns whether ``idiom`` can follow ``previous``; neither has to be listed."""
        tails = self.tails(previous)
        return any(head in tails for head in self.heads(idiom))

    def continuations(self, idiom: str) -> tuple[str, ...]:
        """Returns the listed idioms that can follow ``idiom``, possibly including itself, the most common first.

        If it ends on more than one sound, continuations are grouped by sound.
        """
        followers = _followers(self.lexicon, self.link)
        return tuple(dict.fromkeys(other for tail in self.tails(idiom) for other in followers.get(tail, ())))

    def precursors(self, idiom: str) -> tuple[str, ...]:
        """Returns the listed idioms that ``idiom`` can follow, possibly including itself."""
        leaders = _leaders(self.lexicon, self.link)
        return tuple(dict.fromkeys(other for head in self.heads(idiom) for other in leaders.get(head, ())))

    def __repr__(self) -> str:
        return f"Links({self.lexicon!r}, {self.link!r})"


@lru_cache(maxsize=8)
def _followers(lexicon: Lexicon, link: str) -> dict[str, tuple[str, ...]]:
    """Groups the idioms of a list by their start."""
    return _by_end(lexicon, Links(lexicon, link).heads)


@lru_cache(maxsize=8)
def _leaders(lexicon: Lexicon, link: str) -> dict[str, tuple[str, ...]]:
    """Groups the idioms of a list by their end."""
    return _by_end(lexicon, Links(lexicon, link).tails)


def _by_end(lexicon: Lexicon, ends_of: Callable[[str], tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    table: dict[str, list[str]] = {}
    for idiom in lexicon.by_rank:
        for end in ends_of(idiom):
            table.setdefault(end, []).append(idiom)
    return {end: tuple(idioms) for end, idioms in table.items()}


def unused(links: Links, chain: tuple[str, ...]) -> list[str]:
    """Returns the unused listed idioms that can follow a chain; see ``Links.continuations``."""
    return [idiom for idiom in links.continuations(chain[-1]) if idiom not in chain]


def goes_on(links: Links, chain: tuple[str, ...]) -> bool:
    """Returns whether a chain has a continuation in the list."""
    return any(idiom not in chain for idiom in links.continuations(chain[-1]))


@lru_cache(maxsize=16)
def choose_starts(lexicon: Lexicon, link: str, count: int, allow_dead_end: bool) -> tuple[str, ...]:
    """Returns a fixed sample of first idioms: the candidates with the lowest checksums.

    Args:
        lexicon: the list.
        link: the link rule.
        count: maximum size of the sample.
        allow_dead_end: whether to include idioms without a continuation.

    Raises:
        OptionError: if the sample is empty.
    """
    links = Links(lexicon, link)
    chosen: list[str] = []
    for idiom in sorted(lexicon.starts, key=lambda idiom: (crc32(idiom.encode()), idiom)):
        if len(chosen) == count:
            break
        if allow_dead_end or goes_on(links, (idiom,)):
            chosen.append(idiom)
    if not chosen:
        raise OptionError(
            f"idioms: expected one or more that another of the list can follow, got none in {lexicon!r}; add idioms, choose "
            "another link, or set allow_dead_end_start=True"
        )
    return tuple(chosen)
