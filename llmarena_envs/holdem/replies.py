"""How a reply is read: the name of one of the five actions after the mark ``Action:``, or alone on a line."""

import re

from llmarena_envs.core.failures import Failure, InvalidReply
from llmarena_envs.core.replies import json_objects, last_match, normalise
from llmarena_envs.holdem.betting import Action

ACTION_NAMES = ("Fold", "Check and Call", "Raise Half Pot", "Raise Full Pot", "All-In")
"""Names of the actions in every language, in the order of ``Action``."""

# What the actions are called once fillers are left out. "half pot" counts after the mark, but not alone on a line.
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
_NAMES_AFTER_A_MARK = {
    Action.RAISE_HALF_POT: ("half pot raise", "half pot bet", "half pot"),
    Action.RAISE_FULL_POT: ("full pot raise", "full pot bet", "full pot", "pot raise", "pot bet", "pot"),
}
_ON_A_LINE = {name: action for action, names in _NAMES_ON_A_LINE.items() for name in names}
_AFTER_A_MARK = _ON_A_LINE | {name: action for action, names in _NAMES_AFTER_A_MARK.items() for name in names}
_LONGEST_NAME = max(len(name.split()) for name in _AFTER_A_MARK)

_FILLERS = frozenset(("by", "of", "the", "a", "to", "go", "sized", "i", "ll", "will", "choose"))
_SYNONYMS = {"1/2": "half", "50%": "half", "100%": "full", "whole": "full", "entire": "full"}
_CONNECTORS = frozenset(("and", "or", "then", "/", "|", "&", ",", "或"))
# After a name the statement may end, or go on to an amount or a reason.
_TAILS = _CONNECTORS | frozenset((".", ";", ":", "!", "because", "since", "as", "to", "for", "of", "with", "the", "my"))

_MARK = re.compile(
    r"(?:^|[.!?;。])[ \t]*[-*#>\"'\[({_]*[ \t]*(?:my |final |chosen |我的|最终)*(?:action|行动|动作)[\"'\])}_*]*\s*[:=]\s*",
    re.IGNORECASE | re.MULTILINE,
)
_MAX_STATEMENT = 200
_TOKEN = re.compile(r"1/2|\d+%?|[a-z]+|[\u4e00-\u9fff]+|[.,;:!?/|&]")
_NOTE = re.compile(r"\([^()]*\)")
_DASH = re.compile(r"\s[‐‑–—-]+\s|—")
_CAMEL_CASE = re.compile(r"(?<=[a-z])(?=[A-Z])")
_BARE_LINE = re.compile(r"^[ \t]*([\"'\[(<_A-Za-z\u4e00-\u9fff][^\n]{1,60})$", re.MULTILINE)


def read_action(reply: str) -> Action:
    """Reads the action that a reply states last.

    A line ``Action: <name>`` or a JSON object with ``action`` comes before a line that holds nothing but a name; a name in
    running text is no statement.

    Raises:
        InvalidReply: with kind ``UNPARSABLE`` if no action is stated, or the statement is not exactly one of the five.
    """
    text = normalise(reply)
    mark = last_match(_MARK, text)
    position = mark.end() if mark else -1
    statement = text[position:].partition("\n")[0] if mark else None
    for end, value in json_objects(text):
        stated = next((value[key] for key in value if key.lower() == "action"), None)
        if stated is not None and end > position:
            statement = str(stated)
    if statement is not None:
        return _read_statement(statement)
    actions = [action for line in _BARE_LINE.finditer(text) if (action := _read_line(line[1])) is not None]
    if actions:
        return actions[-1]
    raise InvalidReply(Failure.UNPARSABLE, f"no action was found; end the reply with a line such as {_example()}")


def _read_statement(statement: str) -> Action:
    """Reads what follows a mark: one name, perhaps with an amount or a reason after it."""
    tokens = _tokens(statement)
    action, length = _leading_name(tokens, _AFTER_A_MARK)
    if action is None:
        if any(token in ("raise", "bet", "加注", "下注") for token in tokens[:3]):
            raise InvalidReply(
                Failure.UNPARSABLE,
                "amounts cannot be chosen, and a raise has to name its size: Raise Half Pot, Raise Full Pot or All-In",
            )
        raise InvalidReply(
            Failure.UNPARSABLE,
            f"the line names none of the five actions; end the reply with a line such as {_example()}",
        )
    tail = tokens[length:]
    if not tail or tail[0].isdigit():
        return action
    second = _leading_name(tail[1:], _AFTER_A_MARK)[0] if tail[0] in _CONNECTORS else None
    if tail[0] not in _TAILS or second not in (None, action):
        raise InvalidReply(
            Failure.UNPARSABLE, f"the line says more than one action; end the reply with a line such as {_example()}"
        )
    return action


def _read_line(line: str) -> Action | None:
    """Reads a line that holds nothing but a name, perhaps with an amount after it."""
    tokens = _tokens(line)
    if not tokens or tokens[0] in _FILLERS:
        return None
    action, length = _leading_name(tokens, _ON_A_LINE)
    rest = [token for token in tokens[length:] if not token.isdigit() and token not in (".", "!")]
    return None if rest else action


def _leading_name(tokens: list[str], names: dict[str, Action]) -> tuple[Action | None, int]:
    """Returns the action whose name is the longest at the beginning of ``tokens``, and where the name ends."""
    found: tuple[Action | None, int] = (None, 0)
    words: list[str] = []
    for position, token in enumerate(tokens):
        if token in _FILLERS:
            continue
        words.append(token)
        if len(words) > _LONGEST_NAME:
            break
        action = names.get(" ".join(words))
        if action is not None:
            found = (action, position + 1)
    return found


def _tokens(statement: str) -> list[str]:
    """Returns words, numbers and marks; notes in brackets, quotes, hyphens and underscores are left out."""
    text = _CAMEL_CASE.sub(" ", statement[:_MAX_STATEMENT].replace("\u2044", "/"))
    tokens = _TOKEN.findall(_DASH.sub(" ; ", _NOTE.sub(" ", text)).lower())
    return [_SYNONYMS.get(token, token) for token in tokens]


def _example() -> str:
    return f"'Action: {ACTION_NAMES[Action.CHECK_CALL]}'"
