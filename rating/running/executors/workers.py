"""Matches that are offered to whoever joins the run, on this machine or another."""

import asyncio
import json
from collections.abc import Sequence
from typing import NamedTuple

from agents.records import Turn
from rating.errors import HarnessError, RunError, StoreError
from rating.records.match import Match
from rating.records.outcome import VOID
from rating.records.postgres.claims import MOST_DEATHS, Kind
from rating.records.record import dump_seats, load_outcome, void_outcome
from rating.running.budget import Halted
from rating.running.executors.executor import OnTurn, Played
from rating.running.players import Players
from rating.running.slots import Slots
from rating.running.workers.coordination import Coordination, News


class Recalled(HarnessError):
    """An offer was taken back before anybody had claimed it, since a policy of the match is suspended."""


class _Awaited(NamedTuple):
    match: Match
    answer: asyncio.Future[str]


class WorkersExecutor:
    """Offers matches in the store of the run, and waits for what workers answer, who record what they play themselves.

    Args:
        coordination: by which it offers.
        players: by which it finds out what a match needs.
        slots: how many matches are offered at once.
    """

    records = True

    def __init__(self, coordination: Coordination, players: Players, slots: Slots) -> None:
        self._coordination = coordination
        self._players = players
        self.slots = slots
        self._awaited: dict[str, _Awaited] = {}
        self._early: dict[str, str] = {}
        self._end: Exception | None = None
        self._failure: Exception | None = None

    async def play(self, match: Match, played: Sequence[Turn], on_turn: OnTurn) -> Played:
        """Has a match played.

        Raises:
            Halted: if the run ends before.
            Recalled: if the offer was taken back.
            StoreError: if the store cannot be used.
        """
        answer = self._early.pop(match.id, None)  # what was given before the run went on
        if answer is None:
            if self._failure is not None:
                raise self._failure
            awaited = _Awaited(match, asyncio.get_running_loop().create_future())
            self._awaited[match.id] = awaited
            is_computed = self._players.is_scripted(match)
            self._coordination.offer(match.id, Kind.COMPUTING if is_computed else Kind.ASKING)
            try:
                answer = await awaited.answer
            finally:
                del self._awaited[match.id]
        return load_answer(match, answer)

    def recall(self, policy: str) -> None:
        """Takes back the offers of the matches of a policy that nobody has claimed."""
        self._coordination.withdraw(
            [identity for identity, awaited in self._awaited.items() if policy in awaited.match.policies]
        )

    def stop(self, error: Exception) -> None:
        """Takes back every offer that nobody has claimed; workers come to the end of their turns and give the others back."""
        self._end = self._end or error
        self._coordination.stop()
        self._coordination.withdraw([*self._awaited])

    def hear(self, news: News) -> None:
        """Takes what has become of offers."""
        for identity, answer in news.answers.items():
            awaited = self._awaited.get(identity)
            if awaited is None:
                self._early[identity] = answer
            elif not awaited.answer.done():
                awaited.answer.set_result(answer)
        for identity in news.withdrawn:
            awaited = self._awaited.get(identity)
            if awaited is not None and not awaited.answer.done():
                error = Recalled(identity) if self._end is None else Halted(str(self._end))
                awaited.answer.set_exception(error)

    def fail(self, error: Exception) -> None:
        """Ends every match with an error after which no answer will come."""
        self._failure = self._failure or error
        for awaited in self._awaited.values():
            if not awaited.answer.done():
                awaited.answer.set_exception(error)


def dump_answer(played: Played) -> str:
    """Returns what a worker answers, which has recorded the match."""
    return json.dumps(
        {
            "status": played.outcome.status,
            "seats": dump_seats(played.outcome.seats),
            "error": played.error,
            "culprit": played.culprit,
            "fatal": played.fatal,
            "final": played.final,
        }
    )


def load_answer(match: Match, answer: str) -> Played:
    """Returns what a match came to.

    Args:
        match: the match.
        answer: of a worker; empty if too many of them have died while they held the match.

    Raises:
        StoreError: if it is no answer.
    """
    if not answer:
        died = f"{MOST_DEATHS} workers have died, one after the other, while they held this match"
        return Played(void_outcome(match, VOID), error=f"{died} ({', '.join(match.policies)})", final=True)
    try:
        table = json.loads(answer)
        outcome = load_outcome(
            match.environment, match.number, str(match.seed), table["status"], table["seats"], len(match.policies)
        )
        if outcome is None:
            raise ValueError("expected what the match came to, but it is unfinished")
        error, culprit = str(table["error"]), str(table["culprit"])
        return Played(outcome, "", error, culprit, bool(table["fatal"]), bool(table["final"]), is_recorded=True)
    except (RunError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise StoreError(f"match {match.id}: expected the answer of a worker, got {answer[:80]!r} ({error})") from error
