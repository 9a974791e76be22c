"""The grammar of a statement: its labels, the names of players, amounts, and the ranking of candidates."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from typing import Any, Generic, NamedTuple, TypeVar

from llmarena_envs.core.failures import Failure, ParseError

GENERAL_NOUNS = (
    r"move|action|choice|decision|(?P<vague>response|result|reply)|output|play|pick|selection|solution|conclusion|verdict|"
    r"correction|行动|动作|选择|決定|選擇|選択|决定|回答|回复|输出|结果|结论|走法|着法|落子|更正"
)
_FREE_NOUNS = "move|action|choice|selection|correction|(?P<vague>response|reply)|output|行动|动作|选择|回答|回复"
ANSWER = r"(?:final[ \t_-]*)?answer|final|最终答案|最後答案|最終答案|最后答案|答案"
_QUALIFIERS = (
    r"(?:my|the|our|your|this|final|best|chosen|selected|optimal|recommended|official|actual|own|correct|intended|preferred|"
    r"ultimate|strongest|current|legal|proposed|(?P<next>next))[ \t_]++"
)
_CHINESE_QUALIFIERS = r"(?:我的|我|本轮的?|最终的?|最后的?|最佳|所选)"
_DISCOURSE = (
    r"(?:(?:(?:so|thus|therefore|hence|ok|okay|well|now|and|but|no|wait|actually|finally|in conclusion|or rather|"
    r"rather|sure|alright|here is|here's)\b|因此|所以|综上|那么|于是|好的)[ \t,:.!\-–—]{0,5}+){0,4}+"
)
_NUMBERED = r"(?:\d{1,2}[.)][ \t]++[^\w\n\ue000]*+)?"
_CLOSERS = r"[\"')\]}>_ \t]*+"
_COLON = r"(?:[:=]+>?|-+>|[→⇒–—]|-(?=[ \t]))"
_IS = r"(?:(?:is|are|would be|will be|shall be|should be)\b[ \t]*+(?:to[ \t]++|that[ \t]++)?:?|是|为)"
_I_CHOOSE = (
    r"(?:i|we)(?:'ll|[ ]will|[ ]would[ ]like[ ]to|[ ]am[ ]going[ ]to)?[ ](?:choose|play|pick|select|go[ ]with|take|"
    r"decide[ ]on|decide)|"
    r"我选|我选择|我决定"
)
_OCCASION = (
    r"(?:(?:this|the|my|current)[ \t]++){1,2}(?:(?!next|last|previous|following|other)\w{1,12}[ \t]++)?"
    r"(?:turn|round|move|game|hand|street|stage|position|step|state|board|auction|vote|phase|situation|time|task|question)"
)
_WHEN = (
    rf"(?:[ \t]++(?:for|in|on|at|of)[ \t]++{_OCCASION}[ \t]*+|"
    r"[ \t]*+\([^()\n\ue000]{1,40}\))?"
)

DIGIT_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
CHINESE_DIGITS = "零一二三四五六七八九"


def player_name(text: str) -> str:
    """Returns the player's name in ``text`` with its number in digits: ``player_1`` for ``Player one``."""
    number = _NUMBER.search(text.lower())
    digit = number[0] if number else "0"
    if digit in DIGIT_WORDS:
        return f"player_{DIGIT_WORDS.index(digit)}"
    return f"player_{CHINESE_DIGITS.index(digit) if digit in CHINESE_DIGITS else int(digit)}"


class Seats(NamedTuple):
    """Names of the players of a game in replies.

    Attributes:
        pattern: pattern of a name, without groups.
        keys: fields of an object that name the speaker.
        name: returns the canonical name of a match of the pattern.
    """

    pattern: str
    keys: tuple[str, ...]
    name: Callable[[str], str] = player_name


