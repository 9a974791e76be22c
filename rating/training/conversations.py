"""Conversations of each seat of a recorded match.

Each match is replayed; a match that differs from its record gives no data.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agents.chat import Chat, Message
from agents.errors import ReplayMismatch
from agents.records import Attempt, Turn, encodable
from agents.training import Deal
from agents.turn import TurnSettings
from llmarena_envs.core.failures import Failure
from rating.store.environments import load_environment
from rating.store.records import FINISHED, Damage, Match, Record
from rating.store.verify import Recorded, play_again

PEOPLE = "with a person"
DAMAGED = "not as recorded"
MAX_PROBLEMS = 50
"""Most descriptions of damaged matches to keep; all are counted."""
MAX_PROBLEM = 1000
"""Most characters of a description: it can quote two long texts."""


@dataclass(frozen=True)
class Selection:
    """The matches and seats to export.

    Attributes:
        environment: only this environment; empty for all.
        policies: only these policies; empty for all.
        staff: whether to include unrated seats, such as judges.
        people: whether to include matches with a human player, whose messages the others read.
        history: earlier turns in a conversation; see ``agents.chat.Chat``.
        legal: whether to list the legal moves before each reply.
    """

    environment: str = ""
    policies: Sequence[str] = ()
    staff: bool = False
    people: bool = False
    history: str = "updates"
    legal: bool = False


@dataclass
class Tally:
    """Counts of the matches of a run.

    Attributes:
        left_out: number of matches left out, by reason.
        problems: descriptions of the first ``MAX_PROBLEMS`` damaged matches.
        environments: number of used matches by environment.
        policies: number of seats in them by policy.
        languages: languages of their texts.
    """

    left_out: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    environments: Counter[str] = field(default_factory=Counter)
    policies: Counter[str] = field(default_factory=Counter)
    languages: set[str] = field(default_factory=set)

    @property
    def matches(self) -> int:
        """Number of used matches."""
        return self.environments.total()

    def take(self, match: Match) -> None:
        """Counts a used match."""
        self.environments[match.environment] += 1
        self.policies.update(match.policies)
        self.languages.add(str(match.options.get("language", "en")))

    def damaged(self, where: str, error: str) -> None:
        """Counts a match that differs from its record or cannot be read."""
        self.left_out[DAMAGED] += 1
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(f"{where}: {error if len(error) <= MAX_PROBLEM else error[:MAX_PROBLEM] + ' [...]'}")


@dataclass(frozen=True)
class Reply:
    """One reply in a conversation.

    Attributes:
        observed: messages since the previous reply.
        text: the reply.
        turn: number of the turn in the match, from 0.
        first: whether it is the first reply of its turn; later ones answer the rejection of the one before.
        kind: the outcome.
        is_move: whether it states a complete move, played unchanged.
        played: the move in the game's grammar, or the action played instead.
        reward: reward of the seat from this reply up to its next one; 0 if it is asked again.
        reasoning: reasoning before the reply.
        logprob: log probability of the reply, the ``logprob`` in the detail of its policy; ``None`` if unknown.
        legal: legal moves in the game's grammar, at most 200, if requested.
    """

    observed: tuple[Message, ...]
    text: str
    turn: int
    first: bool
    kind: Failure
    is_move: bool
    played: str
    reward: float
    reasoning: str
    logprob: float | None = None
    legal: tuple[str, ...] = ()


@dataclass
class Seat:
    """One seat of a match.

    Attributes:
        agent: its id.
        conversations: replies of each conversation, in order.
        initial_reward: reward before its first reply.
    """

    agent: str
    conversations: list[list[Reply]]
    initial_reward: float = 0.0


@dataclass(frozen=True)
class PlayedSeat:
    """One seat with its policy and result.

    Attributes:
        match: id of the match.
        policies: policies of the match, in seat order.
        deal: columns of the deal; see ``deal_columns``.
        seat: messages and replies of the seat.
        policy: policy of the seat.
        reward: total reward in the match.
        won: whether no rated seat received more and one received less.
    """

    match: str
    policies: tuple[str, ...]
    deal: Mapping[str, str]
    seat: Seat
    policy: str
    reward: float
    won: bool


def finished_records(
    records: Iterable[Record | Damage], selection: Selection, people: Collection[str], tally: Tally
) -> Iterator[Record]:
    """Yields the selected matches that have a result, and counts the others.

    Args:
        records: records of the run.
        selection: the matches to export.
        people: names of the human policies.
        tally: updated with the matches left out.
    """
    for record in records:
        if isinstance(record, Damage):
            tally.damaged(record.where, record.error)
        elif selection.environment not in ("", record.match.environment):
            continue
        elif record.status != FINISHED:
            tally.left_out[record.status] += 1
        elif not selection.people and any(policy in people for policy in record.match.policies):
            tally.left_out[PEOPLE] += 1
        else:
            yield record


def played_seats(
    records: Iterable[Record], settings: Mapping[str, TurnSettings], selection: Selection, tally: Tally
) -> Iterator[PlayedSeat]:
    """Replays each match, compares it with its record, and yields its selected seats.

    Args:
        records: matches that have a result.
        settings: invalid-reply policy by environment.
        selection: the seats to export.
        tally: updated with all matches.
    """
    for record in records:
        match, outcome = record.match, record.outcome
        assert outcome is not None
        try:
            match_id, deal = match.id, deal_columns(match)
            if match.environment not in settings:
                raise ReplayMismatch("the run has no recorded invalid-reply policy for this environment")
            seats = replayed_seats(record, settings[match.environment], selection.history, legal=selection.legal)
        except (ReplayMismatch, ValueError) as error:
            tally.damaged(f"match {match.number} of {match.environment}", str(error))
            continue
        tally.take(match)
        declaration = load_environment(match.environment).declaration
        rewards = [result.reward for result in outcome.seats]
        rated = [declaration.is_rated(seat.agent) for seat in seats]
        compared = [reward for reward, is_rated in zip(rewards, rated, strict=True) if is_rated]
        for seat, policy, reward, is_rated in zip(seats, match.policies, rewards, rated, strict=True):
            if (is_rated or selection.staff) and (not selection.policies or policy in selection.policies):
                won = is_rated and reward == max(compared) > min(compared)
                yield PlayedSeat(match_id, match.policies, deal, seat, policy, reward, won)


def deal_columns(match: Match) -> dict[str, str]:
    """Returns the columns of the deal of a match, independent of its players.

    Matches with equal columns had the same cards, roles or opening. No seat of the deal has an opponent.

    Raises:
        ValueError: if the match holds values that cannot be written as text.
    """
    deal = Deal(match.environment, match.seed, options=match.options)
    return {"environment": deal.environment, "group": deal.group, "deal": deal.to_json()}


def replayed_seats(record: Record, settings: TurnSettings, history: str, *, legal: bool = False) -> list[Seat]:
    """Replays a match and returns its seats in order.

    Args:
        record: a finished match.
        settings: invalid-reply policy of its run.
        history: content of a conversation; see ``agents.chat.Chat``.
        legal: whether to list the legal moves before each reply.

    Raises:
        ReplayMismatch: if the replay differs from the record.
    """
    recorders: dict[str, _ChatRecorder] = {}
    episode = play_again(record, settings, lambda agent: recorders.setdefault(agent, _ChatRecorder(history, legal)))
    rewards, initial = _rewards(episode.turns)
    seats = []
    for agent, recorder in recorders.items():
        conversations: list[list[Reply]] = [[] for _ in range(recorder.conversations)]
        attempts = _attempts(episode.turns, agent)
        for replayed, (turn, attempt, is_last) in zip(recorder.replies, attempts, strict=True):
            reply = Reply(
                observed=replayed.observed,
                text=encodable(attempt.reply),
                turn=turn.index,
                first=replayed.first,
                kind=attempt.kind,
                is_move=is_last and not turn.fallback and attempt.kind is Failure.OK and not replayed.completes,
                played=turn.played,
                reward=rewards[turn.index] if is_last else 0.0,
                reasoning=encodable(attempt.reasoning),
                logprob=_logprob(attempt),
                legal=replayed.legal,
            )
            conversations[replayed.conversation].append(reply)
        seats.append(Seat(agent, conversations, initial[agent]))
    return seats


@dataclass(frozen=True)
class _Replayed:
    """A replayed reply: messages before it, conversation index, whether it completes a partly kept reply, and legal moves."""

    observed: tuple[Message, ...]
    conversation: int
    first: bool
    completes: bool
    legal: tuple[str, ...]


class _ChatRecorder(Recorded):
    """Records the messages of one seat during a replay."""

    wants_update = True

    def __init__(self, history: str, legal: bool) -> None:
        self.wants_legal = legal
        self._chat = Chat(history)
        self._numbers: dict[int, int] = {}  # conversation index by ``id`` of its messages
        self._messages: list[list[Message]] = []  # keeps them alive, so that every ``id`` is unique
        self.replies: list[_Replayed] = []

    @property
    def conversations(self) -> int:
        return len(self._messages)

    def recall(self, observation: Mapping[str, Any], reply: str) -> None:
        observed = tuple(self._chat.hear(observation))
        messages = self._chat.messages
        number = self._numbers.setdefault(id(messages), len(self._messages))
        if number == len(self._messages):
            self._messages.append(messages)
        first, completes = not observation.get("attempt"), bool(observation.get("kept"))
        self.replies.append(_Replayed(observed, number, first, completes, tuple(observation.get("legal", ()))))
        self._chat.say(reply)


def _logprob(attempt: Attempt) -> float | None:
    value = (attempt.detail or {}).get("logprob")
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def _attempts(turns: Sequence[Turn], agent: str) -> Iterator[tuple[Turn, Attempt, bool]]:
    """Yields every reply of an agent with its turn, and whether it is the last one of the turn."""
    for turn in turns:
        if turn.agent == agent:
            for number, attempt in enumerate(turn.attempts, 1):
                yield turn, attempt, number == len(turn.attempts)


def _rewards(turns: Sequence[Turn]) -> tuple[dict[int, float], dict[str, float]]:
    """Returns the rewards from each turn up to the actor's next one, by turn, and the rewards before an agent's first turn."""
    received: dict[int, float] = {}
    initial: dict[str, float] = defaultdict(float)
    last: dict[str, int] = {}
    for turn in turns:
        last[turn.agent] = turn.index
        received[turn.index] = 0.0
        for agent, reward in turn.rewards.items():
            if agent in last:
                received[last[agent]] += reward
            else:
                initial[agent] += reward
    return received, initial


def messages_of(replies: Sequence[Reply], *, rejected: bool) -> tuple[list[Message], list[Reply]]:
    """Returns a conversation up to its last reply, and its replies, in order.

    Args:
        replies: replies of the conversation.
        rejected: whether to keep replies that are no move, with the reasons for their rejection. Otherwise the conversation holds
            moves only, and the messages of a turn without a move come before the messages of the next turn.
    """
    messages: list[Message] = []
    for reply in replies:
        _add_observed(messages, reply, rejected)
        _add_reply(messages, reply, rejected)
    while messages and messages[-1]["role"] != "assistant":
        messages.pop()
    return messages, [reply for reply in replies if rejected or reply.is_move]


def prompts_of(replies: Sequence[Reply], *, rejected: bool) -> Iterator[tuple[list[Message], Reply]]:
    """Yields the first reply of every turn after the messages that it answers; ``rejected`` as in ``messages_of``."""
    messages: list[Message] = []
    for reply in replies:
        _add_observed(messages, reply, rejected)
        if reply.first:
            yield messages[:], reply
        _add_reply(messages, reply, rejected)


def _add_observed(messages: list[Message], reply: Reply, rejected: bool) -> None:
    """Adds the messages before a reply, merged with a message of the same role: chat templates require alternating roles."""
    for message in reply.observed if rejected or reply.first else ():
        if messages and messages[-1]["role"] == message["role"]:
            last = messages.pop()
            message = {**last, "content": f"{last['content']}\n\n{message['content']}"}
        messages.append(message)


def _add_reply(messages: list[Message], reply: Reply, rejected: bool) -> None:
    if rejected or reply.is_move:
        messages.append({"role": "assistant", "content": reply.text})
