"""A key that may stand in nothing that is shown or kept."""

import base64
import html
import json
import re
from typing import AnyStr
from urllib.parse import quote, quote_plus

_HIDDEN = "***"
_SHORTEST = 8  # keys such as "x" for servers that need none would be found in any text


class Secret:
    """A key, which is taken out of what comes from servers: they quote it, as it is or as they write it elsewhere.

    Args:
        key: the key; one of fewer than eight characters is none.
    """

    def __init__(self, key: str) -> None:
        forms = sorted(_forms(key), key=len, reverse=True) if len(key) >= _SHORTEST else []
        pattern = "|".join(map(re.escape, forms)) or "(?!)"
        self._text = re.compile(pattern)
        self._bytes = re.compile(pattern.encode())

    def hide(self, text: AnyStr) -> AnyStr:
        """Returns a text without the key."""
        if isinstance(text, bytes):
            return self._bytes.sub(_HIDDEN.encode(), text)
        return self._text.sub(_HIDDEN, text)


def _forms(key: str) -> set[str]:
    """Returns the key as it may be written, also where what is written is written once more."""
    once = _written(key)
    return once.union(*map(_written, once))


def _written(text: str) -> set[str]:
    """Returns a text as it is, and as it is written in JSON, in Python, in HTML, in addresses and in base 64."""
    in_json = json.dumps(text)[1:-1]
    pages = {html.escape(text), html.escape(text, quote=False)}
    addresses = {quote(text), quote(text, safe=""), quote_plus(text)}
    encoded = {encode(text.encode()).decode().rstrip("=") for encode in (base64.b64encode, base64.urlsafe_b64encode)}
    return {text, in_json, in_json.replace("/", "\\/"), repr(text)[1:-1]} | pages | addresses | encoded
