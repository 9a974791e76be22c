"""Matches for those who train a model: the loop of a match turned inside out.

``play`` asks policies; here the caller is asked. A ``Match`` gives a ``Question`` whenever a learner is to say something, takes
the reply, and gives the next one, until the match is over. Re-asks, feedback, fallbacks, rewards and digests are those of
``play``: the same deal and the same replies give the same match.

    match = Match(tictactoe_v0.env(), {"player_1": minimax}, seed=0)
    question = match.start_sync()
    while question is not None:
        question = match.reply_sync(model(question.messages))
    print(match.reward("player_0"), [step.reward for step in match.steps])
"""

import hashlib
import json
import types
from collections.abc import Coroutine, Generator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from pettingzoo import AECEnv

from agents.chat import Chat, Message
from agents.play import play_async
from agents.player import Player, seat_players
from agents.policy import Policy
from agents.records import Attempt, Episode, Turn
from agents.registry import make_policy
from agents.turn import STANDARD_TURNS, TurnSettings
from llmarena_envs.catalogue import load_environment, make_environment
from llmarena_envs.core.failures import Failure


class Question(NamedTuple):
    """What a learner is asked.

    Attributes:
        agent: the learner's agent id.
        messages: all that it is to be shown, ``role`` and ``content`` each, the rules first.
        new: those of them that are not in the learner's question before, nor its reply to that.
        continues: whether the messages are those of the question before, the reply, and ``new``: such a conversation can be
            one sequence of tokens. Otherwise it begins anew.
        attempt: how many replies of the same turn were no legal move.
        legal: legal moves in the game's grammar, at most 200; empty where the game cannot list them.
    """

    agent: str
    messages: tuple[Message, ...]
    new: tuple[Message, ...]
    continues: bool
    attempt: int
    legal: tuple[str, ...]


@dataclass
class Step:
    """One reply of a learner.

    Attributes:
        question: what it was asked.
        reply: what it said.
        extra: what the caller keeps with it, e.g. token ids and log probabilities.
        kind: what the reply ended in.
        turn: number of the turn in the match.
        reward: what the agent received from this reply up to its next one; 0 while it is asked again.
    """

    question: Question
    reply: str
    extra: Any = None
    kind: Failure = Failure.OK
    turn: int = -1
    reward: float = 0.0

    @property
    def agent(self) -> str:
        """Whose reply it is."""
        return self.question.agent


