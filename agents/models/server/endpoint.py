"""Address and API key of a model server."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from agents.providers import needs_key
from llmarena_envs.core.options import OptionError

NO_KEY = "no-key"
"""Placeholder key for a server that needs none, because the SDK requires one."""

_SECRET_NAMES = ("key", "token", "secret", "sig", "signature", "password", "passwd", "pwd", "code", "auth")


@dataclass(frozen=True)
class Endpoint:
    """A server and the name of the environment variable that holds its key.

    Attributes:
        base_url: address, usually ending in ``/v1``; ``None`` for ``OPENAI_BASE_URL``, or OpenAI's own. A query such as
            ``?api-version=2024-10-21`` is sent with every request. ``${NAME}`` stands for an environment variable.
        api_key_env: name of the variable.
    """

    base_url: str | None
    api_key_env: str

    def check(self) -> None:
        """Raises an ``OptionError`` if the address is not usable or ``api_key_env`` is not a variable name."""
        if self.base_url is not None:
            address = _expanded(self.base_url) if isinstance(self.base_url, str) else self.base_url
            try:
                parts = urlsplit(address)
                usable = parts.scheme in ("http", "https") and bool(parts.hostname)
                is_secret = bool(parts.username or parts.password) or any(
                    _names_secret(name) for name, _ in parse_qsl(parts.query, keep_blank_values=True)
                )
            except (ValueError, AttributeError, TypeError):
                usable, is_secret = False, False
            if is_secret:
                raise OptionError(
                    "base_url: expected an address without user, password and keys in its query, since it is written into"
                    " records; put the key into the environment variable that api_key_env names"
                )
            if not usable:
                raise OptionError(
                    f"base_url: expected an address such as http://localhost:8000/v1, got {self.base_url!r}"
                )
        if not self.api_key_env.isidentifier():
            # The value is not shown, because it could be a key.
            raise OptionError("api_key_env: expected the name of an environment variable, e.g. OPENAI_API_KEY")

    def split(self) -> tuple[str | None, dict[str, str]]:
        """Returns the address without its query, and the query; ``None`` is OpenAI's own address."""
        address = _expanded(self.base_url or "") or os.environ.get("OPENAI_BASE_URL") or None
        if address is None:
            return None, {}
        parts = urlsplit(address)
        return urlunsplit(parts._replace(query="")), dict(parse_qsl(parts.query, keep_blank_values=True))

    def read_key(self) -> str:
        """Returns the key from the environment, or ``NO_KEY`` if the variable is unset and the server is not OpenAI's.

        Raises:
            OptionError: if a required key is missing, or has characters that are invalid in a header.
        """
        key = os.environ.get(self.api_key_env, "").strip()
        if not (key.isascii() and key.isprintable()):
            raise OptionError(f"{self.api_key_env}: expected a key of printable ASCII characters")
        if key:
            return key
        if self.base_url and needs_key(self.base_url):
            raise OptionError(f"there is no key for {self.base_url}: set the environment variable {self.api_key_env}")
        if self.base_url or os.environ.get("OPENAI_BASE_URL"):
            return NO_KEY
        raise OptionError(
            f"there is no key for OpenAI: set the environment variable {self.api_key_env}, or give the base_url of a"
            " server that needs no key"
        )


def _expanded(address: str) -> str:
    """Returns an address with the values of environment variables.

    Raises:
        OptionError: if a variable is not set.
    """

    def value(variable: re.Match[str]) -> str:
        found = os.environ.get(variable[1], "").rstrip("/")
        if not found:
            raise OptionError(f"base_url: {address} needs the environment variable {variable[1]}, which is not set")
        return found

    return re.sub(r"\$\{(\w+)\}", value, address)


def secret_fields(fields: object) -> list[str]:
    """Returns the names of request fields, at any depth, that indicate a secret.

    The list is shorter than for a query, because of fields such as ``prompt_cache_key``.
    """
    if isinstance(fields, Mapping):
        own = [name for name, value in fields.items() if value and isinstance(value, str) and _is_secret(name)]
        return own + [name for value in fields.values() for name in secret_fields(value)]
    return [name for value in fields for name in secret_fields(value)] if isinstance(fields, list | tuple) else []


def _is_secret(name: str) -> bool:
    words = " ".join(_words(name))
    return (
        re.search(
            r"\b(auth|authori[sz]ation|authentication|pass(word|wd)|secret|api ?key|access ?(key|token)|bearer)\b",
            words,
        )
        is not None
    )


def _names_secret(name: str) -> bool:
    """Returns whether the name of a query field indicates a secret: ``key``, ``api_key``, ``accessToken``, ``authorization``."""
    return any(word.startswith("auth") or word.endswith(_SECRET_NAMES) for word in _words(name))


def _words(name: str) -> list[str]:
    return re.split(r"[^a-z0-9]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).lower())
