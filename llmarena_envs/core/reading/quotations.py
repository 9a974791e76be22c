"""Quotations in a text: quotation marks, quoted lines, code, tags of quotations."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

_CLOSING = {
    "“": "”",
    "„": "“”",
    "‟": "”",
    "”": "”",
    "«": "»",
    "»": "«",
    "‹": "›",
    "「": "」",
    "『": "』",
    "｢": "｣",
    "《": "》",
    "‘": "’",
    "‚": "‘’",
    '"': '"',
    "＂": "＂",
    "'": "'",
}
_SINGLE = "'‘‚"
_STRAIGHT = "\"＂'”»"
"""Marks that can open or close, depending on their neighbours, and marks that open in few languages."""

_TAGS = "q|blockquote|code|pre|samp|kbd|cite"
_LINE = re.compile(r"[^\n]++\n?|\n")
_FENCE = re.compile(r"[ \t]*+(?P<mark>`{3,}+|~{3,}+)[ \t]*+(?P<language>[^\n`]*+)\n?\Z")
_QUOTED = re.compile(r"[ \t]*+[>＞][ \t]*+")
_SIGNS = "".join(sorted({*_CLOSING, *"".join(_CLOSING.values())}))
_MARK = re.compile(rf"`++|[{re.escape(_SIGNS)}]|<(?P<slash>/?)(?P<tag>{_TAGS})>", re.IGNORECASE)
_PARAGRAPH_END = re.compile(r"\n[ \t]*+\n")
_NOT_BLANK = re.compile(r"[^\n]")


class Quotation(NamedTuple):
    """A quotation in a text.

    Attributes:
        start: start of the quotation.
        end: its end.
        inner_start: start of its contents.
        inner_end: end of its contents.
        language: the language of a fence; ``None`` for other quotations.
        closed: whether its end is marked; otherwise the end is an upper bound.
    """

    start: int
    end: int
    inner_start: int
    inner_end: int
    language: str | None = None
    closed: bool = True


def find_quotations(text: str) -> list[Quotation]:
    """Returns the outermost quotations of a text, in order, in linear time.

    Quotations are lines that begin with ``>``, fences, inline code, text between quotation marks of any kind, and the contents
    of tags such as ``<q>``. An apostrophe is not a quotation mark.
    """
    blocks = list(_blocks(text))
    inline = _inline(cover(text, blocks, " ")) if _MARK.search(text) else ()
    return sorted([*blocks, *inline])


def cover(text: str, parts: "list[Quotation]", sign: str) -> str:
    """Returns a text with each character of its ordered parts, except line ends, replaced by a sign."""
    pieces, position = [], 0
    for part in parts:
        pieces += [text[position : part.start], _NOT_BLANK.sub(sign, text[part.start : part.end])]
        position = part.end
    return "".join(pieces) + text[position:]


def _blocks(text: str) -> Iterator[Quotation]:
    """Yields quoted lines and fences."""
    opened: re.Match[str] | None = None
    begun = inner = 0
    for line in _LINE.finditer(text):
        fence = _FENCE.match(line[0])
        if opened:
            if fence and fence["mark"].startswith(opened["mark"]) and not fence["language"].strip():
                yield Quotation(begun, line.end(), inner, line.start(), opened["language"].strip().lower())
                opened = None
        elif fence:
            opened, begun, inner = fence, line.start(), line.end()
        elif quoted := _QUOTED.match(line[0]):
            yield Quotation(line.start(), line.end(), line.start() + quoted.end(), line.end())
    if opened:
        yield Quotation(begun, len(text), inner, len(text), opened["language"].strip().lower(), closed=False)


def _inline(text: str) -> Iterator[Quotation]:
    marks = list(_MARK.finditer(text))
    closers: dict[str, list[int]] = defaultdict(list)
    for number, mark in enumerate(marks):
        if _may_close(text, mark):
            closers[mark[0].lower()].append(number)
    breaks = [match.start() for match in _PARAGRAPH_END.finditer(text)]
    done = 0
    for number, mark in enumerate(marks):
        sign = mark[0].lower()
        if mark.start() < done or not _may_open(text, mark):
            continue
        wanted = (sign,) if sign[0] == "`" else (f"</{mark['tag'].lower()}>",) if mark["tag"] else _CLOSING[sign]
        found = [
            closers[each][place]
            for each in wanted
            if (place := bisect_left(closers[each], number + 1)) < len(closers[each])
        ]
        place = bisect_left(breaks, mark.start())
        paragraph_end = breaks[place] if place < len(breaks) else len(text)
        closer = marks[min(found)] if found else None
        if closer and (closer.start() <= paragraph_end or not (sign[0] == "`" or sign in _SINGLE)):
            done = closer.end()
            yield Quotation(mark.start(), done, mark.end(), closer.start())
        elif sign[0] != "`" and sign not in _SINGLE and sign not in "”»":
            done = paragraph_end
            yield Quotation(mark.start(), done, mark.end(), done, closed=False)


def _may_open(text: str, mark: re.Match[str]) -> bool:
    sign = mark[0]
    if sign[0] == "`" or mark["tag"]:
        return not mark["slash"]
    if sign not in _CLOSING:
        return False
    if sign in _STRAIGHT:
        before, after = _neighbours(text, mark)
        return not _in_word(before) and before != "\\" and (sign in '"＂' or not after.isspace())
    return True


def _may_close(text: str, mark: re.Match[str]) -> bool:
    sign = mark[0]
    if sign[0] == "`" or mark["tag"]:
        return mark["slash"] != ""
    before, after = _neighbours(text, mark)
    if sign in "\"＂'’":
        return not _in_word(after) and before != "\\" and (sign in '"＂' or not before.isspace())
    return True


def _neighbours(text: str, mark: re.Match[str]) -> tuple[str, str]:
    return text[mark.start() - 1 : mark.start()] or " ", text[mark.end() : mark.end() + 1] or " "


def _in_word(sign: str) -> bool:
    return sign == "_" or (sign.isascii() and sign.isalnum())
