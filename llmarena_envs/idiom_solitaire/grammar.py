"""Grammar of idioms and rulings in a reply."""

import re
from collections.abc import Callable
from functools import partial

from llmarena_envs.core.failures import Failure, ParseError
from llmarena_envs.core.judging import read_ruling as read_judged
from llmarena_envs.core.reading.grammar import NOBODY, NOT_MEANT
from llmarena_envs.core.reading.markup import narrow, own_turns, unwrap
from llmarena_envs.core.replies import Grammar, clean_text, find, read_part
from llmarena_envs.idiom_solitaire.characters import HAN, LENGTH, bare, is_idiom_shaped
from llmarena_envs.idiom_solitaire.game import RESIGN, Ruling

_NOUNS = "(?:下一个)?成语|接龙|我接|(?:next[ ]+)?idiom|chengyu"
_MAX_RUN = 12
"""Maximum number of Chinese characters treated as an idiom of wrong length, not as a sentence."""

_MAX_CHAIN = 400
"""Maximum number of idioms of a chain written before the player's own."""

_RUN = rf"[{HAN}]{{{LENGTH}}}(?![{HAN}])"
_SPACED = rf"[{HAN}](?:[ \t]++[{HAN}]){{{LENGTH - 1}}}(?![ \t]*+[{HAN}])"  # 画 龙 点 睛
_IDIOM = rf"(?:{_RUN}|{_SPACED})"
_ARROW = r"[\s\"']*+(?:[→⇒➔➜➡]|[-=]{1,3}>)[\s\"']*+"
_CHAIN = re.compile(rf"(?:(?P<before>{_IDIOM}){_ARROW}){{0,{_MAX_CHAIN}}}+(?P<idiom>{_IDIOM})")
_INTERRUPTED = re.compile(rf"[{HAN}](?:[ \t,、·-]{{0,3}}+[{HAN}]){{0,{_MAX_RUN - 1}}}+(?![{HAN}])")
_OPENING = re.compile("我(?:选择?|接|出|回答|的(?:成语|答案|回答)是)")
_CANNOT = (
    r"接不(?:上来?|下去|住|了)|[没无]法(?:再?接|继续)(?:上|下去)?|没有?(?:成语)?可接(?:的(?:成语)?)?|"
    r"想不(?:[出起]来?|到(?=了|其他|别的|合适|可接|成语|四字))(?:其他的?|别的|合适的|可接的)?(?:四字)?(?:成语)?"
)
_GIVES_UP = (
    rf"(?:我|本人|实在|真的|确实|已经|也|都|还是|只好|只能|选择|决定|一时){{0,4}}(?:(?:认输|服输|投降|放弃)(?:[本这此][局轮])?|{_CANNOT})"
    rf"(?:了|啦|吧)?(?![{HAN}])"
)
_GIVES_UP_IN_ENGLISH = (
    r"(?:i(?:'ll| will| have to| must)?[ ])?(?:resign|give up|concede|surrender)(?: (?:the|this) (?:match|game))?\b|"
    r"i (?:can't|cannot|can not) (?:go on|continue|think of (?:one|any|anything|an idiom))\b"
)
_SORRY = r"(?:(?:对不起|抱歉|不好意思|好吧|唉|sorry)[ ,.!。、]*+){0,3}+"
_RESIGNATION = re.compile(rf"{_SORRY}(?:(?:{_GIVES_UP}|{_GIVES_UP_IN_ENGLISH})[ ,.!。、;]*+){{1,3}}+", re.IGNORECASE)
"""Resignation by a player. Some have four characters, but are no idioms."""

_OR = r"[ \t\"']*+(?:[,、/;|&+]|或者?是?|还是|[和与及]|\bor\b|\band\b)[ \t\"']*+"
_JOINED = re.compile(rf"(?P<first>[{HAN}]{{{LENGTH}}}){_OR}(?P<second>{_RUN})", re.IGNORECASE)
_MAX_LINE = 200
_ALONE = re.compile(
    rf"(?!\s*+[-*•·+][ ])[^\w]*+(?:(?P<first>[{HAN}]{{{LENGTH}}})(?:{_OR}|[ \t]++)(?P<second>{_RUN})|(?P<only>{_IDIOM}))[^\w:]*+",
    re.IGNORECASE,
)
_OTHER_WORDS = re.compile(r"\w")

_END_OF_RULING = rf"(?![A-Za-z{HAN}])"
_NO = (
    r"(?:not?\b(?:[ \t]++(?:valid|genuine|an?[ \t]++idiom))?|invalid|false|reject(?:ed)?|"
    r"(?:否|不是|不算|无效)(?:成语)?)"
)
_YES = r"(?:yes|valid|genuine|true|accept(?:ed)?|(?:是的|是|算|有效)(?:成语)?)"
_ABSTAIN = r"(?:abstain|unsure|弃权|不确定|不知道)"
_RULINGS = tuple(
    (ruling, re.compile(pattern + _END_OF_RULING, re.IGNORECASE))
    for ruling, pattern in ((Ruling.NO, _NO), (Ruling.YES, _YES), (Ruling.ABSTAIN, _ABSTAIN))
)


