"""Checks of constructor options; errors name the expected value, the actual value and the nearest valid one."""

import difflib
from collections.abc import Iterable
from typing import Any

from llmarena_envs.core.errors import ArenaError


class OptionError(ArenaError, ValueError):
    """An invalid option of an environment, a policy or a run."""


def nearest(value: object, choices: Iterable[str]) -> str:
    """Returns ``"; did you mean 'x'?"`` with the choices that resemble ``value``, or an empty string."""
    matches = difflib.get_close_matches(str(value), list(choices), n=3, cutoff=0.5)
    return f"; did you mean {' or '.join(map(repr, matches))}?" if matches else ""


def check_choice(name: str, value: object, choices: Iterable[str]) -> None:
    """Raises an ``OptionError`` unless ``value`` is one of ``choices``."""
    allowed = list(choices)
    if value not in allowed:
        raise OptionError(
            f"{name}: expected one of {', '.join(map(repr, allowed))}, got {value!r}{nearest(value, allowed)}"
        )


def check_int(name: str, value: object, low: int, high: int) -> None:
    """Raises an ``OptionError`` unless ``value`` is an ``int`` (no ``bool``) within ``low..high``, both included."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise OptionError(f"{name}: expected an integer from {low} to {high}, got {value!r}")


def check_number(name: str, value: object, low: float, high: float) -> None:
    """Raises an ``OptionError`` unless ``value`` is a number (no ``bool``) within ``low..high``, both included."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise OptionError(f"{name}: expected a number from {low:g} to {high:g}, got {value!r}")


def check_bool(name: str, value: object) -> None:
    """Raises an ``OptionError`` unless ``value`` is ``True`` or ``False``."""
    if not isinstance(value, bool):
        raise OptionError(f"{name}: expected True or False, got {value!r}")


def parse_options(items: Iterable[str], where: str) -> dict[str, Any]:
    """Parses ``key=value`` items of a command line.

    Args:
        items: the items; values are parsed as integers, numbers, ``true`` or ``false`` if possible, else as text.
        where: name of the items in error messages.

    Raises:
        OptionError: if an item has another form.
    """
    options: dict[str, Any] = {}
    for item in items:
        key, equals, text = item.partition("=")
        if not equals or not key.strip().isidentifier():
            raise OptionError(f"{where}: expected key=value, got {item!r}")
        options[key.strip()] = _value(text.strip())
    return options


def parse_pairs(items: Iterable[str], where: str, form: str) -> dict[str, str]:
    """Parses ``name=value`` items with text values.

    Args:
        items: the items; the value begins after the first equals sign.
        where: name of the items in error messages.
        form: form of an item for error messages, e.g. ``NAME=FAMILY``.

    Raises:
        OptionError: if an item has another form.
    """
    pairs = {}
    for item in items:
        name, equals, value = item.partition("=")
        if not (name and equals and value):
            raise OptionError(f"{where}: expected {form}, got {item!r:.60}")
        pairs[name] = value
    return pairs


def _value(text: str) -> Any:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
