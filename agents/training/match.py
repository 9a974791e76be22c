"""A match driven by its caller."""

import types
from collections.abc import Coroutine, Generator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import uuid4
from weakref import WeakValueDictionary

from pettingzoo import AECEnv

from agents.chat import Chat, Message
from agents.errors import ProviderError
from agents.play import play_async
from agents.player import Player, close_players, seat_players
from agents.policy import Policy, Reply
from agents.records import Attempt, Episode, Turn, encodable
from agents.turn import STANDARD_TURNS, TurnSettings
from llmarena_envs.core.failures import Failure


class Question(NamedTuple):
    """A question to a learner.

    Attributes:
        agent: the learner's agent id.
        messages: the whole conversation, ``role`` and ``content`` each, the rules first.
        new: the messages since the learner's last reply.
        continues: whether the messages are the previous question's, the reply, and ``new``, so the conversation can be one
            sequence of tokens. Otherwise it is a new conversation.
        attempt: number of invalid replies in this turn.
        legal: legal moves in the game's grammar, at most 200; empty if the game cannot list them.
    """

    agent: str
    messages: tuple[Message, ...]
    new: tuple[Message, ...]
    continues: bool
    attempt: int
    legal: tuple[str, ...]

    @property
    def unsent(self) -> tuple[Message, ...]:
        """The messages to send to a model that holds the earlier conversation: ``new``, or all messages of a new conversation."""
        return self.new if self.continues else self.messages


@dataclass
class Step:
    """One reply of a learner.

    Attributes:
        question: the question.
        reply: the reply.
        extra: the caller's data, e.g. token ids and log probabilities.
        kind: the outcome.
        turn: number of the turn in the match.
        reward: reward of the agent from this reply up to its next one; 0 if it is asked again.
    """

    question: Question
    reply: str
    extra: Any = None
    kind: Failure = Failure.OK
    turn: int = -1
    reward: float = 0.0

    @property
    def agent(self) -> str:
        """The learner."""
        return self.question.agent


_PLAYING: WeakValueDictionary[int, "Match"] = WeakValueDictionary()
"""The current match of an environment or a policy with a memory, by its ``id``."""


