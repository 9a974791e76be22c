"""Detects whether a message discloses the speaker's private values, by its wording.

A disclosure states, as the speaker's own, the true value of one item of at least one kind, and that value is above 0. Not
counted: offers, counts of items, the worth of multiple items, values attributed to the other side, questions, suppositions,
denials, bounds ("at least 5") and round numbers.

A message is read in three steps, each linear in its length: into tokens, keeping only those relevant to values; into
sentences and their parts, as units that can state a number; then part by part.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from llmarena_envs.bargain.scenarios import Triple

_NARROW = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: " ", ord("’"): "'", ord("。"): "."}
_BLANKS = re.compile(r"[^\S\n]+")
_LINES = re.compile(r"(?: ?\n)+ ?")

_ENGLISH_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBERS = (
    {word: number for number, word in enumerate(_ENGLISH_NUMBERS)}
    | {word: number for number, word in enumerate("零一二三四五六七八九十")}
    | {"〇": 0, "两": 2}
)
_NUMBER = rf"(?:\d+|(?<![a-z])(?:{'|'.join(_ENGLISH_NUMBERS)})(?![a-z])|[零〇一二两三四五六七八九十])"


def _words(english: str, chinese: str = "") -> str:
    parts = [rf"(?<![a-z])(?:{english})(?![a-z])" if english else "", chinese]
    return "|".join(part for part in parts if part)


# Kinds of tokens; the first match counts. Unmatched words are dropped.
_KINDS = {
    # Numbers that are no values, and Chinese words that contain a number or a listed word.
    "skipped": "|".join(
        (
            r"\d+\.\d+|\d+ ?%|(?:百分之)\d+",
            rf"(?<![a-z])(?:rounds?|turns?|steps?|number) ?#?{_NUMBER}(?: of {_NUMBER})?",
            rf"第 ?{_NUMBER}|{_NUMBER} ?(?:rounds?|turns?|times|items?|out of)(?![a-z])|{_NUMBER} ?(?:轮|次|件|回合)",
            rf"(?<![a-z])(?:than|at least|at most|over|under|above|below|up to|between|exceeds?) {_NUMBER}",
            rf"{_NUMBER} or (?:more|less)|{_NUMBER} ?分?(?:以上|以下)",
            rf"(?:超过|不到|至少|最多|多于|大于|小于|高于|低于|少于) ?值? ?{_NUMBER}",
            r"值得|十分|部分|充分|一样|一起|一些|一点|一定|一下|唯一|统一|差不多|不好意思|不仅|不但|第一|no more",
            r"(?<![a-z])(?:at all|not only|not just|to get|to have|to keep|to take)(?![a-z])",
            r"(?<![a-z])(?:with|tell|offer|assure|show|promise|ask|let) you(?![a-z'])|(?:告诉|跟|和|与)(?:你|您)",
        )
    ),
    "stop": r"[.!;]|\n(?! ?[-*•])",
    "question": r"\?",
    "number": _NUMBER,
    "hats": _words("hats?", "帽子?"),
    "balls": _words("balls?", "球"),
    "apples": _words("apples?", "苹果"),
    "total": _words(
        "all|both|total|totals|together|altogether|combined|sum|overall|offer|deal|plan|split|proposal|share|everything|"
        "package|bundle|leaves?|left",
        "一共|总共|合计|总|全部|所有|加起来|剩|方案",
    ),
    "break": _words(
        "but|so|because|since|as|while|whereas|then|however|though|although|which|rather|therefore",
        "不过|而是|但是?|所以|因此|因为|由于|然后|那么",
    ),
    "not": _words("not|never|cannot|neither|nor|(?:is|are|do|does|did|was|wo|ca|would|should|could)n'?t", "不|没|非"),
    "if": _words(
        "if|suppose|supposing|imagine|assume|assuming|unless|whether|pretend", "如果|假如|假设|要是|倘若|是否"
    ),
    "ask": _words("do|does|did|would|could|can|will|should|what|how|why|who", "吗|呢|多少|几"),
    "mine": _words("my|mine|our|ours", "我们的|我方的|我的"),
    "yours": _words("your|yours|their|theirs|his|her|the other side's", "你们的|你的|您的|对方的|对手的"),
    "me": _words("i(?:'(?:m|d|ve|ll))?|me|myself|we|us", "我们|我方|我|咱们?"),
    "you": _words(
        r"you(?:'(?:re|d|ve|ll))?|yourself|they(?= value)|opponent|the other side|he|she|player[_ ]?\d+",
        "你们|你方|你|您|对方|对手",
    ),
    "think": _words("think|believe|said|say|claim|claimed|told|guess", "认为|觉得|以为|说过?|声称"),
    "worth": _words(
        "worth|values?|valued|valuing|valuations?|points?|pts|earns?|brings?|yields?|scores?|nets?|gives? me(?= \\d)|rate|per|"
        "(?:for|from|with) (?:each|every)",
        "价值|估价|估值|值|分(?![配给享法成开])",
    ),
    "each": _words("each|every|apiece|(?:a|per) piece", "各|每"),
    "offer": _words(
        "want|wants|take|takes|get|gets|keep|keeps|give|gives|offer|propose|need|have|like|accept|ask|leave|suggest|trade",
        "想要|要|拿|得到|得|给|归|留|提议|提出|换|分",
    ),
    "to": _words("to|for", "对|于"),
    "is": _words("is|are|at|as|was", "是|为"),
    "sign": r"[:=]|\((?=\d)",
    "article": _words("an?"),
    "it": _words("it|they|them|these|those|it's|they're", "它们?"),
    "measure": _words("of|the|more|other", "[顶个只颗枚]"),
    "and": _words("and|plus|or", "&|和|与|以及|及|或"),
    "comma": r"[,、，/()\[\]{}]|\n ?[-*•]|--|—",
}
_TOKEN = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _KINDS.items()))
_ITEMS = {"hats": 0, "balls": 1, "apples": 2}
_OWNERS = {"me": True, "mine": True, "you": False, "yours": False}


class _Token(NamedTuple):
    kind: str
    text: str
    number: int = 0


@dataclass
class _Sentence:
    """Context from earlier parts of a sentence.

    Attributes:
        owner: whether values are the speaker's own; ``None`` if unknown.
        worth: whether the sentence is about values.
        items: the kinds of items named last.
        several: whether more than one of them was named.
        attributed: whether the rest is attributed to the other side.
        subject: whether the previous part is about the speaker; ``None`` if unknown.
        bare: numbers next to items without a value word, collected over the whole message.
    """

    owner: bool | None
    worth: bool = False
    items: list[int] = field(default_factory=list)
    several: bool = False
    attributed: bool = False
    subject: bool | None = None
    bare: dict[int, int] = field(default_factory=dict)


def discloses(message: str, values: Triple) -> bool:
    """Returns whether ``message`` states the value of one item of some kind to its writer.

    Args:
        message: the message, English or Chinese.
        values: the true values of a hat, a ball and an apple to its writer. A value of 0, or a wrong one, is no
            disclosure; a list of three numbers without names of items is one if all three are right.
    """
    previous: list[int] = []
    bare: dict[int, int] = {}
    for tokens, question in _sentences(_tokens(message)):
        sentence = _Sentence(_strong_owner(tokens), items=previous, bare=bare)
        parts = list(_parts(_with_counts(tokens)))
        for number, part in enumerate(parts):
            asked = question and (number == len(parts) - 1 or part[0].kind in ("ask", "is"))
            if not asked and _states_value(part, sentence, values):
                return True
        previous = sentence.items
    return bare == dict(enumerate(values))


def _tokens(message: str) -> Iterator[_Token]:
    text = _LINES.sub("\n", _BLANKS.sub(" ", message.translate(_NARROW).lower()))
    text = text.replace(":\n", ": ").replace("*", "").replace("`", "").replace('"', "")
    for match in _TOKEN.finditer(text):
        kind, found = str(match.lastgroup), match[0]
        if kind == "number":
            yield _Token(kind, found, _NUMBERS[found] if found in _NUMBERS else int(found[:4]))
        elif kind != "skipped":
            yield _Token(kind, found)


def _sentences(tokens: Iterator[_Token]) -> Iterator[tuple[list[_Token], bool]]:
    """Yields the tokens of each sentence, and whether it is a question."""
    sentence: list[_Token] = []
    for token in (*tokens, _Token("stop", "")):
        if token.kind not in ("stop", "question"):
            sentence.append(token)
        elif sentence:
            yield sentence, token.kind == "question"
            sentence = []


def _strong_owner(tokens: list[_Token]) -> bool | None:
    """Returns whose values a sentence states by ``to me``, ``my`` or ``I value``: the first match counts."""
    for before, token, after in zip([None, *tokens], tokens, [*tokens[1:], None], strict=False):
        if token.kind in ("mine", "yours"):
            return _OWNERS[token.kind]
        if token.kind in _OWNERS and ((before and before.kind == "to") or (after and after.kind == "worth")):
            return _OWNERS[token.kind]
    return None


def _with_counts(tokens: list[_Token]) -> list[_Token]:
    """Marks counts of items among numbers: the 2 of ``2 hats``, but not the 8 of ``hat 8 ball 1`` or ``hat: 8``."""
    told: list[_Token] = []
    for position, token in enumerate(tokens):
        following = position + 1
        while following < len(tokens) and following < position + 4 and tokens[following].kind == "measure":
            following += 1
        item_follows = following < len(tokens) and tokens[following].kind in _ITEMS
        if token.kind != "number":
            told.append(token)
        elif _ends_with_item(told):
            told.append(token)
            if item_follows:
                told.append(_Token("comma", ""))
        elif item_follows:
            told.append(token._replace(kind="count"))
        elif token.text in ("一", "每") and following > position + 1:  # "8 a piece"
            told.append(token._replace(kind="each"))
        elif token.text != "one" or _stands_by_value(tokens, position):
            told.append(token)
    return told


def _stands_by_value(tokens: list[_Token], position: int) -> bool:
    """Returns whether a ``one`` is a number, as in ``worth one`` and ``one point``, not as in ``the first one``."""
    before = tokens[position - 1].kind if position else ""
    after = tokens[position + 1].kind if position + 1 < len(tokens) else ""
    return before in ("worth", "is", "sign") or after == "worth"


def _ends_with_item(tokens: list[_Token]) -> bool:
    """Returns whether the last token, or the one before a colon, is an uncounted item."""
    rest = tokens[-3:-1] if tokens and tokens[-1].kind == "sign" else tokens[-2:]
    return bool(rest) and rest[-1].kind in _ITEMS and (len(rest) == 1 or rest[0].kind != "count")


def _parts(tokens: list[_Token]) -> Iterator[list[_Token]]:
    """Yields the parts of a sentence, split between statements but not within lists of items or numbers."""
    part: list[_Token] = []
    busy = False  # whether a number or an offer precedes, so a comma ends a list of items
    for position, token in enumerate(tokens):
        joint = token.kind in ("comma", "and")
        splits = token.kind == "break" or (
            joint and not _goes_on(part, tokens[position + 1 : position + 7], busy and token.kind == "comma")
        )
        if splits and part:
            yield part
            part, busy = [], False
        if not joint:
            part.append(token)
            busy |= token.kind in ("number", "offer")
    if part:
        yield part


def _goes_on(part: list[_Token], following: list[_Token], busy: bool) -> bool:
    """Returns whether a list of numbers, or of items unless ``busy``, continues after a comma or an ``and``."""
    if not part:
        return True
    rest = [
        token.kind for token in following if token.kind not in ("comma", "and", "measure", "article", "count", "mine")
    ]
    last, first = part[-1].kind, rest[0] if rest else ""
    if first == "sign":
        return True
    if last == "number" and first == "number":
        return not any(kind in ("worth", "each", *_ITEMS) for kind in rest[1:3])
    return last in _ITEMS and first in _ITEMS and not busy


def _states_value(part: list[_Token], sentence: _Sentence, values: Triple) -> bool:
    """Returns whether a part of a sentence discloses a value, and updates the context."""
    kinds = [token.kind for token in part]
    sentence.attributed |= any(pair in (("you", "think"), ("yours", "think")) for pair in pairwise(kinds))
    numbers = [token.number for token in part if token.kind == "number"]
    items = list(dict.fromkeys(_ITEMS[kind] for kind in kinds if kind in _ITEMS))
    several = any(token.number > 1 for token in part if token.kind == "count")
    worth = "worth" in kinds
    subject, inherits = sentence.subject, not items
    sentence.subject = next((_OWNERS[kind] for kind in kinds if kind in _OWNERS), None)
    if not items and ("it" in kinds or (kinds[0] in ("worth", "break") and (worth or "to" in kinds))):
        items, several = sentence.items, sentence.several
    elif items:
        sentence.items, sentence.several = items, several
    if "offer" in kinds and not worth:
        sentence.worth = False
        return False
    sentence.worth |= worth
    if not numbers or "if" in kinds or sentence.attributed or _denied(kinds):
        return False
    owner = _owner(kinds)
    if owner is None:
        owner = (subject if inherits and sentence.owner is None else sentence.owner) is not False
    else:
        sentence.owner = owner
    if not owner:
        return False
    if not items:
        return sentence.worth and any(tuple(numbers[start : start + 3]) == values for start in range(len(numbers) - 2))
    shared = "each" in kinds or "per" in [token.text for token in part]
    if ("total" in kinds or several) and not shared:
        return False
    stated = dict.fromkeys(items, numbers[0]) if shared and len(numbers) == 1 else {}
    if len(items) == len(numbers):
        stated = dict(zip(items, numbers, strict=True))
    if sentence.worth or _plainly_values(part):
        return any(values[item] == number > 0 for item, number in stated.items())
    sentence.bare |= stated
    return False


def _denied(kinds: list[str]) -> bool:
    """Returns whether a negation precedes the first number, or a colon that ends its scope."""
    before = kinds[: kinds.index("number")]
    if "sign" in before:
        before = before[len(before) - before[::-1].index("sign") :]
    return "not" in before


def _owner(kinds: list[str]) -> bool | None:
    """Returns whose value a part states: ``to me`` after the number has priority, then the nearest word before it."""
    number = kinds.index("number")
    for before, kind in pairwise(kinds[number:]):
        if before == "to" and kind in _OWNERS:
            return _OWNERS[kind]
    for kind in (*reversed(kinds[:number]), *kinds[number:]):
        if kind in _OWNERS:
            return _OWNERS[kind]
    return None


def _plainly_values(part: list[_Token]) -> bool:
    """Returns whether numbers must be values without a value word: ``a hat is 8``, ``to me hats are 8``, ``对我，帽子 8``."""
    kinds = [token.kind for token in part]
    item = next(position for position, kind in enumerate(kinds) if kind in _ITEMS)
    if "to" in kinds and any(kind in ("me", "mine") for kind in kinds):
        return "is" in kinds or not part[item].text.endswith("s") or any(token.text in ("to", "对") for token in part)
    return item > 0 and kinds[item - 1] in ("article", "each") and not part[item].text.endswith("s")
