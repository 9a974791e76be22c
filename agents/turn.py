"""One turn of one player: asking, asking again, and what is played if no legal move comes."""

import asyncio
import inspect
import json
import threading
import time
import traceback
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from agents.errors import ProviderError, Quit
from agents.feedback import feedback, reason
from agents.policy import Policy, Reply, ScriptedPolicy
from agents.records import Attempt
from llmarena_envs.core.failures import Failure, InvalidReply
from llmarena_envs.core.options import check_bool, check_choice, check_int
from llmarena_envs.core.text_env import TextEnv

FALLBACKS = ("forfeit", "random_legal", "noop")
MAX_LISTED = 200
"""Legal moves listed for a person who asks for them."""


@dataclass(frozen=True)
class TurnSettings:
    """What happens when a reply is no legal move (X-2).

    Attributes:
        reasks: how often a player is asked again after a reply that is no legal move.
        reask_illegal: whether a move that was understood but is not allowed is asked for again.
        feedback: whether the player is told what was wrong; otherwise the identical prompt is sent again.
        unparsable: what is played after the last reply without a move: ``forfeit``, ``random_legal`` (seeded), or ``noop``
            (the harmless default move of the game, a random legal one if it has none).
        illegal: the same after a last reply whose move is not allowed.
        pay_opponents: whether a forfeit pays the other players what the environment grants them; otherwise they receive
            nothing for the last turn.
        deadline: seconds a policy has for a reply, or ``None`` for no limit; people and scripted policies have none.
    """

    reasks: int = 2
    reask_illegal: bool = True
    feedback: bool = True
    unparsable: str = "random_legal"
    illegal: str = "forfeit"
    pay_opponents: bool = True
    deadline: float | None = None

    def __post_init__(self) -> None:
        check_int("reasks", self.reasks, 0, 100)
        check_bool("reask_illegal", self.reask_illegal)
        check_bool("feedback", self.feedback)
        check_bool("pay_opponents", self.pay_opponents)
        check_choice("unparsable", self.unparsable, FALLBACKS)
        check_choice("illegal", self.illegal, FALLBACKS)


STANDARD_TURNS = TurnSettings()


@dataclass(frozen=True)
class Move:
    """The result of asking: an action of the environment, and how it came about."""

    action: Any
    attempts: tuple[Attempt, ...]
    fallback: str = ""


async def take_turn(
    env: TextEnv,
    agent: str,
    policy: Policy,
    settings: TurnSettings,
    rng: Callable[[], np.random.Generator],
    language: str,
) -> Move:
    """Asks a policy for a legal move.

    Args:
        env: the raw environment, with ``agent`` selected.
        agent: who is to move.
        policy: the player.
        settings: what to do about replies that are no legal move.
        rng: gives the generator of a random fallback.
        language: language of the feedback.

    Raises:
        ProviderError: if the policy failed for no fault of the player.
    """
    attempts: list[Attempt] = []
    unlimited = getattr(policy, "unlimited_reasks", False)
    while True:
        action, attempt = await _ask(env, agent, policy, attempts, settings, language)
        attempts.append(attempt)
        if action is not None:
            return Move(action, tuple(attempts))
        final = attempt.kind is Failure.ILLEGAL and not settings.reask_illegal
        if not unlimited and (final or len(attempts) > settings.reasks):
            break
    fallback = settings.illegal if attempts[-1].kind is Failure.ILLEGAL else settings.unparsable
    action = None
    if fallback == "noop":
        action = env.default_action(agent)
        fallback = fallback if action is not None else "random_legal"
    if fallback == "random_legal":
        action = env.random_action(agent, rng())
    return Move(action, tuple(attempts), fallback)


