"""Whether a message tells the speaker's private values, by the words it uses."""

import re

from llmarena_envs.bargain.scenarios import Triple

_DIGIT = re.compile(r"\d")
_SPACES = re.compile(r"[^\S\n]+")
_NAMES = (r"(?:hats?|帽子?)", r"(?:balls?|球)", r"(?:apples?|苹果)")
_LINK = r"(?:[:：=]|\bis\b|\bare\b|\bat\b|worth|value|值|是|为)"

# "hats are worth 3", "hat: 3", "帽子值 3"; and "3 points per hat", "3 for each hat".
_ITEM_FIRST = tuple(
    re.compile(rf"{name}[\"']?[^\d\n,;，；。]{{0,30}}?{_LINK}[^\d\n,;，；。]{{0,20}}(\d+)", re.IGNORECASE)
    for name in _NAMES
)
_VALUE_FIRST = tuple(
    re.compile(rf"(\d+)\s*(?:points?\s*)?(?:per|for (?:a|an|each|every|one))\s+{name}", re.IGNORECASE)
    for name in _NAMES
)
# "my values are 3, 1, 2".
_TRIPLE = re.compile(
    r"(?:value|worth|points|值)[^\d\n]{0,40}(\d+)\s*[,/;、，]\s*(?:and\s*)?(\d+)\s*[,/;、，]?\s*(?:and\s*|和\s*)?(\d+)",
    re.IGNORECASE,
)


def discloses(message: str, values: Triple) -> bool:
    """Says whether ``message`` states the value of each of the three kinds of items to its writer.

    Values are recognised beside the name of an item (``hats are worth 3``, ``ball: 1``, ``2 points per apple``) or as a list
    in the order hats, balls, apples after a word such as ``values``. Hints, comparisons and numbers in words are not.
    """
    if not _DIGIT.search(message):
        return False
    message = _SPACES.sub(" ", message)
    stated = [
        {int(number) for pattern in patterns for number in pattern.findall(message) if len(number) <= 2}
        for patterns in zip(_ITEM_FIRST, _VALUE_FIRST, strict=True)
    ]
    if all(value in numbers for value, numbers in zip(values, stated, strict=True)):
        return True
    expected = tuple(str(value) for value in values)
    return any(match.groups() == expected for match in _TRIPLE.finditer(message))
