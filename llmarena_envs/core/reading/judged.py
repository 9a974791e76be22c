"""Parsing of a judge's statement: one rule for verdicts, ratings and rulings.

Quotations, reasoning and forms repeated from the prompt do not count. A value counts after a label at the beginning of a line,
alone on the last line, as a separate sentence ("A is shorter. [[A]]") or in a sentence that announces it ("My verdict is
[[A]]."). Different values count only if exactly one of them follows a label or is alone on the last line. Everything else is
refused, and the judge is asked again.

Quotations are quoted lines, code, text in quotation marks of any kind and the contents of tags such as ``<q>``.
"""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import pairwise
from operator import itemgetter
from typing import Generic, NamedTuple, TypeVar

from llmarena_envs.core.failures import Failure, ParseError
from llmarena_envs.core.reading.markup import FILLER, narrow, reasoning_spans, unwrap
from llmarena_envs.core.reading.objects import read_object

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
_LINE_WITH_END = re.compile(r"[^\n]++\n?|\n")
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
    for line in _LINE_WITH_END.finditer(text):
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


Value = TypeVar("Value")

_CONTENT = r"[ \t]{0,20}+([^\[\]\n]{1,40}?)[ \t]{0,20}"
_DOUBLE = re.compile(rf"(?<![\[\w)\]])(?<!\w\()\[\[{_CONTENT}\]\](?![\[\]]|\.\w)")  # not m[[1]], array([[1]])
_BRACKETS = re.compile(rf"\[\[{_CONTENT}\]\]|\[{_CONTENT}\]")
_LINE = re.compile(r"[^\n]++")
_MAX_BARE = 60
_MAX_SENTENCE = 200

