"""Removal of API keys from shown or recorded texts."""

import base64
import html
import json
import re
from typing import AnyStr
from urllib.parse import quote, quote_plus

_HIDDEN = "***"
_SHORTEST = 8  # shorter keys, such as "x" for servers that need none, would match any text
_END = 4  # services quote this many characters of the beginning or end of a key
_PART = 8  # characters of a fragment from anywhere in a key

_SIGN = r"(?:[A-Za-z0-9_+/=~%*…•●█-]|\.(?=[A-Za-z0-9_.*…•●█]))"
_BEGIN = r"(?<![A-Za-z0-9_+/=~%*…•●█.-])"
_QUOTES = r"""[\\"'`(\[<]{0,3}"""
_LABEL = r"(?i:\b(?:[\w-]{0,30}key|token|secret|password|credential|authorization)s?\b)"
_IS_NO_WORD = rf"(?={_SIGN}{{0,300}}?(?:[\d*…•●█=]|\.\.|[a-z][A-Z])|{_SIGN}{{20}})"
_IS_MASKED = rf"(?={_SIGN}{{0,300}}?(?:[*•●█]|(?:…|\.\.)[A-Za-z0-9]|[xX]{{4}}))"
_HAS_LETTER_AND_DIGIT = rf"(?={_SIGN}{{0,300}}?\d)(?={_SIGN}{{0,300}}?[A-Za-z])"

_SHAPES = (
    # sk-abcd****wxyz
    rf"{_BEGIN}(){_SIGN}*?[*•●█]{{3,}}{_SIGN}*",
    # https://user:password@host
    r"(://)[^/\s@]{1,300}(?=@)",
    # Common key prefixes.
    rf"{_BEGIN}()(?:(?:sk|pk|rk|gsk|xai|pplx|csk|tgp|nvapi|hf|r8|gh[oprsu]|github_pat|glpat|xox[abp])[-_]"
    rf"|AIza|AKIA|ASIA|eyJ){_IS_NO_WORD}{_SIGN}{{4,}}",
    # Authorization: Bearer abcd1234
    rf"((?i:\b(?:bearer|basic))\s+){_IS_NO_WORD}{_SIGN}{{8,}}",
    # ?api_key=abcd
    rf"((?i:key|token|secret|password|passwd|signature|\bsig|auth)={_QUOTES}){_SIGN}{{4,}}",
    # Invalid key abcd...wxyz
    rf"({_LABEL}(?:[\"']?\s{{0,3}}[:：]\s{{0,3}}|(?: [\w'’]{{1,20}}){{0,4}}:? ){_QUOTES}){_IS_MASKED}{_SIGN}{{4,}}",
    # Incorrect API key provided: abcd1234
    rf"({_LABEL}(?:[\"']?\s{{0,3}}[:：]\s{{0,3}}|(?: [\w'’]{{1,20}}){{1,4}}:? ){_QUOTES}){_HAS_LETTER_AND_DIGIT}{_SIGN}{{6,}}",
    rf"({_LABEL} {_QUOTES}){_HAS_LETTER_AND_DIGIT}[A-Za-z0-9]{{12,}}",
    # The key that ends in wxyz
    rf"({_LABEL}[^\n.]{{0,60}}?\b(?i:ending|ends|beginning|begins|starting|starts|last (?:four|4))(?: [a-z]{{2,10}})?:?"
    rf" {_QUOTES}){_SIGN}{{2,}}",
)
"""Patterns of keys in error messages; the first group is kept."""


class Secret:
    """A key to be removed from server texts, which quote it as it is or encoded.

    Args:
        key: the key; one of fewer than eight characters is ignored.
    """

    def __init__(self, key: str) -> None:
        is_secret = len(key) >= _SHORTEST
        self._written = sorted(_written(key)) if is_secret else []
        pattern = "|".join(map(re.escape, sorted(_forms(key), key=len, reverse=True))) if is_secret else "(?!)"
        self._text = re.compile(pattern)
        self._bytes = re.compile(pattern.encode())

    def hide(self, text: AnyStr) -> AnyStr:
        """Returns a text without the key."""
        if isinstance(text, bytes):
            return self._bytes.sub(_HIDDEN.encode(), text)
        return self._text.sub(_HIDDEN, text)

    def hide_parts(self, text: str) -> str:
        """Returns a text without the key, eight consecutive characters of it, and four or more of its beginning or end."""
        text = self.hide(text)
        for form in self._written:
            text = _without_parts(text, form)
        return text


def hide_keys(text: str) -> str:
    """Hides anything like a key in an error text, whole or masked."""
    for shape in _SHAPES:  # compiled at the first error, because it takes longer than most commands
        text = re.sub(shape, rf"\g<1>{_HIDDEN}", text)
    return text


def _without_parts(text: str, key: str) -> str:
    """Returns a text without parts of a key."""
    parts = {key[begin : begin + _PART] for begin in range(len(key) - _PART + 1)}
    spans = []
    for place in range(len(text) - _END + 1):
        if text[place : place + _PART] in parts:
            spans.append((place, place + _PART))
        if text.startswith(key[:_END], place):
            spans.append((place, place + _common(text[place:], key)))
        if text.startswith(key[-_END:], place):
            behind = place + _END
            spans.append((behind - _common(text[:behind][::-1], key[::-1]), behind))
    kept, shown = [], 0
    for begin, end in sorted(spans):
        if begin >= shown:
            kept += [text[shown:begin], _HIDDEN]
        shown = max(shown, end)
    return "".join([*kept, text[shown:]])


def _common(text: str, key: str) -> int:
    """Returns the length of the common prefix of two texts."""
    return next(
        (place for place, (one, other) in enumerate(zip(text, key, strict=False)) if one != other),
        min(len(text), len(key)),
    )


def _forms(key: str) -> set[str]:
    """Returns the encoded forms of the key, up to two encodings."""
    once = _written(key)
    return once.union(*map(_written, once))


def _written(text: str) -> set[str]:
    """Returns a text as it is, and as encoded in JSON, Python, HTML, URLs and base 64."""
    in_json = json.dumps(text)[1:-1]
    pages = {html.escape(text), html.escape(text, quote=False)}
    addresses = {quote(text), quote(text, safe=""), quote_plus(text)}
    encoded = {encode(text.encode()).decode().rstrip("=") for encode in (base64.b64encode, base64.urlsafe_b64encode)}
    return {text, in_json, in_json.replace("/", "\\/"), repr(text)[1:-1]} | pages | addresses | encoded