class Match:
    """One match with a learner on each seat without an opponent; without opponents it is self-play.

    An unfinished match needs no cleanup, unless it must close its opponents; see ``close``.

    Args:
        env: an environment of this suite, made with ``obs_type="text"``. It can be in one match at a time.
        opponents: policies for the other seats, including judges and other staff. A policy with a ``reset`` can be in one match
            at a time; other policies can be shared.
        seed: seed of the match; streams for game and opponents are spawned from it, as in ``play``.
        settings: invalid-reply policy.
        history: earlier turns in a question, see ``agents.chat.Chat``.
        close_opponents: whether the match closes its opponents when it is over, void, or closed; otherwise the caller must.

    Attributes:
        id: unique id of the match, the same for the training rows of all its seats.
        env: the environment; learners must not see more of it than their questions.
        learners: agent ids of the learners, in seat order.
        steps: all replies, in order.
        initial_rewards: reward of each learner before its first reply.
        episode: the match once it is over, else ``None``. It can have no result (``episode.undecided``).
        endings: final text of each learner: the reason for the end, and its reward.

    Raises:
        ValueError: if an opponent's seat does not exist in the environment.
        OptionError: if there is no such history.
    """

    def __init__(
        self,
        env: AECEnv,
        opponents: Mapping[str, Policy | Player] | None = None,
        *,
        seed: int,
        settings: TurnSettings = STANDARD_TURNS,
        history: str = "updates",
        close_opponents: bool = False,
    ) -> None:
        agents = list(env.unwrapped.possible_agents)
        self._opponents = seat_players(opponents or {})
        unknown = sorted(set(self._opponents) - set(agents))
        if unknown:
            raise ValueError(f"opponents: expected seats of {agents}, got {unknown}")
        self.learners = tuple(agent for agent in agents if agent not in self._opponents)
        self._book = _Book(self.learners)
        self.steps = self._book.steps
        self.initial_rewards = self._book.initial_rewards
        self.episode: Episode | None = None
        self.endings: dict[str, str] = {}
        self.id = uuid4().hex
        self.env = env
        self._seed = seed
        self._settings = settings
        self._seats = self._opponents | {agent: Player(_Learner(history)) for agent in self.learners}
        self._close_opponents = close_opponents
        self._has_begun = False
        self._asked: Question | None = None
        self._coroutine: Coroutine[Any, Any, Episode] | None = None

    async def start(self) -> Question | None:
        """Starts the match and returns the first question, or ``None`` if the match ended without one.

        Raises:
            ProviderError: if an opponent's provider failed; the match is void.
            RuntimeError: if the match was started before, or its environment or a policy with a memory is in another match.
        """
        self._begin()
        return await self._go_on(None)

    async def reply(self, text: str | Reply, extra: Any = None) -> Question | None:
        """Replies to the last question and returns the next one, or ``None`` at the end of the match.

        Args:
            text: the learner's reply; a ``Reply`` for further facts, e.g. ``Failure.TRUNCATED``.
            extra: stored in the reply's step.

        Raises:
            TypeError: if the reply is not a text; the question stays open.
            ProviderError: as in ``start``. The match is also void if the caller is cancelled.
            RuntimeError: if no question is open.
        """
        return await self._go_on(self._say(text, extra))

    async def close(self) -> None:
        """Abandons a match, and closes its opponents if ``close_opponents`` is true.

        It can be called at any time between two replies, and more than once.

        Raises:
            RuntimeError: if ``start`` or ``reply`` is still being awaited; cancel that instead.
        """
        self._check_idle()
        self._let_go()
        await self._release_opponents()

    def start_sync(self) -> Question | None:
        """Does the same as ``start`` without an event loop; the opponents must not wait for I/O.

        Raises:
            RuntimeError: if an opponent waits for I/O, such as a model on a server, besides the errors of ``start``.
        """
        self._begin()
        return self._go_on_sync(None)

    def reply_sync(self, text: str | Reply, extra: Any = None) -> Question | None:
        """Does the same as ``reply`` without an event loop; see ``start_sync``."""
        return self._go_on_sync(self._say(text, extra))

    def close_sync(self) -> None:
        """Does the same as ``close`` without an event loop; the opponents must not wait for I/O."""
        self._check_idle()
        self._let_go()
        _run_sync(self._release_opponents())

    def reward(self, agent: str) -> float:
        """Returns the total reward of a learner up to now.

        Raises:
            ValueError: if the agent is not a learner.
        """
        if agent not in self.initial_rewards:
            raise ValueError(f"agent: expected one of the learners {list(self.learners)}, got {agent!r}")
        return self.initial_rewards[agent] + sum(step.reward for step in self.steps if step.agent == agent)

    def _begin(self) -> None:
        if self._has_begun:
            raise RuntimeError("expected a new match, got one that has begun before, or was closed")
        for thing in self._exclusive():
            if _PLAYING.get(id(thing), self) is not self:
                raise RuntimeError(
                    f"expected an environment and policies that are in no other match, got {thing!r}: make new ones for each"
                    " match, or close() the other match"
                )
        self._has_begun = True
        _PLAYING.update({id(thing): self for thing in self._exclusive()})
        self._coroutine = play_async(
            self.env, self._seats, self._seed, self._settings, on_turn=self._book.pay, on_attempt=self._book.note
        )

    def _exclusive(self) -> list[Any]:
        """Returns the environment and the policies with a memory."""
        policies = [player.policy for player in self._opponents.values()]
        return [self.env.unwrapped, *(policy for policy in policies if hasattr(policy, "reset"))]

    async def _go_on(self, value: Any) -> Question | None:
        assert self._coroutine is not None
        try:
            out = await _resume(self._coroutine, value)
        except BaseException:
            self._let_go()
            await self._release_opponents()
            raise
        if isinstance(out, _End):
            self._end(out.episode)
            await self._release_opponents()
            return None
        self._asked = out
        return out

    def _go_on_sync(self, value: Any) -> Question | None:
        assert self._coroutine is not None
        try:
            out = _run_sync(_resume(self._coroutine, value))
        except BaseException:
            self._let_go()
            with suppress(RuntimeError):  # the first error is the relevant one
                _run_sync(self._release_opponents())
            raise
        if isinstance(out, _End):
            self._end(out.episode)
            _run_sync(self._release_opponents())
            return None
        self._asked = out
        return out

    def _say(self, text: str | Reply, extra: Any) -> str | Reply:
        said = text.text if isinstance(text, Reply) else text
        if not isinstance(said, str):
            raise TypeError(f"reply: expected a text or a Reply, got {text!r:.80}")
        if self._asked is None:
            raise RuntimeError(
                "expected an open question; the match has not begun, is over, void or closed, or still goes on"
            )
        self._book.add(self._asked, encodable(said), extra)
        self._asked = None
        return text

    def _end(self, episode: Episode) -> None:
        self._let_go()
        self.episode = episode
        self.endings = {agent: self.env.unwrapped.observe(agent)["text"] for agent in self.learners}

    def _check_idle(self) -> None:
        if self._coroutine is not None and self._asked is None:
            raise RuntimeError(
                "expected a match that waits for a reply, got one that is going on: cancel what awaits it"
            )

    def _let_go(self) -> None:
        """Releases the environment and policies; the match accepts no more replies."""
        self._has_begun = True
        self._asked = None
        if self._coroutine is not None:
            self._coroutine.close()
            self._coroutine = None
            for thing in self._exclusive():
                _PLAYING.pop(id(thing), None)

    async def _release_opponents(self) -> None:
        if self._close_opponents:
            self._close_opponents = False
            await close_players(self._opponents.values())