_NOUN = r"(?:verdict|rating|score|judge?ment|decision|ruling|grade)"
_CHINESE_NOUN = r"(?:最终|最后的?|总体|综合)?的?(?:裁决|裁定|判决|判定|评分|打分|得分|总分|结论)"
_OWN = r"(?:(?:my|the|our|this|final|overall|new|revised|updated|own)[ ]+){0,3}"
_SO = r"(?:(?:so|thus|therefore|hence|overall|finally|in conclusion|in summary|综上(?:所述)?|因此|所以|总之)[ \t]*[,，:]?[ \t]*)?"
_BULLET = r"[ \t]{0,3}(?:[#|•·+-]{1,6}[ \t]+)?(?:\d{1,2}[.)][ \t]+)?"
_LABEL = re.compile(
    rf"{_BULLET}{_SO}(?:{_OWN}(?P<noun>{_NOUN})|(?P<chinese>(?:我的)?{_CHINESE_NOUN})"
    r"|final(?:[ ]\w{1,20}){0,2}|overall|winner|turn|轮次?)"
    r"(?:[ ]?\([^()\n]{1,20}\))?[ \t|]*(?:[:=]+>?|-{1,2}>?(?=[ ])|[–—→]|(?:is\b|是|为):?)[ \t|\"]*",
    re.IGNORECASE,
)
_LABEL_INSIDE = re.compile(rf"(?:\b{_NOUN}|{_CHINESE_NOUN})[ \t]*[:=][ \t]*", re.IGNORECASE)
_HEADING = re.compile(rf"{_BULLET}(?:{_OWN}{_NOUN}|(?:我的)?{_CHINESE_NOUN})[ \t]*[:|]?[ \t]*", re.IGNORECASE)
_ANNOUNCES = re.compile(
    r"\W*(?:(?:so|thus|therefore|hence|overall|and|but|still|here|综上(?:所述)?|因此|所以|总之)\b[ ,，]*)?"
    rf"(?:(?:{_OWN}(?:{_NOUN}|turn)(?:[ ](?:for|of)[ ](?:this|the)[ ](?:last[ ])?(?:response|answer|debate))?"
    r"|(?:(?:the|this|last)[ ]){0,2}(?:response|answer|it)[ ](?:deserves|merits|earns)(?:[ ](?:a|an|rating|score|of))*)?"
    r"(?:[ ]?(?:is|of|remains|be|must|would|therefore|thus|hence|now|goes|to|a|:))*"
    r"|I(?:'d|'ll)?[ ](?:(?:would|will|must|can|therefore|thus|hence|now|still)[ ])*"
    r"(?:choose|pick|give|rate|vote|go|award|assign|keep|stay|settle|conclude|decide|think|believe)"
    r"(?:[ ](?:it|this|that|the|last|final|initial|previous|response|answer|assistant|verdict|rating|score|for|with|to|on|as|"
    r"a|an|of|my|by))*:?"
    r"|[^.!?;:]{0,60}\b(?:better|wins|superior|winner|better assistant):"
    r"|[^。；:]{0,20}(?:更好|胜出|更优):"
    rf"|我(?:会|将|的)?(?:给|选|判|投|打|评|认为|维持|坚持)[^。；]{{0,20}}|{_CHINESE_NOUN}(?:是|为|:))[ \t\"'(|]*",
    re.IGNORECASE,
)
_NEGATES = re.compile(
    r"\b(?:not|never|no|cannot|without|nothing|hardly|rather|instead|against|if|unless|were|had|could|might|would have)"
    r"\b|n't\b|不|非|没|如果|无法|很难",
    re.IGNORECASE,
)
_OF_OTHERS = re.compile(
    r":[\s\"'(*]*\Z|\b(?:judges?|colleagues?|committee|users?|outputs?|prints?|printed|returns?|returned|expected|array|matrix|"
    r"example|format|said|says?|wrote|writes?|writing|claim\w*|argue\w*|demand\w*|ask\w*|insist\w*|vote[sd]|gave|chose|content|thought)"
    r"\b|评委|用户|输出|打印|返回|例如|格式|说|写|称|要求|认为",
    re.IGNORECASE,
)
_SENTENCE = re.compile(rf"[.!?](?=\s|\Z)|[。！？；;\n{FILLER}]|\]\]|,(?!\d)|，")
_ALONE = re.compile(rf"[\s*|#>$\"'(:{FILLER}]*")
_END = re.compile(
    r"[ \t\"'|)]*(?:/[ ]?10\b|out of 10\b|points?\b|分)?[ \t\"'|)]*"
    r"(?:\Z|\n|[。！；]|[.!;](?![a-zA-Z0-9_])|[(（]|\[\[|[-–—]+[ ]?(?=[^\W\d])"
    r"|[,，]?[ ]?(?:because|since|not|rather than|instead of|after all|overall)\b|[,，]?(?:因为|而不是|而非))",
    re.IGNORECASE,
)
_END_OF_BARE = re.compile(r"[ \t\"'|)]*(?:\Z|\n|[.!。！](?=\s|\Z|[^\x00-\x7f]))")
_NEW_SENTENCE = re.compile(r"[ \t\"'|)*]*[ ](?=[A-Z])")
_OTHER_JUDGE = re.compile(r"\W*(?:judge|评委)[ ]?#?\w{1,2}\b[^:\n]{0,30}:", re.IGNORECASE)
_RETRACTS = re.compile(
    r"(?:^|[.!?…。！？,，;；:\n–—-])[\s\"'(]*(?:(?:oh|but|hmm+|well|and|no|但是?|哦)\b[\s,，]*)?"
    r"(?:(?:wait|no|actually|correction|scratch that|sorry|oops|on (?:second thoughts?|reflection)|mine (?:is|differs))\b"
    r"|let me (?:re|correct|change)|I (?:now |must |have to |want to )?(?:change|revise|retract|withdraw|misread|misjudged"
    r"|correct|reconsider|was wrong|take (?:it|that|this) back)|不对|不[,，]|等等|等一下|更正|改判|改为|改选|应该是|其实|抱歉)",
    re.IGNORECASE,
)
_JOINED = re.compile(r"[^\[\]\n]{0,50}\n?[^\[\]\n]{0,10}")


class Form(NamedTuple, Generic[Value]):
    """The form of a value.

    Attributes:
        read: parses the contents of brackets, or the text after a label; ``None`` for other texts.
        missing: name of the reason if nothing is stated.
        unclear: name of the reason if the value is ambiguous.
        listed: sets of values; a sequence of all values of one set repeats the prompt.
    """

    read: Callable[[str], Value | None]
    missing: str
    unclear: str
    listed: tuple[frozenset[Value], ...] = ()


