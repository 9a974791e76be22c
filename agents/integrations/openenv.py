"""Matches on an OpenEnv server, one per session, and a client.

    import uvicorn
    from agents.integrations.openenv import make_app

    uvicorn.run(make_app("tictactoe_v0", {"player_1": "minimax"}), port=8000)

    from agents.integrations.openenv import MatchClient, ReplyAction

    with MatchClient("http://localhost:8000").sync() as env:
        result = env.reset(seed=7)
        while not result.done:
            result = env.step(ReplyAction(text=model(result.observation.messages)))

The server defines environment and opponents; a client chooses only the seed.
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
    """The actor's reply: free text, parsed for a move."""

    text: str = Field(max_length=MAX_TEXT)

    @field_validator("text", mode="before")
    @classmethod
    def _encodable(cls, text: Any) -> Any:
        """Replaces lone surrogates, which cannot be encoded in replies or error messages."""
        return encodable(text) if isinstance(text, str) else text


class MatchObservation(Observation):
    """A question to the actor; ``reward`` is the reward since its last reply, ``done`` whether the match is over.

    Attributes:
        messages: new messages of the conversation, ``role`` and ``content`` each; after the match its ending.
        continues: whether the messages follow the actor's last reply; otherwise they start a new conversation.
        attempt: number of invalid replies in this turn.
        failure: outcome of the last reply: ``ok``, ``unparsable``, ...; empty before the first one.
        legal: legal moves in the game's grammar, at most 200; empty if the game cannot list them.
    """

    messages: list[Message]
    continues: bool = True
    attempt: int = 0
    failure: str = ""
    legal: list[str] = Field(default_factory=list)


class MatchState(State):
    """The state of a session.

    Attributes:
        environment: name of the environment.
        agent: the actor's seat.
        seed: seed of the match; -1 before there is one.
        group: id shared by matches of the same deal; see ``agents.training.Deal``.
        reward: total reward of the actor.
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
        options: constructor options; by default as in rated matches.
        history: ``updates``, ``full`` or ``single_turn``; see ``agents.chat.Chat``.
        settings: invalid-reply policy.

    Raises:
        OptionError: if there is no such environment, option or policy.
        ValueError: if the opponents do not leave exactly one seat.
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
        seats = self._make_match(self._deal).learners  # raises errors of options here, not at a client
        if len(seats) != 1:
            raise ValueError(f"opponents: expected one for every seat but the actor's, but left are {seats}")
        self._state = MatchState(environment=environment, agent=seats[0])

    async def reset_async(self, seed: int | None = None, episode_id: str | None = None) -> MatchObservation:
        """Starts a match; the default seed is random.

        Raises:
            OptionError: if the seed is not an integer from 0 to 2**63 - 1, or the match cannot be made.
            RuntimeError: if an opponent's provider failed; the match is void.
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
        """Replies to the last observation.

        Raises:
            RuntimeError: if no match has begun, it is over, or an opponent's provider failed.
        """
        if self._match is None:
            raise RuntimeError("expected a reset before a step")
        return await self._observe(self._match, self._match.reply(action.text))

    def reset(self, seed: int | None = None, episode_id: str | None = None) -> MatchObservation:
        """Does the same as ``reset_async`` without a running event loop."""
        return self._runner.run(self.reset_async(seed, episode_id))

    def step(self, action: ReplyAction) -> MatchObservation:
        """Does the same as ``step_async`` without a running event loop."""
        return self._runner.run(self.step_async(action))

    @property
    def state(self) -> MatchState:
        """The state of the session."""
        return self._state

    def close(self) -> None:
        """Ends the match, if any, and closes its opponents in their event loop."""
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
    """A session on a server of ``make_app``; see OpenEnv's ``EnvClient``."""

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
    """Returns a FastAPI application that serves matches, one per session.

    Args:
        environment: as in ``MatchEnvironment``.
        opponents: as in ``MatchEnvironment``.
        options: as in ``MatchEnvironment``.
        history: as in ``MatchEnvironment``.
        settings: as in ``MatchEnvironment``.
        max_sessions: maximum number of concurrent sessions; further clients are rejected.

    Raises:
        OptionError: if the match cannot be made.
        ValueError: if the opponents do not leave exactly one seat.
    """
    make = partial(MatchEnvironment, environment, opponents, options, history, settings)
    make()
    return create_app(
        make, ReplyAction, MatchObservation, environment, max_concurrent_envs=max_sessions, state_cls=MatchState
    )
