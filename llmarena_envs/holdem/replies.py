"""Grammar of actions in a reply: the five names and their variants."""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from llmarena_envs.core.failures import Failure, ParseError
from llmarena_envs.core.replies import Grammar
from llmarena_envs.holdem.betting import Action

ACTION_NAMES = ("Fold", "Check and Call", "Raise Half Pot", "Raise Full Pot", "All-In")
"""Action names in every language, in the order of ``Action``."""

CHECK: Literal["check"] = "check"
"""Result of ``FACING_A_BET`` for a bare check: it does not say whether the player would call."""

_CHECKS = frozenset(("check", "过牌"))

# Action names without filler words. "half pot" counts after a label, but not alone on a line.
_NAMES_ON_A_LINE = {
    Action.FOLD: ("fold", "弃牌"),
    Action.CHECK_CALL: (
        *("check and call", "check & call", "check or call", "check / call", "check call", "check", "call"),
        *("过牌或跟注", "过牌", "跟注"),
    ),
    Action.RAISE_HALF_POT: ("raise half pot", "raise half", "bet half pot", "bet half", "加注半池"),
    Action.RAISE_FULL_POT: ("raise full pot", "raise full", "raise pot", "bet full pot", "bet pot", "加注满池"),
    Action.ALL_IN: ("all in", "allin", "raise all in", "bet all in", "全下"),
}
_NAMES_AFTER_A_LABEL = {
    Action.RAISE_HALF_POT: ("half pot raise", "half pot bet", "half pot"),
    Action.RAISE_FULL_POT: ("full pot raise", "full pot bet", "full pot", "pot raise", "pot bet", "pot"),
}
_ON_A_LINE = {name: action for action, names in _NAMES_ON_A_LINE.items() for name in names}
_AFTER_A_LABEL = _ON_A_LINE | {name: action for action, names in _NAMES_AFTER_A_LABEL.items() for name in names}
_LONGEST_NAME = max(len(name.split()) for name in _AFTER_A_LABEL)
_MAX_TOKENS = 12

_FILLERS = frozenset(("by", "of", "the", "a", "to", "go", "sized", "i", "ll", "will", "choose"))
_SYNONYMS = {"1/2": "half", "½": "half", "50%": "half", "100%": "full", "whole": "full", "entire": "full"}
_SIZES = frozenset(("half", "full", "pot"))
_SIZED = (Action.RAISE_HALF_POT, Action.RAISE_FULL_POT)
_STACKS = frozenset(("my", "stack", "chips", "effective"))
_RAISES = frozenset(("raise", "bet", "加注", "下注"))

# Hyphens, underscores or capitals can join words: All-In, CHECK_AND_CALL, CheckAndCall.
_TOKEN = re.compile(
    r"[\s\"'_\-]*+(?:\([^()\n]{0,80}\)[\s\"']*+)?(1/2|½|\d++%|[A-Z]?[a-z]++|[A-Z]++(?![a-z])|[\u4e00-\u9fff]++|[&/])"
)
_AMOUNT = re.compile(
    r"[\s:,]{0,3}(?:for[ ])?[ ]?\$?(?<![\w.])(?:\d{1,9}(?![\w%/]|\.\d)|(?<=l)\d{1,9}\b)|(?<=[a-z])\d{1,9}\b"
)


def read_action(text: str, labelled: bool, facing_a_bet: bool = False) -> tuple[Action | Literal["check"], int] | None:
    """Reads an action name and an optional amount at the beginning of ``text``; returns it with its end position.

    Args:
        text: the text.
        labelled: whether a label precedes it.
        facing_a_bet: whether there is a bet to match: a check is then not a call.

    Raises:
        ParseError: if the size of a raise does not exist.
    """
    names = _AFTER_A_LABEL if labelled else _ON_A_LINE
    found: tuple[Action | Literal["check"], int] | None = None
    words: list[str] = []
    seen: list[str] = []
    position = named = 0
    while len(seen) < _MAX_TOKENS and (token := _TOKEN.match(text, position)):
        word = _SYNONYMS.get(token[1].lower(), token[1].lower())
        position = token.end()
        seen.append(word)
        if word in _FILLERS:
            if not labelled and not words:
                return None
            continue
        words.append(word)
        if len(words) > _LONGEST_NAME:
            break
        name = " ".join(words)
        action = names.get(name)
        if action is not None:
            found = CHECK if facing_a_bet and name in _CHECKS else action, position
            named = len(seen)
    if found and labelled and _SIZES.intersection(seen[named:][:3]):
        raise ParseError(Failure.UNPARSABLE, "free_amount")
    if found is None:
        if labelled and _RAISES.intersection(seen[:3]):
            raise ParseError(Failure.UNPARSABLE, "free_amount")
        return None
    if labelled and found[0] in _SIZED and _STACKS.intersection(seen[named:][:3]):
        raise ParseError(Failure.UNPARSABLE, "free_amount")
    amount = _AMOUNT.match(text, found[1])
    return (found[0], amount.end()) if amount else found


def _read_fields(fields: Mapping[str, Any]) -> Action | Literal["check"] | None:
    """Reads an object with a raise and its size in separate fields."""
    action, size = fields.get("action"), fields.get("size")
    if not isinstance(action, str) or not isinstance(size, str):
        return None
    read = read_action(f"{action} {size}", True)
    return read[0] if read else None


GRAMMAR = Grammar(read_action, nouns="action|行动|动作", fields=_read_fields)
FACING_A_BET = replace(GRAMMAR, read=partial(read_action, facing_a_bet=True))