class Stated(NamedTuple, Generic[Value]):
    """A value in a text, with its position."""

    start: int
    end: int
    value: Value


def read_stated(text: str, form: Form[Value]) -> Value:
    """Returns the value that a judge states.

    Args:
        text: the judge's words, without leading reasoning.
        form: the form of a value.

    Raises:
        ParseError: if the value is missing or ambiguous.
    """
    words = own_words(text)
    words = cover(words, list(_echoes(words, form)), FILLER)
    named = list(_named(words, form))
    presented = sorted(_presented(words))
    firm = [each for each in _in_firm_places(words, form) if not _inside(each, presented)]
    stated = firm or [each for each in named if _is_announced(words, each) and not _inside(each, presented)]
    if not named and not stated:
        raise ParseError(Failure.UNPARSABLE, form.missing)
    last = stated[-1] if stated else None
    rivals = stated + [each for each in named if not firm or (each.start > firm[-1].end and _is_own(words, each))]
    if last is None or any(each.value != last.value for each in rivals) or is_retracted(words, last.end):
        raise ParseError(Failure.UNPARSABLE, form.unclear)
    return last.value


def without_quoted_labels(text: str) -> str:
    """Returns a judge's words without inline quotations that hold a label such as ``verdict:``."""
    quoted = []
    for each in find_quotations(text):
        rest = text[text.rfind("\n", 0, each.start) + 1 : each.start] + text[each.end :].partition("\n")[0]
        label = _LABEL_INSIDE.search(narrow(text[each.inner_start : each.inner_end]))
        if label and each.language is None and any(map(str.isalnum, rest)):
            quoted.append(each)
    return cover(text, quoted, FILLER)


def labelled(words: str) -> list[int]:
    """Returns the end positions of labels such as ``verdict:``."""
    return [match.end() for match in _LABEL_INSIDE.finditer(narrow(words))]


def own_words(text: str) -> str:
    """Returns a judge's words narrowed and without quotations and reasoning; an object becomes one line per field."""
    text = unquoted_whole(text)
    fields = read_object(text) if text.startswith("{") else None
    if fields:
        text = "\n".join(f"{key}: {value}" for key, value in fields.items() if isinstance(value, int | str))
    plain = narrow(text).replace("\\[\\[", "  [[").replace("\\]\\]", "]]  ")
    plain = cover(plain, [each for each in find_quotations(text) if not _decorates(plain, each)], FILLER)
    spans = [Quotation(start, end, start, end) for start, end in reasoning_spans(plain)]
    return unwrap(cover(plain, spans, FILLER))[0]


def _decorates(plain: str, quotation: Quotation) -> bool:
    """Says whether quotation marks only decorate a value: after a label, at the end of its line."""
    start, end = plain.rfind("\n", 0, quotation.start) + 1, plain.find("\n", quotation.end)
    before, after = plain[start : quotation.start], plain[quotation.end : end if end >= 0 else len(plain)]
    return not after.strip(" \t.!。|*") and _LABEL.fullmatch(unwrap(before)[0]) is not None


def unquoted_whole(text: str) -> str:
    """Returns a text without an enclosing fence or quotation marks."""
    text = text.strip()
    first = next(iter(find_quotations(text)), None) if text[:1] in (*"`~\"“«「『„'‘",) else None
    if first and first.closed and first.end == len(text):
        text = text[first.inner_start : first.inner_end].strip()
    return text


def is_retracted(text: str, end: int) -> bool:
    """Says whether a judge retracts its statement after ``end``."""
    return _RETRACTS.search(text, end) is not None


def _lines(words: str) -> list[tuple[int, int]]:
    return [match.span() for match in _LINE.finditer(words) if any(map(str.isalnum, match[0]))]


def _presented(words: str) -> Iterator[tuple[int, int]]:
    """Yields lines in the name of another judge, and lines below a colon that does not announce the judge's value."""
    lines = [match.span() for match in _LINE.finditer(words) if not match[0].isspace()]
    yield from (line for line in lines if _OTHER_JUDGE.match(words, *line))
    for above, line in pairwise(lines):
        text = words[slice(*above)].rstrip(" \t*|")
        sentence = _SENTENCE.split(text)[-1].strip()
        if text.endswith(":") and not (_HEADING.fullmatch(text) or _ANNOUNCES.fullmatch(sentence)):
            yield line