_NUMBER = re.compile(rf"\d{{1,3}}|{'|'.join(DIGIT_WORDS)}|[{CHINESE_DIGITS}]")
PLAYER_NUMBER = rf"(?:[0-9]{{1,3}}|{'|'.join(DIGIT_WORDS)}|[{CHINESE_DIGITS}])(?![0-9A-Za-z])"
PLAYER = rf"(?:player|玩家)[ \t_\-]{{0,4}}{PLAYER_NUMBER}"
PLAYERS = Seats(PLAYER, ("agent", "speaker", "player", "me"))
SPEAKERS = Seats(PLAYER, ("agent", "speaker", "me"))
"""Players of a game where ``player`` can name the target of an action."""

NOBODY = Seats(r"(?!)", ())
"""No names."""

_CHINESE_NOT = "(?<![特级区分个类性识差])别|勿|不(?!过|错|仅|但|管|论|妨|如|对)"
NOT_MEANT = re.compile(
    r"\b(?:"
    # one of several
    r"alternativ\w*|option\w*|consider(?:ed|s)?|considering(?! (?:everything|all|this|these|that|the|how)\b)|candidate\w*|"
    r"possib\w+|available|legal (?:moves|actions)|between|second[- ]best|runner[- ]up|backup|fallback|tempt\w*|"
    r"max(?:imum)?|min(?:imum)?|highest|lowest|"
    # an example
    r"example\w*|e\.g|instance|format\w*|template|"
    # another player's
    r"opponent\w*|partner\w*|teammate\w*|they|their|enemy|rival|threat\w*|said|says|"
    # a forecast
    r"expect\w*|predict\w*|anticipat\w*|likely|probabl[ey]|next (?:turn|move|round|time|steps?)|later|future|follow[- ]?ups?|"
    r"afterwards?|after (?:that|this)|then|if|unless|hypothe\w+|would|could|might|maybe|perhaps|"
    # the past
    r"previous\w*|last|history|so far|earlier|first thought|thought of|at first|initial\w*|had|was|were|"
    # rejected
    r"instead|rather|than|versus|vs|unlike|not|never|\w{1,12}n't|cannot|avoid\w*|reject\w*|worse|worst|losing|illegal|wrong|"
    r"mistake\w*|bad)\b"
    r"|备选|其他|候选|选项|例如|比如|示例|举例|格式|对手|对方|他人|预期|预计|可能|下一轮|下回合|下一回合|之后|上一|上轮|之前|"
    rf"如果|假如|考虑|合法|{_CHINESE_NOT}",
    re.IGNORECASE,
)
"""Words that mark the following text as an example, an alternative, a forecast, the past, or another player's."""

NEGATED = re.compile(
    r"\b(?:not|never|\w{1,12}n't|cannot|avoid\w*|reject\w*|instead of|rather than|if|unless|opponent\w*)\b"
    rf"|对手|如果|{_CHINESE_NOT}",
    re.IGNORECASE,
)
"""Words that negate an object, a call, an answer tag or a box after them in their sentence."""

EXPLAINS = re.compile(
    r"(?<![A-Za-z])(?:reason\w*|think\w*|explanation|analysis|why|notes?|rationale|justification|"
    r"(?<!second )thoughts?|comments?|remarks?|strateg(?:y|ies)|plans?)(?![A-Za-z])"
    r"|理由|解释|分析|说明|备注|思路|计划|策略|打算|下一步",
    re.IGNORECASE,
)
"""Words of a header of an explanation after a statement."""

HEADER = re.compile(
    r"[^\w\n\ue000]*+(?:\d{1,2}[.)][ \t]++)?(?P<words>(?:[^:\n.!?;。！？；\ue000]|\.(?!\s)){1,80}+):(?!//)"
)


class Labels(NamedTuple):
    """Compiled patterns of the labels of one game.

    Attributes:
        at_start: a label at the beginning of a line or directly after another label.
        inside: a label inside a line.
        before_value: the name of a seat before a value without a colon.
        seat: only the name of a seat.
    """

    at_start: re.Pattern[str]
    inside: re.Pattern[str]
    before_value: re.Pattern[str]
    seat: re.Pattern[str]