class Match:
    """One match, in which the seats without an opponent are learners; with no opponent at all it is self-play.

    Args:
        env: an environment of this suite, made with ``obs_type="text"``.
        opponents: policies for the other seats. They are asked by the match and closed by whoever made them.
        seed: seed of the match; game and opponents draw from streams spawned from it, as in ``play``.
        settings: what to do about replies that are no legal move.
        history: what a question holds of the turns before, see ``agents.chat.Chat``.

    Attributes:
        learners: agent ids of the learners, in seat order.
        steps: every reply so far, in order.
        initial_rewards: what each learner received before its first reply.
        episode: the match once it is over, else ``None``.

    Raises:
        ValueError: if an opponent sits on no seat of the environment.
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
    ) -> None:
        agents = list(env.unwrapped.possible_agents)
        players = seat_players(opponents or {})
        unknown = sorted(set(players) - set(agents))
        if unknown:
            raise ValueError(f"opponents: expected seats of {agents}, got {unknown}")
        self.learners = tuple(agent for agent in agents if agent not in players)
        self.steps: list[Step] = []
        self.initial_rewards = dict.fromkeys(self.learners, 0.0)
        self.episode: Episode | None = None
        self._last: dict[str, Step] = {}
        self._turn = 0
        self._asked: Question | None = None
        self._coroutine: Coroutine[Any, Any, Episode] = play_async(
            env,
            players | {agent: Player(_Learner(history)) for agent in self.learners},
            seed,
            settings,
            on_turn=self._pay,
            on_attempt=self._note,
        )

    async def start(self) -> Question | None:
        """Begins the match and returns the first question, or ``None`` if the match ended without one.

        Raises:
            ProviderError: if an opponent failed for no fault of its own; the match is void.
        """
        return self._take(await _resume(self._coroutine, None))

    async def reply(self, text: str, extra: Any = None) -> Question | None:
        """Replies to the last question and returns the next one, or ``None`` at the end of the match.

        Args:
            text: what the learner says.
            extra: kept in the reply's step.

        Raises:
            ProviderError: as in ``start``.
            RuntimeError: if no question is open.
        """
        return self._take(await _resume(self._coroutine, self._say(text, extra)))

    def start_sync(self) -> Question | None:
        """Does the same as ``start`` where no event loop runs; the opponents must wait for nothing.

        Raises:
            RuntimeError: if an opponent waits for something, as one behind a server does.
        """
        return self._take(_resume_sync(self._coroutine, None))

    def reply_sync(self, text: str, extra: Any = None) -> Question | None:
        """Does the same as ``reply`` where no event loop runs; see ``start_sync``."""
        return self._take(_resume_sync(self._coroutine, self._say(text, extra)))

    def reward(self, agent: str) -> float:
        """Returns what a learner has received so far."""
        return self.initial_rewards[agent] + sum(step.reward for step in self.steps if step.agent == agent)

    def _say(self, text: str, extra: Any) -> str:
        if self._asked is None:
            raise RuntimeError("expected an open question; the match has not begun, or is over")
        step = Step(self._asked, text, extra, turn=self._turn)
        self.steps.append(step)
        self._last[step.agent] = step
        return text

    def _take(self, out: "Question | _End") -> Question | None:
        self._asked = out if isinstance(out, Question) else None
        if isinstance(out, _End):
            self.episode = out.episode
        return self._asked

    def _note(self, agent: str, attempt: Attempt) -> None:
        if agent in self.initial_rewards:
            self._last[agent].kind = attempt.kind

    def _pay(self, turn: Turn) -> None:
        self._turn = turn.index + 1
        for agent in self.learners:
            reward = turn.rewards[agent]
            if agent in self._last:
                self._last[agent].reward += reward
            else:
                self.initial_rewards[agent] += reward


class _End(NamedTuple):
    episode: Episode


class _Learner:
    """A player that hands every question to the caller of the match, and waits for the reply."""

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

    async def __call__(self, observation: Mapping[str, Any]) -> str:
        before = self._chat.messages
        new = tuple(self._chat.hear(observation))
        messages = tuple(self._chat.messages)
        continues = bool(before) and self._chat.messages is before
        question = Question(
            self._agent, messages, new, continues, observation.get("attempt", 0), tuple(observation["legal"])
        )
        reply = await _ask(question)
        self._chat.say(reply)
        return reply


@types.coroutine
def _ask(question: Question) -> Generator[Question, str, str]:
    """Gives a question to whoever drives the match, through all that awaits it."""
    return (yield question)


@types.coroutine
def _resume(coroutine: Coroutine[Any, Any, Episode], value: Any) -> Generator[Any, Any, "Question | _End"]:
    """Drives a match up to its next question; whatever else it waits for is waited for by the event loop."""
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


def _resume_sync(coroutine: Coroutine[Any, Any, Episode], value: Any) -> "Question | _End":
    """Drives a match up to its next question where nothing has to be waited for."""
    try:
        out = coroutine.send(value)
    except StopIteration as stop:
        return _End(stop.value)
    if isinstance(out, Question):
        return out
    coroutine.close()
    raise RuntimeError("expected opponents that wait for nothing, got one that does: use `await start()` and `reply()`")


@dataclass(frozen=True)
class Deal:
    """All that fixes a match but what the learners say: what a row of a training set holds.

    Attributes:
        environment: name of the environment, e.g. ``tictactoe_v0``.
        options: constructor options; by default those of rated matches.
        seed: seed of the match.
        opponents: names of policies by agent id; see ``agents.registry``. Every other seat is a learner.

    Raises:
        OptionError: when the match is made, if there is no such environment, option or policy.
    """

    environment: str
    seed: int
    opponents: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Any] | None = None

    @property
    def group(self) -> str:
        """A name that replies to the same deal share: what advantages of GRPO are relative to (Shao et al., arXiv 2402.03300)."""
        text = json.dumps(asdict(self), sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def match(self, *, settings: TurnSettings = STANDARD_TURNS, history: str = "updates") -> Match:
        """Returns a new match of this deal with new opponents."""
        options = load_environment(self.environment).declaration.rated_options if self.options is None else self.options
        env = make_environment(self.environment, dict(options))
        opponents = {agent: make_policy(spec, self.environment) for agent, spec in self.opponents.items()}
        return Match(env, opponents, seed=self.seed, settings=settings, history=history)
