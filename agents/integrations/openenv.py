"""Matches behind an OpenEnv server, one a session, and the client that plays them.

    import uvicorn
    from agents.integrations.openenv import make_app

    uvicorn.run(make_app("tictactoe_v0", {"player_1": "minimax"}), port=8000)

    from agents.integrations.openenv import MatchClient, ReplyAction

    with MatchClient("http://localhost:8000").sync() as env:
        result = env.reset(seed=7)
        while not result.done:
            result = env.step(ReplyAction(text=model(result.observation.messages)))

Whoever starts the server says what is played and against whom; a client chooses the seed and nothing else.
"""

import asyncio
import logging
import secrets
from collections.abc import Coroutine, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from pydantic import Field, field_validator

from agents.chat import Message
from agents.errors import ProviderError
from agents.integrations import importing
from agents.records import encodable
from agents.training import Deal, Match, Question
from agents.training.deals import MAX_SEED
from agents.turn import STANDARD_TURNS, TurnSettings
from llmarena_envs.core.options import check_int
from llmarena_envs.core.text_env import MAX_TEXT

with importing("openenv"):
    from openenv.core.client_types import StepResult
    from openenv.core.env_client import EnvClient
    from openenv.core.env_server import Action, Environment, Observation, State, create_app


logger = logging.getLogger(__name__)


class ReplyAction(Action):
    """What the actor says: free text, from which its move is read."""

    text: str = Field(max_length=MAX_TEXT)

    @field_validator("text", mode="before")
    @classmethod
    def _encodable(cls, text: Any) -> Any:
        """Replaces lone surrogates, of which neither the reply nor an error message could be sent on."""
        return encodable(text) if isinstance(text, str) else text


class MatchObservation(Observation):
    """What the actor is asked; ``reward`` is what it received since its reply before, ``done`` whether the match is over.

    Attributes:
        messages: what is to be added to the conversation, ``role`` and ``content`` each; how it ended, once it is over.
        continues: whether the messages go on behind the actor's last reply; otherwise they are a whole new conversation.
        attempt: how many replies of the same turn were no legal move.
        failure: what the last reply ended in: ``ok``, ``unparsable``, ...; empty before the first one.
        legal: legal moves in the game's grammar, at most 200; empty where the game cannot list them.
    """

    messages: list[Message]
    continues: bool = True
    attempt: int = 0
    failure: str = ""
    legal: list[str] = Field(default_factory=list)


class MatchState(State):
    """Where the session is.

    Attributes:
        environment: name of the environment.
        agent: the actor's seat.
        seed: seed of the match; -1 before there is one.
        group: what matches of the same deal share; see ``agents.training.Deal``.
        reward: what the actor has received so far.
        digest: digest of the match, once it is over.
    """

    environment: str
    agent: str = ""
    seed: int = -1
    group: str = ""
    reward: float = 0.0
    digest: str = ""


