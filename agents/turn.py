"""One turn of one player: questions, repeated questions, and fallbacks."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from agents.answers import Answer, read_again, read_answer, write_action
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
    """The invalid-reply policy.

    Attributes:
        reasks: how often a player is asked again after an invalid reply.
        reask_illegal: whether to ask again after a move that was understood but is illegal.
        feedback: whether the player gets a description of the error; otherwise the identical prompt is sent again.
        unparsable: fallback after the last reply without a move: ``forfeit``, ``random_legal`` (seeded), or ``noop`` (the
            accepted parts of a move, else the game's default move, else a random legal one); by default the fallback that the
            environment declares.
        illegal: the same after a last reply with an illegal move.
        pay_opponents: whether other players keep their rewards for the last turn when a player forfeits; otherwise they receive
            nothing for it.
        deadline: seconds for a reply, or ``None`` for no limit; humans and scripted policies have none.

    Raises:
        OptionError: if a value is invalid.
    """

    reasks: int = 2
    reask_illegal: bool = True
    feedback: bool = True
    unparsable: str | None = None
    illegal: str | None = None
    pay_opponents: bool = True
    deadline: float | None = None

    def __post_init__(self) -> None:
        check_int("reasks", self.reasks, 0, 100)
        check_bool("reask_illegal", self.reask_illegal)
        check_bool("feedback", self.feedback)
        check_bool("pay_opponents", self.pay_opponents)
        for name in ("unparsable", "illegal"):
            if getattr(self, name) is not None:
                check_choice(name, getattr(self, name), FALLBACKS)
        if self.deadline is not None and not _is_positive(self.deadline):
            raise OptionError(f"deadline: expected a number of seconds above 0, or None, got {self.deadline!r}")

    def ends_turn(self, attempts: Sequence[Attempt]) -> bool:
        """Returns whether a player is not asked again after these replies without a legal move."""
        final = attempts[-1].kind is Failure.ILLEGAL and not self.reask_illegal
        return final or len(attempts) > self.reasks


STANDARD_TURNS = TurnSettings()


class Move(NamedTuple):
    """The result of a turn, with the fields of ``Turn``."""

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
    on_attempt: Callable[[Attempt], None] = lambda attempt: None,
) -> Move:
    """Asks a player for a legal move, or replays recorded replies.

    Args:
        env: the raw environment, with ``agent`` selected.
        agent: the agent to move.
        player: the player.
        observation: the player's observation for the first question.
        settings: invalid-reply policy.
        rng: returns the generator of a random fallback.
        recorded: the recorded turn; its replies are used, and the player recalls them instead of being asked.
        on_attempt: called after every new or recorded reply.

    Raises:
        ProviderError: if the policy failed through no fault of the player.
        Quit: if a person leaves.
        ReplayMismatch: if the recorded replies lead to no move.
    """
    # The player's kind is not recorded, but a turn without a fallback ended in a legal move, after any number of replies.
    patient = player.is_person if recorded is None else not recorded.fallback
    answers: list[Answer] = []
    while True:
        read = observation
        if answers and player.reads == "text":
            read = add_feedback(observation, answers, settings, env, agent)
        kept = kept_of(answers)
        if recorded is None:
            start = time.perf_counter()
            said = await player.ask(read, settings.deadline)
            answer = read_answer(env, agent, said, time.perf_counter() - start, kept)
        elif len(answers) < len(recorded.attempts):
            old = recorded.attempts[len(answers)]
            await player.recall(read, old.reply, settings.deadline)
            answer = read_again(env, agent, old, kept)
        else:
            raise ReplayMismatch(
                f"turn {recorded.index}: expected replies that lead to {recorded.played!r}"
                f" (fallback: {recorded.fallback or 'none'}), but {len(answers)} lead to no move"
            )
        answers.append(answer)
        on_attempt(answer.attempt)
        if answer.action is not None:
            return Move(answer.action, answer.played, _attempts(answers), "")
        if not patient and settings.ends_turn(_attempts(answers)):
            return _fall_back(env, agent, answers, settings, rng)


def _attempts(answers: Sequence[Answer]) -> tuple[Attempt, ...]:
    return tuple([answer.attempt for answer in answers])


def kept_of(answers: Sequence[Answer]) -> str:
    """Returns the accepted parts of an incomplete move in the answers of a turn."""
    return next((answer.kept for answer in reversed(answers) if answer.kept), "")


def add_feedback(
    observation: dict[str, Any], answers: Sequence[Answer], settings: TurnSettings, env: TextEnv, agent: str
) -> dict[str, Any]:
    """Returns the observation for a repeated question."""
    if not settings.feedback:
        return {**observation, "attempt": len(answers), "feedback": ""}
    last, kept = answers[-1].attempt, answers[-1].kept
    language = env.codec.language
    told = feedback(last.kind, last.message, last.reply, language, agent=agent, kept=kept)
    asked_again: dict[str, Any] = {
        **observation,
        "attempt": len(answers),
        "feedback": reason(last.kind, last.message, language, agent=agent, incomplete=bool(kept)),
        "kept": kept,
        **{name: f"{observation[name]}\n\n{told}" for name in ("text", "update") if name in observation},
    }
    if "chat" in observation:
        *earlier, present = observation["chat"]
        asked_again["chat"] = (*earlier, present._replace(content=f"{present.content}\n\n{told}"))
    return asked_again


def _fall_back(
    env: TextEnv,
    agent: str,
    answers: Sequence[Answer],
    settings: TurnSettings,
    rng: Callable[[], np.random.Generator],
) -> Move:
    """Returns the fallback move of a player without a legal move."""
    if answers[-1].attempt.kind is Failure.ILLEGAL:
        fallback = settings.illegal or env.declaration.illegal
    else:
        fallback = settings.unparsable or env.declaration.unparsable
    action = None
    if fallback == "noop":
        action = kept_of(answers) or env.default_action(agent)
        fallback = fallback if action is not None else "random_legal"
    if fallback == "random_legal":
        action = env.random_action(agent, rng())
    played = "" if action is None else write_action(env, agent, action)
    return Move(action, played, _attempts(answers), fallback)


def _is_positive(seconds: object) -> bool:
    return isinstance(seconds, int | float) and not isinstance(seconds, bool) and 0 < seconds < math.inf
