"""One turn of one player: asking, asking again, and what is played if no legal move comes."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from agents.answers import read_again, read_answer, write_action
from agents.errors import ReplayMismatch
from agents.feedback import feedback, reason
from agents.player import Player
from agents.records import Attempt, Turn
from llmarena_envs.core.declaration import FALLBACKS
from llmarena_envs.core.failures import Failure
from llmarena_envs.core.options import OptionError, check_bool, check_choice, check_int
from llmarena_envs.core.text_env import TextEnv


@dataclass(frozen=True)
class TurnSettings:
    """What happens when a reply is no legal move.

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

    Raises:
        OptionError: if one of them has no valid value.
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
        if self.deadline is not None and not _is_positive(self.deadline):
            raise OptionError(f"deadline: expected a number of seconds above 0, or None, got {self.deadline!r}")

    def ends_turn(self, attempts: list[Attempt]) -> bool:
        """Says whether a player is not asked again after these replies, none of which is a legal move."""
        final = attempts[-1].kind is Failure.ILLEGAL and not self.reask_illegal
        return final or len(attempts) > self.reasks


STANDARD_TURNS = TurnSettings()


class Move(NamedTuple):
    """What a turn came to; the fields are those of ``Turn``."""

    action: int | str | None
    played: str
    attempts: tuple[Attempt, ...]
    fallback: str


async def take_turn(
    env: TextEnv,
    agent: str,
    player: Player,
    observation: Any,
    settings: TurnSettings,
    rng: Callable[[], np.random.Generator],
    recorded: Turn | None = None,
) -> Move:
    """Asks a player for a legal move, or comes to the move again that recorded replies lead to.

    Args:
        env: the raw environment, with ``agent`` selected.
        agent: who is to move.
        player: the player.
        observation: what the player reads when it is asked for the first time.
        settings: what to do about replies that are no legal move.
        rng: gives the generator of a random fallback.
        recorded: the same turn, played before: its replies are taken, and the player recalls them instead of being asked.

    Raises:
        ProviderError: if the policy failed for no fault of the player.
        Quit: if a person leaves.
        ReplayMismatch: if the recorded replies lead to no move.
    """
    # Who plays is not recorded, but a turn without a fallback ended in a legal move, after however many replies.
    patient = player.is_person if recorded is None else not recorded.fallback
    attempts: list[Attempt] = []
    while True:
        read = observation
        if attempts and player.reads == "text":
            read = _add_feedback(observation, attempts, settings, env.codec.language)
        if recorded is None:
            start = time.perf_counter()
            answer = await player.ask(read, settings.deadline)
            action, played, attempt = read_answer(env, agent, answer, time.perf_counter() - start)
        elif len(attempts) < len(recorded.attempts):
            old = recorded.attempts[len(attempts)]
            await player.recall(read, old.reply, settings.deadline)
            action, played, attempt = read_again(env, agent, old)
        else:
            raise ReplayMismatch(
                f"turn {recorded.index}: expected replies that lead to {recorded.played!r}"
                f" (fallback: {recorded.fallback or 'none'}), but {len(attempts)} lead to no move"
            )
        attempts.append(attempt)
        if action is not None:
            return Move(action, played, tuple(attempts), "")
        if not patient and settings.ends_turn(attempts):
            return _fall_back(env, agent, attempts, settings, rng)


def _add_feedback(
    observation: dict[str, Any], attempts: list[Attempt], settings: TurnSettings, language: str
) -> dict[str, Any]:
    """Returns what a player reads who is asked again."""
    if not settings.feedback:
        return {**observation, "attempt": len(attempts), "feedback": ""}
    last = attempts[-1]
    return {
        **observation,
        "attempt": len(attempts),
        "feedback": reason(last.kind, last.message, language),
        "text": f"{observation['text']}\n\n{feedback(last.kind, last.message, last.reply, language)}",
    }


def _fall_back(
    env: TextEnv,
    agent: str,
    attempts: list[Attempt],
    settings: TurnSettings,
    rng: Callable[[], np.random.Generator],
) -> Move:
    """Returns what is played for a player who has made no legal move."""
    fallback = settings.illegal if attempts[-1].kind is Failure.ILLEGAL else settings.unparsable
    action = None
    if fallback == "noop":
        action = env.default_action(agent)
        fallback = fallback if action is not None else "random_legal"
    if fallback == "random_legal":
        action = env.random_action(agent, rng())
    played = "" if action is None else write_action(env, agent, action)
    return Move(action, played, tuple(attempts), fallback)


def _is_positive(seconds: object) -> bool:
    return isinstance(seconds, int | float) and not isinstance(seconds, bool) and 0 < seconds < math.inf
