"""A tester of regular expressions: Python's ``re``."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import ClassVar

from llmarena_envs.simulation.engines.engine import Engine, cut_output, fault

MAX_PATTERN = 200
"""Maximum number of characters of a pattern."""
MAX_TEXT = 500
"""Maximum number of characters of a text."""
MAX_SECONDS = 2.0
"""Maximum time of a search."""
FLAGS = "ims"

_REQUEST = re.compile(r"/((?:\\.|[^/\\])*+)/([^ \n]*+)(?:[ \n](.*+))?", re.DOTALL)
_SEARCH = Path(__file__).with_name("regex_search.py")


class RegexTester(Engine):
    """Answers ``/pattern/flags text`` with all matches of Python's ``re`` and their groups.

    Each search runs in a process of its own, which is killed after ``MAX_SECONDS``: some patterns take exponential time.
    """

    name: ClassVar[str] = "regex_tester"

    def respond(self, request: str) -> str:
        """Returns the number of matches, and where each match and its groups begin and end."""
        if unreadable := fault(request):
            return f"ERROR: {unreadable}"
        match = _REQUEST.fullmatch(request.replace("\r\n", "\n").strip("\n"))
        if match is None:
            return "ERROR: write /pattern/flags text"
        pattern, flags, text = match[1], match[2], match[3] or ""
        unknown = next((letter for letter in flags if letter not in FLAGS), None)
        if unknown is not None:
            return f"ERROR: unknown flag {unknown}"
        if len(pattern) > MAX_PATTERN:
            return f"ERROR: pattern longer than {MAX_PATTERN} characters"
        if len(text) > MAX_TEXT:
            return f"ERROR: text longer than {MAX_TEXT} characters"
        return cut_output(_search(pattern, flags, text))

    def state(self) -> str:
        """Returns the empty state."""
        return "no state"


def _search(pattern: str, flags: str, text: str) -> str:
    command = [sys.executable, "-I", "-S", str(_SEARCH)]
    try:
        done = subprocess.run(
            command,
            input=json.dumps([pattern, flags, text]).encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=MAX_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "ERROR: out of time"
    return done.stdout.decode() if done.returncode == 0 else "ERROR: out of memory"
