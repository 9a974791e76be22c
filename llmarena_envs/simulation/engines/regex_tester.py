"""A tester of regular expressions."""

import json
import re
from typing import ClassVar

from llmarena_envs.simulation.engines.engine import Engine, cut_output, fault
from llmarena_envs.simulation.engines.lines import Refused
from llmarena_envs.simulation.engines.pattern import Flags, read_pattern
from llmarena_envs.simulation.engines.pattern_matching import Span, find_matches

MAX_TEXT = 500
"""Characters of a text."""

_REQUEST = re.compile(r"/((?:\\.|[^/\\])*+)/([^ \n]*+)(?:[ \n](.*+))?", re.DOTALL)
_FLAGS = {"i": "ignore_case", "m": "multiline", "s": "dot_all"}


class RegexTester(Engine):
    """Answers ``/pattern/flags text`` with all matches and their groups."""

    name: ClassVar[str] = "regex_tester"

    def respond(self, request: str) -> str:
        """Returns the number of matches, and where each match and its groups begin and end."""
        if unreadable := fault(request):
            return f"ERROR: {unreadable}"
        match = _REQUEST.fullmatch(request.replace("\r\n", "\n").strip("\n"))
        if match is None:
            return "ERROR: write /pattern/flags text"
        try:
            return cut_output("\n".join(_report(match[1], match[2], match[3] or "")))
        except Refused as error:
            return f"ERROR: {error}"

    def state(self) -> str:
        """Returns that there is none: the tester remembers nothing."""
        return "no state"


def _report(pattern: str, letters: str, text: str) -> list[str]:
    flags = Flags(**dict.fromkeys(map(_flag, letters), True))
    read = read_pattern(pattern, flags)
    if len(text) > MAX_TEXT:
        raise Refused(f"text longer than {MAX_TEXT} characters")
    names = {number: f" {name}" for name, number in read.names.items()}
    lines: list[str] = []
    count = 0
    for count, (whole, *groups) in enumerate(find_matches(read, text), 1):
        lines.append(f"match {count}: {_shown(whole, text)}")
        lines += (
            f"  group {number}{names.get(number, '')}: {_shown(group, text)}" for number, group in enumerate(groups, 1)
        )
    return [f"{count} {'match' if count == 1 else 'matches'}", *lines]


def _flag(letter: str) -> str:
    if letter not in _FLAGS:
        raise Refused(f"unknown flag {letter}")
    return _FLAGS[letter]


def _shown(span: Span | None, text: str) -> str:
    if span is None:
        return "none"
    return f"{span[0]}-{span[1]} {json.dumps(text[slice(*span)], ensure_ascii=False)}"
