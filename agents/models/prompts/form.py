"""Format of a model's messages: the limits of the history, and the conversion to messages.

A policy records the format as ``FORM`` in the first call of a match. The messages can be rebuilt from it.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from agents.models.prompts.serialisers import Serialiser, read_serialiser
from llmarena_envs.core import declaration
from llmarena_envs.core.options import OptionError, check_choice, check_int

FORM = "prompt_form"
"""Its name in the detail of a reply."""

UPDATES = "updates"
HISTORIES = ("none", *declaration.HISTORIES, UPDATES)
REJECTED = ("keep", "cap", "drop")
WINDOWS = ("history_turns", "history_tokens")
"""Options that imply a full history."""

SHORTEST_KEPT = 100
"""Minimum of ``longest_kept``, in characters."""


@dataclass(frozen=True)
class Memory:
    """Limits of the history.

    Attributes:
        turns: maximum number of earlier turns, or ``None`` for all.
        tokens: maximum number of tokens of earlier turns, by ``estimate_tokens``, or ``None`` for no limit.
        rejected: treatment of a rejected reply within its turn: ``keep``, ``cap`` or ``drop``.
        longest_kept: maximum number of characters of a reply, counted from its end.
        updates: whether turns hold only the news, which requires all earlier turns.
    """

    turns: int | None
    tokens: int | None
    rejected: str
    longest_kept: int
    updates: bool = False

    @property
    def wants_chat(self) -> bool:
        """Whether the native chat replaces the remembered one: with a full history and no window."""
        return self.turns is None and self.tokens is None and not self.updates


def read_memory(
    history: str | None, history_turns: int | None, history_tokens: int | None, rejected: str, longest_kept: int
) -> Memory:
    """Returns the history limits for the options of a policy; see ``LLMPolicy``.

    Raises:
        OptionError: if an option is invalid, or two of them contradict each other.
    """
    check_choice("rejected", rejected, REJECTED)
    check_int("longest_kept", longest_kept, SHORTEST_KEPT, 10_000_000)
    windows = {"history_turns": history_turns, "history_tokens": history_tokens}
    given = [name for name, size in windows.items() if size is not None]
    for name in given:
        check_int(name, windows[name], 1, 1_000_000_000)
    if history is None:
        history = "full" if given else "single_turn"
    check_choice("history", history, HISTORIES)
    if history == "full":
        return Memory(history_turns, history_tokens, rejected, longest_kept)
    if given:
        raise OptionError(f"{given[0]}: expected history='full' or no history beside it, got history={history!r}")
    if history == UPDATES:
        return Memory(None, None, rejected, longest_kept, updates=True)
    return Memory(0, None, "drop", longest_kept)


@dataclass(frozen=True)
class PromptForm:
    """Format of the messages.

    Attributes:
        memory: limits of the history.
        system_role: role of the message with the rules.
        serialiser: conversion of the conversation to messages: a name, or a function.
    """

    memory: Memory
    system_role: str
    serialiser: str | Serialiser

    def table(self) -> dict[str, Any]:
        """Returns the format as JSON values; a function is ``None``."""
        serialiser = self.serialiser if isinstance(self.serialiser, str) else None
        return {**asdict(self.memory), "system_role": self.system_role, "serialiser": serialiser}


def read_form(table: object) -> PromptForm:
    """Reads the result of ``PromptForm.table``.

    Raises:
        OptionError: if it is invalid, or has no serialiser name because a function was used.
    """
    expected = {*(field.name for field in fields(Memory)), "system_role", "serialiser"}
    if not isinstance(table, Mapping) or table.keys() != expected:
        raise OptionError(f"expected how messages are put together, got {str(table)[:80]!r}")
    rest = dict(table)
    system_role, serialiser = rest.pop("system_role"), rest.pop("serialiser")
    if serialiser is None:
        raise OptionError("the messages were put together by a serialiser made in code, which is not recorded")
    read_serialiser(serialiser)
    return PromptForm(Memory(**rest), system_role, serialiser)
