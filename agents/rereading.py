"""A recorded match, read again: what the grammar of now makes of the replies of then."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

from agents.answers import Answer
from agents.errors import ReplayMismatch
from agents.play import Streams, step_rewards
from agents.records import Episode, Turn
from agents.turn import Move, TurnSettings, reread_turn
from llmarena_envs.core.failures import Failure
from llmarena_envs.core.text_env import TextEnv


class Reading(NamedTuple):
    """What a reply is taken for.

    Attributes:
        kind: ``OK``, or what is wrong.
        action: the move, or ``None`` if there is none.
    """

    kind: Failure
    action: int | str | None


@dataclass(frozen=True)
class Difference:
    """A reply that is read otherwise now.

    Attributes:
        turn: number of the turn in its match, from 0.
        agent: who replied.
        reply: the text.
        then: what it was taken for.
        now: what it is taken for now.
        played_then: the move in the game's grammar, or an empty string.
        played_now: likewise.
    """

    turn: int
    agent: str
    reply: str
    then: Reading
    now: Reading
    played_then: str
    played_now: str


@dataclass(frozen=True)
class Rereading:
    """What reading a match again came to.

    Attributes:
        differences: every reply that is read otherwise now.
        otherwise: whether the match would have gone on otherwise: from a turn whose replies lead to another move now, or to being
            asked once more.
        episode: the match as it would have been, if that is known; without digests.
        reworded: whether a player would read another text now than then.
    """

    differences: tuple[Difference, ...] = ()
    otherwise: bool = False
    episode: Episode | None = field(default=None, repr=False)
    reworded: bool = False


class _Course:
    """The course of a match, turn by turn."""

    def __init__(self, env: TextEnv, seed: int, settings: TurnSettings) -> None:
        self._env = env
        self._settings = settings
        self._turns: list[Turn] = []
        self._rewards = dict.fromkeys(env.possible_agents, 0.0)
        env.reset(seed=Streams(seed).game())

    @property
    def ended(self) -> bool:
        return any(self._env.terminations.values())

    def step(self, recorded: Turn, move: Move) -> None:
        self._env.step(move.action)
        received = step_rewards(self._env, self._settings)
        for agent, reward in received.items():
            self._rewards[agent] += reward
        self._turns.append(
            replace(
                recorded,
                action=move.action,
                attempts=move.attempts,
                fallback=move.fallback,
                rewards=received,
                played=move.played,
                digest="",
            )
        )

    def episode(self) -> Episode:
        infos = {agent: dict(info) for agent, info in self._env.infos.items()}
        return Episode(tuple(self._turns), self._rewards, infos, "", self._env.game.undecided)


def reread(
    env: TextEnv, turns: Sequence[Turn], seed: int, settings: TurnSettings, people: Collection[str] = ()
) -> Rereading:
    """Reads the replies of a recorded match again, each in the position in which it was given.

    The replies of a turn are taken as they were given, also where an earlier one of the turn is now refused for another reason.
    If a turn comes to the same move, the match goes on as it did. If it does not, it is known what would have become of the match
    only if that move ends it.

    Args:
        env: a raw environment like that of the match.
        turns: what was recorded of it.
        seed: of the match.
        settings: what was done about replies that are no legal move.
        people: agents that were persons, who are asked until a legal move comes.

    Raises:
        ReplayMismatch: if the recorded moves lead to another course of the match, whatever is read.
    """
    streams = Streams(seed)
    course = _Course(env, seed, settings)
    differences: list[Difference] = []
    moves: list[Move] = []  # as they are now, up to the one by which the match would have gone on otherwise
    otherwise = reworded = False
    for index, recorded in enumerate(turns):
        agent = env.agent_selection
        if course.ended or (recorded.index, recorded.agent) != (index, agent):
            if otherwise:
                break  # a move that was legal then is not legal now
            raise ReplayMismatch(
                f"turn {index}: expected {'the end of the match' if course.ended else agent}, got turn {recorded.index} of"
                f" {recorded.agent}"
            )
        reworded |= env.observe(agent)["text"] != recorded.read
        rng = partial(streams.fallback, index)
        answers, move = reread_turn(env, agent, recorded, settings, rng, patient=agent in people)
        differences += _differences(recorded, answers)
        if move is not None and not otherwise:
            moves.append(move)
        otherwise |= move is None or move.action != recorded.action
        then = Move(recorded.action, recorded.played, recorded.attempts, recorded.fallback)
        course.step(recorded, then if move is None or otherwise else move)
    if otherwise:
        course = _Course(env, seed, settings)
        for recorded, move in zip(turns, moves, strict=False):
            course.step(recorded, move)
        otherwise = not course.ended
    return Rereading(tuple(differences), otherwise, course.episode() if course.ended else None, reworded)


def _differences(recorded: Turn, answers: Sequence[Answer]) -> Iterator[Difference]:
    last = len(recorded.attempts) - 1
    for number, answer in enumerate(answers):
        attempt = recorded.attempts[number]
        moved = number == last and not recorded.fallback
        then = Reading(attempt.kind, recorded.action if moved else None)
        now = Reading(answer.attempt.kind, answer.action)
        if then != now:
            played = recorded.played if moved else ""
            yield Difference(recorded.index, recorded.agent, attempt.reply, then, now, played, answer.played)
