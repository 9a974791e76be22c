"""A question about a recorded match: the seat, its other replies, and the reward that counts."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from agents.play import Streams, step_rewards
from agents.records import Turn
from agents.turn import STANDARD_TURNS, TurnSettings
from llmarena_envs.core.failures import InvalidReply
from llmarena_envs.core.options import OptionError
from llmarena_envs.core.text_env import TextEnv
from rating.errors import RunError
from rating.store.records import FINISHED, Record
from rating.store.replay import recorded_environment

Hidden = Literal["fixed", "redrawn"]
"""Information hidden from the seat: as in the match, or redrawn for each pair of continuations."""

SELF = "self"
"""The policy of the seat itself as the substitute."""

_WORDS = re.compile(r"[^:]*:\s*([^\W\d_]+(?:[ -][^\W\d_]+){0,3})")
_THIRDS = ("opening", "middle", "end")


@dataclass(frozen=True)
class Spec:
    """A policy: its spec and its options, as for ``make_policy``."""

    spec: str
    options: Mapping[str, Any]


@dataclass(frozen=True)
class Question:
    """A question about a match.

    Attributes:
        match: id of the match.
        seat: agent whose replies are replaced.
        rewarded: agent whose reward counts.
        substitute: policy that gives the other replies: ``self`` or a spec; empty to replace messages.
        message: message in place of the recorded one, empty to remove it; ``None`` with a substitute.
        hidden: information hidden from the seat.
        seed: root seed of the continuations.
    """

    match: str
    seat: str
    rewarded: str
    substitute: str
    message: str | None
    hidden: Hidden
    seed: int

    @property
    def name(self) -> str:
        """Name of its files, without an ending."""
        text = json.dumps(asdict(self), sort_keys=True)
        return f"{self.match}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"

    @property
    def title(self) -> str:
        """The other reply in words."""
        if self.message is None:
            return f"a reply of {self.substitute}" if self.substitute != SELF else "another reply of the policy"
        return f"the message {self.message!r:.80}" if self.message else "no message"


@dataclass(frozen=True)
class Candidate:
    """A turn that may have lost the match.

    Attributes:
        turn: index of the turn.
        start: index of the first turn of its stage, where hidden information is redrawn.
        kind: third of the match and kind of action.
        played: the recorded action in the grammar of the game; empty for a forfeit.
        replaced: the action in place of the recorded one; ``None`` if a substitute replies.
    """

    turn: int
    start: int
    kind: str
    played: str
    replaced: int | str | None = None


@dataclass(frozen=True)
class Game:
    """A recorded match to continue.

    Attributes:
        record: the match.
        policies: the policy of each agent.
        settings: invalid-reply policy.
    """

    record: Record
    policies: Mapping[str, Spec]
    settings: TurnSettings = STANDARD_TURNS

    def make_env(self) -> TextEnv:
        """Makes the environment of the match.

        Raises:
            OptionError: if it cannot be made.
        """
        env: TextEnv = recorded_environment(self.record.match).unwrapped
        return env


def loser(record: Record) -> str:
    """Returns the rated seat with the lowest reward, the first one of several.

    Raises:
        OptionError: if the match is not finished.
    """
    outcome = record.outcome
    if outcome is None or outcome.status != FINISHED:
        raise OptionError(f"match {record.match.id}: expected a finished match, got {record.status}")
    seats = [seat for seat in outcome.seats if seat.rated] or list(outcome.seats)
    return min(seats, key=lambda seat: seat.reward).agent


def default_hidden(env: TextEnv) -> Hidden:
    """Returns ``redrawn`` if the game has hidden information and can redraw it."""
    return "redrawn" if env.can_resample and not env.game.perfect_information else "fixed"


def candidates(game: Game, question: Question) -> list[Candidate]:
    """Returns the turns of the seat with a choice; replays the match and compares every observation with the record.

    Raises:
        OptionError: if the seat has no such turn, or the game does not support the question.
        RunError: if the replay differs from the record.
    """
    env = game.make_env()
    _check_seats(env, question)
    env.reset(seed=Streams(game.record.match.seed).game())
    turns = game.record.turns
    found, start = [], 0
    for index, turn in enumerate(turns):
        agent = env.agent_selection
        is_over = any(env.terminations.values())
        if is_over or (turn.index, turn.agent, turn.read) != (index, agent, env.observe(agent)["text"]):
            raise _differs(game.record, index)
        if agent == env.game.to_move[0]:
            start = index
        if agent == question.seat:
            try:
                candidate = _candidate(env, turn, start, len(turns), question.message)
            except InvalidReply as error:
                raise _differs(game.record, index) from error
            if candidate is not None:
                found.append(candidate)
        env.step(turn.action)
        if turn.rewards != step_rewards(env, game.settings):
            raise _differs(game.record, index)
    if not found:
        what = "turn with a message of its own" if question.message is not None else "turn with a choice"
        raise OptionError(f"match {question.match}: expected a {what} of {question.seat}, but it has none")
    return found


def _differs(record: Record, index: int) -> RunError:
    return RunError(
        f"match {record.match.id}, turn {index + 1}: the replay differs from the record; see llmarena replay --verify"
    )


def _check_seats(env: TextEnv, question: Question) -> None:
    for name, agent in (("seat", question.seat), ("reward", question.rewarded)):
        if agent not in env.possible_agents:
            raise OptionError(f"--{name}: expected one of {', '.join(env.possible_agents)}, got {agent!r}")
    if question.hidden == "redrawn" and not env.can_resample:
        raise OptionError(f"--hidden: expected fixed, since {env.metadata['name']} cannot redraw hidden information")
    if question.message is not None and not (env.declaration.channels and env.action_examples):
        raise OptionError(f"--message: expected a game with messages, got {env.metadata['name']}")


def _candidate(env: TextEnv, turn: Turn, start: int, turns: int, message: str | None) -> Candidate | None:
    """Returns a turn in question, or ``None`` without another action or without a message to replace.

    Raises:
        InvalidReply: if the recorded action is not legal.
    """
    action, agent = turn.action, turn.agent
    replaced = _replaced(env, turn, message)
    only = not env.action_examples and set(env.game.legal_actions(agent)) == {action}
    if only if message is None else replaced is None:
        return None
    kind = _THIRDS[3 * turn.index // turns]
    if action is None:
        return Candidate(turn.index, start, f"{kind}, forfeit", "", replaced)
    env.check_action(action, agent)
    move, played = env.read_action(action, agent), env.format(action, agent)
    if not isinstance(move, int | str):
        kind = f"{kind}, {type(move).__name__.lower()}"
    elif isinstance(move, int) and (words := _WORDS.match(played)):
        kind = f"{kind}, {words[1].lower()}"
    return Candidate(turn.index, start, kind, played, replaced)


def _replaced(env: TextEnv, turn: Turn, message: str | None) -> int | str | None:
    """Returns the action of a turn with another message, or ``None`` if it has no message to replace.

    A message is the field ``message`` or ``text`` of an action. Without such a field the default action of the game removes it,
    if it has the same type.

    Raises:
        OptionError: if the game does not allow the message.
    """
    if message is None or turn.action is None:
        return None
    move = env.read_action(turn.action, turn.agent)
    fields = getattr(move, "_fields", ())
    neutral = env.game.default_action(turn.agent)
    name = next((name for name in ("message", "text") if name in fields), None)
    if name is not None:
        other = move._replace(**{name: message})
    elif fields and not message and type(neutral) is type(move):
        other = neutral
    else:
        return None
    if env.game.why_illegal(turn.agent, other):
        raise OptionError(f"--message: expected a message that is legal in turn {turn.index + 1}, got {message!r:.80}")
    written: int | str = env.write_action(other, turn.agent)
    return None if written == turn.action else written