@cache
def labels(nouns: str, seats: Seats, free: bool) -> Labels:
    """Returns the patterns of a game.

    Args:
        nouns: names of a move, as alternatives of a pattern.
        seats: names of the players.
        free: whether any text is a valid value; then fewer labels count.
    """
    strong = rf"(?P<answer>{ANSWER}){'|' + nouns if nouns else ''}"
    weak = _FREE_NOUNS if free else f"{GENERAL_NOUNS}|{_I_CHOOSE}"
    noun = (
        rf"(?:(?:{_QUALIFIERS}){{0,4}}+|{_CHINESE_QUALIFIERS}{{0,4}}+)(?:(?P<strong>{strong})|(?P<weak>{weak}))(?![A-Za-z])"
        rf"(?:[ \t]*+(?:choice|move|action|答案|选择))?{_WHEN}"
    )
    seat = rf"(?P<seat>{seats.pattern})(?:'s[ \t]++(?:\w++[ \t]++){{0,2}}\w++)?"
    at_start = (
        rf"[^\w\n\ue000]*+{_NUMBERED}{_DISCOURSE}[^\w\n\ue000]*+"
        rf"(?:{seat}{_CLOSERS}(?P<seat_colon>{_COLON})|{noun}{_CLOSERS}(?:(?P<colon>{_COLON})|(?P<is>{_IS})|"
        rf"(?P<alone>(?=[.\s]*$))))[ \t]*+"
    )
    inside = rf"(?<![A-Za-z0-9_])(?:{seat}{_CLOSERS}(?:[:=])|{noun}{_CLOSERS}(?:(?P<colon>[:=])|(?P<is>{_IS})))[ \t]*+"
    flags = re.IGNORECASE
    return Labels(
        re.compile(at_start, flags),
        re.compile(inside, flags),
        re.compile(rf"(?:{seats.pattern})[ \t]*+(?=[(\[\d])", flags),
        re.compile(rf"\s*(?:{seats.pattern})\s*", flags),
    )


Value = TypeVar("Value")


def _no_fields(fields: Mapping[str, Any]) -> None:
    return None


@dataclass(frozen=True)
class Grammar(Generic[Value]):
    """The grammar of a statement in one game.

    Attributes:
        read: parses a value at the very beginning of a text: takes the text and whether a label precedes it, returns the
            value and its end offset, or ``None``; can raise a ``ParseError`` for an understood but impossible statement.
        nouns: names of a move in labels and as key of an object, alternatives of a pattern, e.g. ``"vote|ballot"``.
        seats: names of the players.
        fields: parses a value from the fields of an object (keys in lower case), or returns ``None``; can raise a ``ParseError``.
        lines: maximum number of lines of a value.
        free: whether any text is a valid value, as for a clue; then fewer labels count.
        bare: lines where an unlabelled value counts: any (``"anywhere"``), the last (``"last"``) or none (``"never"``).
    """

    read: Callable[[str, bool], tuple[Value, int] | None]
    nouns: str = ""
    seats: Seats = PLAYERS
    fields: Callable[[Mapping[str, Any]], Value | None] = _no_fields
    lines: int = 1
    free: bool = False
    bare: str = "anywhere"


AMOUNT = r"\d++(?:,\d++)*+(?:\.\d++)?|\.\d++"
"""Pattern of an amount; ``plain_number`` parses it."""

GOES_ON = re.compile(
    r"[.,]\d|\s*+\.\s*+\d|\w|\s*+(?:%|percent|hundred|thousand|million)|\s*+(?:[-+*/^=~×÷]|to\b|or\b|and\b|至|到|或)?\s*+\$?\d",
    re.IGNORECASE,
)
"""Continuation that makes an amount part of a longer number, a sum or a range: 3.5.2, 3k, 50%, 3 million, $7 / 2, 3-4, 3 or 4."""