def _inside(each: Stated[Value], spans: list[tuple[int, int]]) -> bool:
    number = bisect_right(spans, each.start, key=itemgetter(0)) - 1
    return number >= 0 and each.start < spans[number][1]


def _in_firm_places(words: str, form: Form[Value]) -> Iterator[Stated[Value]]:
    """Yields the values after a label at the beginning of a line, below a heading, and alone on the last line."""
    lines = _lines(words)
    value = form.read(words.strip(f" \t\n.!。*{FILLER}")) if len(lines) == 1 else None
    if value is not None:
        yield Stated(0, len(words), value)
    for number, (start, end) in enumerate(lines):
        label = _LABEL.match(words, start, end)
        if label is None and number == len(lines) - 1:
            ends = [stop.end() for stop in _SENTENCE.finditer(words, max(start, end - _MAX_SENTENCE), end)]
            label = next((found for place in ends if (found := _LABEL.match(words, place, end))), None)
        if label:
            yield from _behind(words, label, end, form)
        elif number == len(lines) - 1 or _HEADING.fullmatch(words, *lines[number - 1]):
            brackets = _BRACKETS.fullmatch(words[start:end].strip(" \t.!。#|*>\"'"))
            value = form.read(brackets[1] or brackets[2]) if brackets else None
            if value is not None:
                yield Stated(start, end, value)


def _behind(words: str, label: re.Match[str], end: int, form: Form[Value]) -> Iterator[Stated[Value]]:
    """Yields the value directly after a label; after a noun such as ``verdict`` it needs no brackets."""
    start = label.end()
    if brackets := _BRACKETS.match(words, start, end):
        value = form.read(brackets[1] or brackets[2])
        if value is not None and (_END.match(words, brackets.end()) or _NEW_SENTENCE.match(words, brackets.end())):
            yield Stated(start, brackets.end(), value)
    elif label["noun"] or label["chinese"]:
        for stop in _END_OF_BARE.finditer(words, start, min(end + 1, start + _MAX_BARE)):
            value = form.read(words[start : stop.start()])
            if value is not None:
                yield Stated(start, stop.start(), value)
                return


def _is_announced(words: str, each: Stated[Value]) -> bool:
    """Says whether a value is a separate sentence at an end of the text, or its sentence announces it."""
    if not _END.match(words, each.end) or not _is_own(words, each):
        return False
    is_inside = any(map(str.isalnum, words[: each.start])) and any(map(str.isalnum, words[each.end :]))
    return not (is_inside and _ALONE.fullmatch(_clause(words, each)))


def _is_own(words: str, each: Stated[Value]) -> bool:
    """Says whether the clause before a value is empty or presents it as the judge's own."""
    clause = _clause(words, each)
    if _NEGATES.search(clause):
        return False
    if _ALONE.fullmatch(clause) or _ANNOUNCES.fullmatch(clause):
        return True
    ends_text = _ALONE.fullmatch(words, each.end)  # appended to a sentence, after its end
    return ends_text is not None and _OF_OTHERS.search(clause) is None


def _clause(words: str, each: Stated[Value]) -> str:
    return _SENTENCE.split(words[max(0, each.start - _MAX_SENTENCE) : each.start])[-1]


def _echoes(words: str, form: Form[Value]) -> Iterator[Quotation]:
    """Yields the passages that list all values of a set, as the prompt does."""
    longest = max(map(len, form.listed), default=0)
    run: list[Stated[Value]] = []
    for each in _named(words, form):
        if run and not _JOINED.fullmatch(words, run[-1].end, each.start):
            run = []
        run = [*run, each][-longest:]
        for values in form.listed:
            last = run[-len(values) :]
            if len(last) == len(values) and {stated.value for stated in last} == values:
                yield Quotation(last[0].start, each.end, last[0].start, each.end)
                run = []
                break


def _named(words: str, form: Form[Value]) -> Iterator[Stated[Value]]:
    """Yields the values in double brackets."""
    for match in _DOUBLE.finditer(words):
        value = form.read(match[1])
        if value is not None:
            yield Stated(match.start(), match.end(), value)
