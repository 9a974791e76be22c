"""Runs in a process of its own: searches a text with Python's ``re`` and prints all matches."""

import json
import re
import sys

MAX_MEMORY = 512 * 2**20
"""Maximum number of bytes of address space."""


def report(pattern: str, flags: str, text: str) -> str:
    """Returns the number of matches, and the position and text of each match and its groups; or why the pattern is invalid."""
    options = re.ASCII
    for flag in flags:
        options |= re.RegexFlag[flag.upper()]
    try:
        compiled = re.compile(pattern, options)
    except (re.error, RecursionError, OverflowError, ValueError) as error:
        return f"ERROR: {error}"
    names = {number: f" {name}" for name, number in compiled.groupindex.items()}
    lines: list[str] = []
    count = 0
    for count, match in enumerate(compiled.finditer(text), 1):
        lines.append(f"match {count}: {_shown(match, 0)}")
        lines += (
            f"  group {number}{names.get(number, '')}: {_shown(match, number)}"
            for number in range(1, compiled.groups + 1)
        )
    return "\n".join([f"{count} {'match' if count == 1 else 'matches'}", *lines])


def _shown(match: re.Match[str], group: int) -> str:
    if match[group] is None:
        return "none"
    start, end = match.span(group)
    return f"{start}-{end} {json.dumps(match[group], ensure_ascii=False)}"


def _limit_memory() -> None:
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    except (ImportError, OSError, ValueError):
        pass  # Windows, macOS, or a lower limit in force


if __name__ == "__main__":
    _limit_memory()
    sys.stdout.buffer.write(report(*json.load(sys.stdin)).encode())