_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})++(?:\.\d++)?")
_DECIMAL_COMMA = re.compile(r"\d++,\d{1,2}")


def plain_number(number: str) -> str | None:
    """Returns an amount without thousands separators and with a decimal point, or ``None`` if its commas are invalid.

    Args:
        number: a match of ``AMOUNT``; commas may separate thousands, or one or two decimals.
    """
    if "," not in number:
        return number
    if _THOUSANDS.fullmatch(number):
        return number.replace(",", "")
    return number.replace(",", ".") if _DECIMAL_COMMA.fullmatch(number) else None


class Rank(IntEnum):
    """Priority of a candidate: a label inside a line, a bare value on a line, a labelled line or an object."""

    INSIDE = 1
    BARE = 2
    LABELLED = 3


class Found(NamedTuple):
    """A candidate.

    Attributes:
        rank: priority.
        start: start offset.
        value: value, or a ``ParseError``, ``Other`` or ``UNREADABLE``.
        line: line number.
        seat: whether it follows the name of a seat.
        fields: fields of the source object.
        vague: whether it is possibly about something else, e.g. after ``Best response:``, before a remark, or after a
            statement; it does not replace another candidate.
        early: whether it is a bare value above the last line in a grammar where only the last line counts; it only conflicts
            with other candidates.
    """

    rank: Rank
    start: int
    value: Any
    line: int = 0
    seat: bool = False
    fields: Mapping[str, Any] = {}
    vague: bool = False
    early: bool = False


UNREADABLE = object()
"""Value of a final answer that cannot be parsed."""


class Other(NamedTuple):
    """A statement in the name of another player."""

    name: str


def choose(found: Iterable[Found]) -> Found:
    """Returns the last candidate of the highest rank; unlabelled candidates must all agree.

    Raises:
        ParseError: with ``nothing_stated``, ``not_your_name``, or the error of the chosen candidate.
    """
    own: list[Found] = []
    early: list[Found] = []
    other: Found | None = None
    exchanges = 0
    for candidate in found:
        if candidate.value is UNREADABLE:
            own.clear()  # an unreadable final answer overrides earlier candidates
            early.clear()
        elif isinstance(candidate.value, Other):
            other = candidate
        elif candidate.early:
            early.append(candidate)
        elif other and own and candidate.seat and own[-1].seat and own[-1].line < other.line:
            # Either past moves and then one's own, or one's own and then a forecast.
            exchanges += 1
            in_a_row = own[-1].line + 2 == other.line + 1 == candidate.line
            own.append(
                candidate._replace(value=unclear(candidate, own[-1])) if in_a_row or exchanges > 1 else candidate
            )
        else:
            own.append(candidate)
    if own:
        highest = max(candidate.rank for candidate in own)
        ranked = [candidate for candidate in own if candidate.rank is highest]
        chosen = ranked[-1]
        if highest is not Rank.LABELLED:
            rivals = ranked + early
        elif chosen.vague:
            stated = [candidate for candidate in own if candidate.rank > Rank.INSIDE] + early
            rivals = [candidate for candidate in stated if not candidate.vague][-1:] or stated
        else:
            rivals = []
        if any(candidate.value != chosen.value for candidate in rivals):
            raise ParseError(Failure.UNPARSABLE, "unclear")
        if isinstance(chosen.value, ParseError):
            raise chosen.value
        return chosen
    if other:
        raise ParseError(Failure.ILLEGAL, "not_your_name", name=other.value.name)
    raise ParseError(Failure.UNPARSABLE, "nothing_stated")


def unclear(one: Found, another: Found) -> Any:
    """Returns the value that two candidates share, or a ``ParseError``."""
    return one.value if one.value == another.value else ParseError(Failure.UNPARSABLE, "unclear")