def read_idiom(reply: str, agent: str, continues: Callable[[str], bool]) -> str:
    """Reads the idiom or resignation in a player's reply.

    Args:
        reply: the player's reply.
        agent: the player.
        continues: returns whether an idiom is the last one of the chain: a player can repeat the chain with its own idiom
            at the end.

    Raises:
        ParseError: if there is no idiom of four characters.
    """
    if is_idiom_shaped(reply) and not _RESIGNATION.fullmatch(reply):
        return bare(reply)
    grammar = Grammar(partial(_read, continues), nouns=_NOUNS)
    try:
        return find(reply, grammar, agent).value
    except ParseError as error:
        if error.reason.name not in ("nothing_stated", "unclear"):
            raise
        alone = _alone(reply)
        if len(alone) > 1:
            raise _several(alone[0], alone[-1]) from None
        if alone and error.reason.name == "nothing_stated":
            return alone[0]
        run = _only_run(reply)
        if run:
            raise _wrong_length(run) from None
        raise


def _read(continues: Callable[[str], bool], text: str, labelled: bool) -> tuple[str, int] | None:
    """Reads an idiom, the chain with an idiom at its end, or a resignation at the beginning of a text."""
    resignation = _RESIGNATION.match(text)
    if resignation:
        return RESIGN, resignation.end()
    joined = _JOINED.match(text) if labelled else None
    if joined:
        raise _several(joined["first"], joined["second"])
    opening = _OPENING.match(text)
    matches = [_CHAIN.match(text, start) for start in ((0, opening.end()) if opening else (0,))]
    for match in matches:
        if match and (match["before"] is None or continues(match["before"])):
            return bare(match["idiom"]), match.end()
    if any(matches):  # a chain, but not an extension of the current one
        if labelled:
            raise ParseError(Failure.UNPARSABLE, "unclear")
        return None
    run = _INTERRUPTED.match(text) if labelled else None
    if run is None:
        return None
    idiom = bare(run[0])
    if len(idiom) != LENGTH:
        raise _wrong_length(idiom)
    return idiom, run.end()


def _alone(reply: str) -> list[str]:
    """Returns the distinct idioms on lines of their own, including joined ones, of the player's last turn.

    Keeps idioms below an ambiguous header, and drops those below a header that rejects them.
    """
    text = narrow(read_part(reply))
    for start, end in own_turns(text):
        lines = [line for line in unwrap(text[start:end])[0].split("\n") if line.strip()]
        idioms: dict[str, None] = {}
        for above, line in zip(["", *lines], lines, strict=False):
            alone = _ALONE.fullmatch(line[:_MAX_LINE])
            if alone and not _RESIGNATION.match(alone["only"] or "") and not NOT_MEANT.search(above[-_MAX_LINE:]):
                idioms |= {bare(idiom): None for idiom in alone.groups() if idiom}
        if idioms:
            return list(idioms)
    return []


def _only_run(reply: str) -> str:
    """Returns the Chinese characters of a reply without other content if possibly an idiom, or nothing."""
    text = clean_text(read_part(reply))
    characters = bare(text) if len(text) <= 4 * _MAX_RUN else ""
    plain = len(characters) == len(_OTHER_WORDS.findall(text)) and len(characters) <= _MAX_RUN
    return characters if plain and len(characters) != LENGTH else ""


def _wrong_length(characters: str) -> ParseError:
    return ParseError(Failure.UNPARSABLE, "not_four", count=len(characters))


def _several(first: str, other: str) -> ParseError:
    return ParseError(Failure.UNPARSABLE, "several_idioms", first=bare(first), other=bare(other))


def has_extra_text(reply: str, idiom: str) -> bool:
    """Returns whether a reply contains letters or digits besides its idiom, against the instruction."""
    return "".join(_OTHER_WORDS.findall(reply)) != idiom


def read_ruling(reply: str) -> Ruling:
    """Reads a judge's yes, no or abstention.

    Raises:
        ParseError: if there is no ruling or an ambiguous one; see ``core.judging.read_ruling``.
    """
    return read_judged(reply, _RULING)


def _read_ruling(text: str, labelled: bool) -> tuple[Ruling, int] | None:
    for ruling, pattern in _RULINGS:
        match = pattern.match(text)
        if match:
            return ruling, match.end()
    return None


_RULING = Grammar(_read_ruling, nouns="ruling|verdict|裁决|裁定|判断|判定", seats=NOBODY, bare="last")
