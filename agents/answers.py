"""Reading of policy answers: as a move, or as a player's failure."""

import json
import operator
import re
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from agents.calling import provider_errors
from agents.policy import Reply
from agents.records import Attempt, encodable
from llmarena_envs.core.failures import Failure, InvalidReply
from llmarena_envs.core.replies import read_part
from llmarena_envs.core.text_env import TextEnv

MAX_WRITTEN = 1000
"""Most characters recorded of an answer that is neither text nor a legal action."""

_INTEGER = re.compile("-?[0-9]{1,19}")
_TEXTS = (str, Reply)
_TRUTH_VALUES = (bool, np.bool_)


class Answer(NamedTuple):
    """A parsed answer.

    Attributes:
        action: a legal member of the action space, or ``None``.
        played: the action in the game's grammar, or an empty string.
        attempt: the record of the answer.
        kept: the valid parts of an incomplete multi-part move, else an empty string.
    """

    action: int | str | None
    played: str
    attempt: Attempt
    kept: str = ""


def read_answer(env: TextEnv, agent: str, answer: Any, seconds: float, kept: str = "") -> Answer:
    """Reads the answer of a policy.

    Args:
        env: the environment, with ``agent`` selected.
        agent: the agent to move.
        answer: a text, a ``Reply`` or an action; anything else is no move.
        seconds: duration of the call.
        kept: parts of the move from earlier answers of the turn; a text is parsed after them.

    Raises:
        ProviderError: if the answer holds values that cannot be recorded.
    """
    with provider_errors("recording the policy's answer"):
        if isinstance(answer, _TEXTS):
            text = _record_text(answer if isinstance(answer, Reply) else Reply(answer), seconds)
        else:
            text, number = None, _as_integer(answer)
            written = "" if number is not None else encodable(repr(answer))[:MAX_WRITTEN]
    if text is not None:
        return _read_text(env, agent, text, kept)
    return _read_action(env, agent, number, written, seconds)


def read_again(env: TextEnv, agent: str, attempt: Attempt, kept: str = "") -> Answer:
    """Reads a recorded reply as it was read originally, from its text only.

    The provider's own ``TRUNCATED`` or ``REFUSAL`` is taken from the record. The result's attempt differs from ``attempt`` if the
    record does not follow from the reply.

    Args:
        env: the environment, with ``agent`` selected.
        agent: the agent to move.
        attempt: the record.
        kept: as in ``read_answer``.
    """
    said = attempt.kind if attempt.kind in (Failure.TRUNCATED, Failure.REFUSAL) else Failure.OK
    given = replace(attempt, kind=said, message="")
    answer = _read_text(env, agent, given, kept)
    if answer.attempt == attempt or attempt.kind is Failure.OK:
        return answer
    # It was possibly an action, recorded as its number if illegal.
    number = int(attempt.reply) if _INTEGER.fullmatch(attempt.reply) else None
    as_action = _read_action(env, agent, number, attempt.reply, attempt.seconds)
    return as_action if as_action.attempt == attempt else answer


def write_action(env: TextEnv, agent: str, action: int | str) -> str:
    """Returns a legal action in the game's grammar; text actions are unchanged."""
    return action if isinstance(action, str) else env.format(action, agent)


def _read_text(env: TextEnv, agent: str, said: Attempt, kept: str) -> Answer:
    """Reads a text; the kind of ``said`` is the kind reported by the provider."""
    if said.kind is Failure.REFUSAL:
        return Answer(None, "", said)
    try:
        action = env.parse(f"{kept}\n{said.reply}" if kept and said.reply.strip() else said.reply, agent)
    except InvalidReply as error:
        kind = error.kind if said.kind is Failure.OK else said.kind
        return Answer(None, "", replace(said, kind=kind, message=error.message), error.kept)
    if said.kind is Failure.TRUNCATED and not read_part(said.reply).strip():
        return Answer(None, "", said)  # some games allow an empty text, but not because of the token limit
    return Answer(action, write_action(env, agent, action), said)


def _read_action(env: TextEnv, agent: str, number: int | None, written: str, seconds: float) -> Answer:
    """Reads an action: a number, or ``None`` for another value, recorded as ``written``."""
    if number is None:
        return Answer(None, "", Attempt(written, Failure.UNPARSABLE, "expected a text or an action", seconds=seconds))
    try:
        env.check_action(number, agent)
        played = env.format(number, agent)
    except InvalidReply as error:
        return Answer(None, "", Attempt(str(number), error.kind, error.message, seconds=seconds))
    return Answer(number, played, Attempt(played, seconds=seconds))


def _record_text(reply: Reply, seconds: float) -> Attempt:
    kind = Failure.OK if reply.kind is Failure.EMPTY else reply.kind  # visible from the text
    detail = None
    if reply.detail is not None:
        detail = json.loads(encodable(json.dumps(reply.detail, default=repr, ensure_ascii=False)))
    text = encodable(reply.text)
    return Attempt(
        text,
        kind,
        prompt_tokens=reply.prompt_tokens,
        completion_tokens=reply.completion_tokens,
        cached_tokens=reply.cached_tokens,
        reasoning_tokens=reply.reasoning_tokens,
        reasoning=encodable(reply.reasoning),
        calls=reply.calls,
        seconds=seconds,
        waited=reply.waited,
        request_id=encodable(reply.request_id),
        detail=detail,
    )


def _as_integer(answer: Any) -> int | None:
    """Returns ``answer`` as an integer, or ``None``: booleans are no integers, and no game has 64-bit actions."""
    if isinstance(answer, _TRUTH_VALUES):
        return None
    try:
        number = operator.index(answer)
    except TypeError:
        return None
    return number if number.bit_length() < 64 else None