class _Book:
    """The learners' steps and rewards; separate from the match, so it has no reference cycle and is freed at once."""

    def __init__(self, learners: tuple[str, ...]) -> None:
        self.steps: list[Step] = []
        self.initial_rewards = dict.fromkeys(learners, 0.0)
        self._last: dict[str, Step] = {}
        self._turn = 0

    def add(self, question: Question, reply: str, extra: Any) -> None:
        step = Step(question, reply, extra, turn=self._turn)
        self.steps.append(step)
        self._last[step.agent] = step

    def note(self, agent: str, attempt: Attempt) -> None:
        if agent in self.initial_rewards:
            self._last[agent].kind = attempt.kind

    def pay(self, turn: Turn) -> None:
        self._turn = turn.index + 1
        for agent in self.initial_rewards:
            reward = turn.rewards[agent]
            if agent in self._last:
                self._last[agent].reward += reward
            else:
                self.initial_rewards[agent] += reward


class _End(NamedTuple):
    episode: Episode


class _Learner:
    """A player that passes every question to the caller of the match, and waits for the reply."""

    keeps_deadline = True
    wants_legal = True
    wants_update = True

    def __init__(self, history: str) -> None:
        self._history = history
        self._chat = Chat(history)
        self._agent = ""

    def reset(self, agent: str, seed: int) -> None:
        self._agent = agent
        self._chat = Chat(self._history)

    async def __call__(self, observation: Mapping[str, Any]) -> str | Reply:
        before = self._chat.messages
        new = tuple(self._chat.hear(observation))
        messages = tuple(self._chat.messages)
        continues = self._chat.messages is before and len(new) < len(messages)
        question = Question(
            self._agent, messages, new, continues, observation.get("attempt", 0), tuple(observation["legal"])
        )
        reply = await _ask(question)
        self._chat.say(reply.text if isinstance(reply, Reply) else reply)
        return reply


@types.coroutine
def _ask(question: Question) -> Generator[Question, str | Reply, str | Reply]:
    """Yields a question through all awaiting coroutines to the driver of the match."""
    return (yield question)


@types.coroutine
def _resume(coroutine: Coroutine[Any, Any, Episode], value: Any) -> Generator[Any, Any, "Question | _End"]:
    """Drives a match up to its next question; other awaits are passed on to the event loop."""
    error: BaseException | None = None
    while True:
        try:
            out = coroutine.send(value) if error is None else coroutine.throw(error)
        except StopIteration as stop:
            return _End(stop.value)
        if isinstance(out, Question):
            return out
        error = value = None
        try:
            value = yield out
        except BaseException as raised:
            error = raised


_NEEDS_LOOP = "expected opponents that wait for nothing, got one that does: use `await start()` and `await reply()`"


def _run_sync(waiting: Any) -> Any:
    """Returns the result of an awaitable that does not wait."""
    iterator = waiting.__await__() if hasattr(waiting, "__await__") else waiting
    try:
        next(iterator)
    except StopIteration as stop:
        return stop.value
    except ProviderError as error:
        if isinstance(error.__cause__, RuntimeError) and "no running event loop" in str(error.__cause__):
            raise RuntimeError(_NEEDS_LOOP) from error
        raise
    iterator.close()
    raise RuntimeError(_NEEDS_LOOP)
