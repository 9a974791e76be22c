"""Quotes players' texts in Markdown without interpreting their markup."""

import re

from llmarena_envs.core.terminal import printable

_BACKTICKS = re.compile("`+")


def block(text: str) -> str:
    """Returns a text as a code block; the fence is longer than any run of backticks in the text."""
    longest = max(map(len, _BACKTICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{printable(text)}\n{fence}"


def inline(text: str) -> str:
    """Returns a text as inline code; line ends become blanks."""
    plain = printable(" ".join(text.split()))
    fence = "`" * (max(map(len, _BACKTICKS.findall(plain)), default=0) + 1)
    return f"{fence} {plain} {fence}" if "`" in plain else f"`{plain or ' '}`"