class MatchEnvironment(Environment):
    """One actor's seat in matches against given opponents.

    Args:
        environment: name of the environment, e.g. ``tictactoe_v0``.
        opponents: names of policies by agent id, for all seats but the actor's.
        options: constructor options; by default those of rated matches.
        history: ``updates``, ``full`` or ``single_turn``; see ``agents.chat.Chat``.
        settings: what to do about replies that are no legal move.

    Raises:
        OptionError: if there is no such environment, option or policy.
        ValueError: if the opponents do not leave one seat.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(
        self,
        environment: str,
        opponents: Mapping[str, str],
        options: Mapping[str, Any] | None = None,
        history: str = "updates",
        settings: TurnSettings = STANDARD_TURNS,
    ) -> None:
        super().__init__()
        self._deal = Deal(environment, 0, opponents, options)
        self._make_match = partial(Deal.match, history=history, settings=settings)
        self._match: Match | None = None
        self._runner = asyncio.Runner()
        self._loop: asyncio.AbstractEventLoop | None = None
        seats = self._make_match(self._deal).learners  # so that wrong options show now, not to a client
        if len(seats) != 1:
            raise ValueError(f"opponents: expected one for every seat but the actor's, but left are {seats}")
        self._state = MatchState(environment=environment, agent=seats[0])

    async def reset_async(self, seed: int | None = None, episode_id: str | None = None) -> MatchObservation:
        """Begins a match; without a seed the operating system gives one.

        Raises:
            OptionError: if the seed is no integer from 0 to 2**63 - 1, or the match cannot be made.
            RuntimeError: if an opponent failed for no fault of its own; the match is void.
        """
        seed = secrets.randbits(32) if seed is None else seed
        check_int("seed", seed, 0, MAX_SEED)
        deal = replace(self._deal, seed=seed)
        match = self._make_match(deal)
        told = {"environment": deal.environment, "agent": match.learners[0], "seed": seed, "group": deal.group}
        state = MatchState(episode_id=episode_id, **told)
        if self._match is not None:
            await self._match.close()
        self._match, self._state, self._loop = match, state, asyncio.get_running_loop()
        return await self._observe(match, match.start())

    async def step_async(self, action: ReplyAction) -> MatchObservation:
        """Replies to what was observed.

        Raises:
            RuntimeError: if no match has begun, it is over, or an opponent failed for no fault of its own.
        """
        if self._match is None:
            raise RuntimeError("expected a reset before a step")
        return await self._observe(self._match, self._match.reply(action.text))

    def reset(self, seed: int | None = None, episode_id: str | None = None) -> MatchObservation:
        """Does the same as ``reset_async`` where no event loop runs."""
        return self._runner.run(self.reset_async(seed, episode_id))

    def step(self, action: ReplyAction) -> MatchObservation:
        """Does the same as ``step_async`` where no event loop runs."""
        return self._runner.run(self.step_async(action))

    @property
    def state(self) -> MatchState:
        """Where the session is."""
        return self._state

    def close(self) -> None:
        """Ends the match, if there is one, and closes its opponents in the event loop in which they were asked."""
        if self._match is not None and self._loop is not None:
            if self._loop.is_running():
                asyncio.run_coroutine_threadsafe(self._match.close(), self._loop)
            else:
                self._runner.run(self._match.close())
        self._match = None
        self._runner.close()

    async def _observe(self, match: Match, asked: Coroutine[Any, Any, Question | None]) -> MatchObservation:
        try:
            question = await asked
        except ProviderError as error:
            logger.exception("a match of %s is void", self._state.environment)
            raise RuntimeError(
                f"the match is void, since {error.agent} could not be asked: reset for another one"
            ) from error
        state, before = self._state, self._state.reward
        state.step_count = len(match.steps)
        state.reward = match.reward(state.agent)
        failure = match.steps[-1].kind.name.lower() if match.steps else ""
        if match.episode is not None:
            state.digest = match.episode.digest
            ending: list[Message] = [{"role": "user", "content": match.endings[state.agent]}]
            return MatchObservation(done=True, reward=state.reward - before, messages=ending, failure=failure)
        assert question is not None
        return MatchObservation(
            reward=state.reward - before,
            messages=list(question.unsent),
            continues=question.continues,
            attempt=question.attempt,
            failure=failure,
            legal=list(question.legal),
        )


class MatchClient(EnvClient[ReplyAction, MatchObservation, MatchState]):
    """A session at a server of ``make_app``; see OpenEnv's ``EnvClient``."""

    def _step_payload(self, action: ReplyAction) -> dict[str, Any]:
        return action.model_dump()

    def _parse_result(self, payload: dict[str, Any]) -> StepResult:
        told = {"done": payload["done"], "reward": payload["reward"]}
        return StepResult(MatchObservation(**payload["observation"], **told), **told)

    def _parse_state(self, payload: dict[str, Any]) -> MatchState:
        return MatchState(**payload)


def make_app(
    environment: str,
    opponents: Mapping[str, str],
    *,
    options: Mapping[str, Any] | None = None,
    history: str = "updates",
    settings: TurnSettings = STANDARD_TURNS,
    max_sessions: int = 64,
) -> Any:
    """Returns a FastAPI application that serves matches, one a session.

    Args:
        environment: as in ``MatchEnvironment``.
        opponents: as in ``MatchEnvironment``.
        options: as in ``MatchEnvironment``.
        history: as in ``MatchEnvironment``.
        settings: as in ``MatchEnvironment``.
        max_sessions: sessions at once; a client beyond them is turned away.

    Raises:
        OptionError: if the match cannot be made.
        ValueError: if the opponents do not leave one seat.
    """
    make = partial(MatchEnvironment, environment, opponents, options, history, settings)
    make()
    return create_app(
        make, ReplyAction, MatchObservation, environment, max_concurrent_envs=max_sessions, state_cls=MatchState
    )