def observation_for(
    env: TextEnv, agent: str, policy: Policy, attempts: list[Attempt], settings: TurnSettings, language: str
) -> Any:
    """Returns what the policy reads at the next attempt; see ``agents.policy``."""
    reads = getattr(policy, "reads", "text")
    if reads == "view":
        return env.view(agent)
    if reads == "vector":
        return env.vector(agent)
    if reads == "draw":
        return lambda rng: env.random_action(agent, rng)
    observation = env.observe(agent)
    if attempts:
        last = attempts[-1]
        observation |= {"attempt": len(attempts), "feedback": ""}
        if settings.feedback:
            observation["feedback"] = reason(last.kind, last.message, language)
            observation["text"] += "\n\n" + feedback(last.kind, last.message, last.reply, language)
    if getattr(policy, "wants_legal", False):
        view = env.view(agent)
        observation["legal"] = [env.codec.format(move, view) for move in view.legal[:MAX_LISTED]]
    return observation


async def _ask(
    env: TextEnv, agent: str, policy: Policy, attempts: list[Attempt], settings: TurnSettings, language: str
) -> tuple[Any, Attempt]:
    """Returns the action (``None`` if the reply is no legal move) and the record of the reply."""
    observation = observation_for(env, agent, policy, attempts, settings, language)
    start = time.perf_counter()
    answer = await _call(policy, observation, settings.deadline)
    seconds = time.perf_counter() - start
    reply = answer if isinstance(answer, Reply) else Reply(answer) if isinstance(answer, str) else None
    if reply is None:
        try:
            if answer is None or isinstance(answer, float):
                raise InvalidReply(Failure.UNPARSABLE, f"expected a text or an action, got {answer!r}")
            env.check_action(answer, agent)
            text = env.format(answer, agent)
        except InvalidReply as error:
            return None, Attempt(repr(answer)[:1000], error.kind, error.message, seconds=seconds)
        return int(answer), Attempt(text, seconds=seconds)
    # A lone surrogate can be neither stored nor sent.
    text = reply.text.encode("utf-8", "replace").decode("utf-8")
    kind, message, action = reply.kind, "", None
    if kind in (Failure.OK, Failure.TRUNCATED):
        try:
            action = env.parse(text, agent)
        except InvalidReply as error:
            kind = error.kind if kind is Failure.OK else kind
            message = error.message
    detail = None if reply.detail is None else json.loads(json.dumps(reply.detail, default=repr))
    record = Attempt(text, kind, message, reply.prompt_tokens, reply.completion_tokens, seconds, detail)
    return action, record


async def _call(policy: Policy, observation: Any, deadline: float | None) -> Any:
    """Calls the policy, within its deadline if it has one."""
    with provider_errors("the policy"):
        if deadline is None or isinstance(policy, ScriptedPolicy) or getattr(policy, "unlimited_reasks", False):
            answer = policy(observation)
            return await answer if inspect.isawaitable(answer) else answer
        try:
            async with asyncio.timeout(deadline):
                answer = await _in_thread(policy, observation)
                return await answer if inspect.isawaitable(answer) else answer
        except TimeoutError as error:
            raise ProviderError(f"no reply within {deadline} s") from error


@contextmanager
def provider_errors(what: str) -> Iterator[None]:
    """Makes a ``ProviderError`` of whatever goes wrong inside a policy, except that a person quits."""
    try:
        yield
    except (ProviderError, Quit):
        raise
    except Exception as error:
        where = traceback.format_exception(error)
        raise ProviderError(f"{what} raised {type(error).__name__}: {error}\n{''.join(where[-3:])}") from error


def _in_thread(policy: Policy, observation: Any) -> Awaitable[Any]:
    """Runs a synchronous policy in a daemon thread: one that never answers cannot keep the process from ending."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()

    def settle(result: Any, error: BaseException | None) -> None:
        if not future.done():
            if error is None:
                future.set_result(result)
            else:
                future.set_exception(error)

    def work() -> None:
        result, error = None, None
        try:
            result = policy(observation)
        except Exception as raised:
            error = raised
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, result, error)

    threading.Thread(target=work, daemon=True).start()
    return future
