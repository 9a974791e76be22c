"""Function calls in Python syntax: ``play(column=4)``, ``make_move("X: 4")``; nothing is evaluated."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from llmarena_envs.core.reading.objects import Reader

MAX_CALLS = 50
"""Maximum number of calls parsed in a text, counted from the end."""

_CALL = re.compile(r"(?<![\w.])(?:[^\W\d]\w{0,30}+\.){0,4}+(?P<name>[^\W\d]\w{0,40}+)\((?!\))")
# Text allowed before and after a call that is the only statement of its line.
_BEFORE = re.compile(r"(?:[^\n]{0,100}[:=])?[^\w\n]*+(?:(?:print|return|await)\b[^\w\n]*+)?", re.IGNORECASE)
_AFTER = re.compile(r"[^\w\n]*+(?:$|\n|#)")

_STATES = re.compile(r"[\"'\d]")  # missing in a word with parentheses, e.g. play(ful)

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[^\W\d_a-zA-Z]+")
# Words in names of functions that make a move, and of functions that inspect, evaluate or belong to another player.
_MOVES = re.compile(
    r"make|do|take|submit|send|play|place|put|drop|insert|choose|select|pick|perform|execute|step|cast|give|"
    r"propose|answer|respond|reply|say|finish|commit|my|final|move|action|turn|decision|choice|response|piece|"
    r"disc|disk|token|mark|discard"
)
_LOOKS = re.compile(
    r"get|is|are|has|can|check|evaluate|eval|score|list|show|analyze|analyse|simulate|search|find|opponent|"
    r"opponents|partner|legal|valid|validate|value|values|test|think|note|undo|predict|calculate|compute|expect|"
    r"expected|threat|consider|compare|def|lookup|query|inspect|probability|state|board|not|avoid|would|if|"
    r"alternative|example|remember|reject|assert|max|min|count|estimate|win|wins|block|lose|loses|keep"
)


def is_no_move(name: str) -> bool:
    """Says whether the name of a function shows that it inspects, evaluates or belongs to another player."""
    return any(_LOOKS.fullmatch(word.lower()) for word in _WORD.findall(name))


def _is_move(name: str, nouns: str) -> bool:
    words = [word.lower() for word in _WORD.findall(name)]
    return bool(words) and all(_MOVES.fullmatch(word) or (nouns and re.fullmatch(nouns, word)) for word in words)


def find_calls(text: str, raw: str, nouns: str) -> Iterator[tuple[int, int, Mapping[str, Any] | None]]:
    """Yields start, end and content of the calls in narrowed ``text``; ``raw`` is the original text.

    The content is ``None`` if the call shares its line with other text or its function makes no move. A word before a
    parenthesis is not a call.
    """
    as_written, narrowed = Reader(raw), Reader(text)
    done = 0
    for match in list(_CALL.finditer(text))[-MAX_CALLS:]:
        if match.start() < done:
            continue
        arguments = as_written.read_arguments(match.end()) or narrowed.read_arguments(match.end())
        if arguments is None:
            continue
        named, end = arguments
        name = match["name"]
        if not isinstance(named, dict) and not (_is_move(name, nouns) and _STATES.search(text, match.end(), end)):
            continue
        done = end
        line_start = text.rfind("\n", 0, match.start()) + 1
        alone = _BEFORE.fullmatch(text, line_start, match.start()) and _AFTER.match(text, end)
        content = None if is_no_move(name) or not alone else {"name": name, "arguments": named}
        yield match.start(), end, content
