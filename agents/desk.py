"""A desk: where the questions to people wait until they are answered, from a browser for instance."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from llmarena_envs.core.errors import ArenaError


class StaleAnswer(ArenaError, ValueError):
    """An answer to a question that is not asked, or not any more."""


@dataclass(frozen=True)
class Question:
    """What a person is asked.

    Attributes:
        name: by which an answer says what it answers: the number of the person's turn in the match and of the reply in the turn.
        text: what a model would read.
        legal: replies that are legal moves, all of them where they can be listed.
        feedback: why the reply before was no legal move; empty for the first one.
    """

    name: str
    text: str
    legal: tuple[str, ...] = ()
    feedback: str = ""


class Seat:
    """A person's seat in one match: the policy that plays there, and what the person is shown.

    Args:
        desk: told of every change.
        person: name of the person.
        match: id of the match.
        environment: what is played.

    Attributes:
        agent: the agent of the environment; empty before the match begins.
        rules: as told to every player.
        text: what a model would read now.
        language: of rules and text, as in ``en``.
        picture: SVG of what the seat sees.
        question: what is to be answered; ``None`` while others are to move.
        over: whether the match has ended.
        left: whether the match was left without an end, since somebody failed or the run stopped.
        version: grows with every change of what is shown.
    """

    reads: ClassVar[str] = "text"
    unlimited_reasks: ClassVar[bool] = True
    wants_legal: ClassVar[str] = "all"
    wants_picture: ClassVar[bool] = True

    def __init__(self, desk: "Desk", person: str, match: str, environment: str) -> None:
        self._desk = desk
        self.person = person
        self.match = match
        self.environment = environment
        self.version = 0
        self.reset("", 0)

    def reset(self, agent: str, seed: int) -> None:
        """Begins the match as ``agent``."""
        self.agent = agent
        self.rules = self.text = self.language = self.picture = ""
        self.question: Question | None = None
        self.over = self.left = False
        self._turns = 0
        self._answer: asyncio.Future[str] | None = None
        self._given: tuple[str, str] | None = None

    def recall(self, observation: Mapping[str, Any], reply: str) -> None:
        """Takes note of a turn that was played before an interruption."""
        self._turns += not observation.get("attempt")

    def watch(self, observation: Mapping[str, Any]) -> None:
        """Shows the position after somebody's turn."""
        self.rules, self.text, self.language = observation["rules"], observation["text"], observation["language"]
        self.picture, self.over = observation["picture"], observation["over"]
        self._change()

    async def __call__(self, observation: Mapping[str, Any]) -> str:
        """Returns what the person answers, as soon as it is there.

        Raises:
            Exception: the error by which the desk was closed.
        """
        attempt = observation.get("attempt", 0)
        self._turns += not attempt
        self.rules, self.text, self.picture = observation["rules"], observation["text"], observation["picture"]
        self.question = Question(
            f"{self._turns}.{attempt}", self.text, tuple(observation["legal"]), observation.get("feedback", "")
        )
        self._answer = asyncio.get_running_loop().create_future()
        self._change()
        try:
            self._desk.check()
            return await self._answer
        finally:
            self.question = self._answer = None
            self._change()

    def answer(self, question: str, reply: str) -> None:
        """Answers the question; the same answer sent again, as by a second click, changes nothing.

        Args:
            question: its name.
            reply: what the person replies.

        Raises:
            StaleAnswer: if something else is asked, or nothing.
        """
        if (question, reply) == self._given:
            return
        if self.question is None or self._answer is None or self._answer.done() or self.question.name != question:
            asked = self.question.name if self.question else "none"
            raise StaleAnswer(f"expected an answer to question {asked}, got one to {question!r:.40}")
        self._answer.set_result(reply)
        self._given = question, reply

    def refuse(self, error: Exception) -> None:
        """Ends the question, if there is one, with an error."""
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(error)

    def leave(self) -> None:
        """Takes note that nobody is asked here any more, whether or not the match has come to its end."""
        self.left = not self.over
        self._change()

    async def after(self, question: str) -> None:
        """Waits until something other than ``question`` is asked here, or nothing more will be."""
        await self._desk.until(
            lambda: self.over or self.left or (self.question is not None and self.question.name != question)
        )

    def _change(self) -> None:
        self.version += 1
        self._desk.change()


class Desk:
    """All seats of people in the matches of this process.

    Attributes:
        ended: whether the run has ended for this process, so that nobody will be asked anything more.
    """

    def __init__(self) -> None:
        self.ended = False
        self._changed = asyncio.Event()
        self._error: Exception | None = None
        self._seats: dict[tuple[str, str], Seat] = {}
        self._told: set[str] = set()

    def seat(self, person: str, match: str, environment: str) -> Seat:
        """Returns a new seat of a person in a match; one of an earlier try of it is forgotten."""
        seat = self._seats[person, match] = Seat(self, person, match, environment)
        return seat

    def find(self, person: str, match: str) -> Seat | None:
        """Returns the seat of a person in a match that has begun, or ``None``."""
        seat = self._seats.get((person, match))
        return seat if seat is not None and seat.agent else None

    def seats(self, person: str) -> list[Seat]:
        """Returns the seats of a person: those that are asked first, then those that wait, then those whose match is over."""
        own = [seat for (name, _), seat in self._seats.items() if name == person and seat.agent]
        return sorted(own, key=lambda seat: (seat.over or seat.left, seat.question is None))

    def close(self, error: Exception) -> None:
        """Asks nothing any more: whoever is asked or will be gets an error instead of an answer."""
        self._error = self._error or error
        for seat in self._seats.values():
            seat.refuse(error)

    def check(self) -> None:
        """Raises the error by which the desk was closed, if it was."""
        if self._error is not None:
            raise self._error

    def end(self) -> None:
        """Takes note that the run has ended."""
        self.ended = True
        self.change()

    def tell(self, person: str) -> None:
        """Takes note that a person has been shown the present state, perhaps that the run has ended."""
        if self.ended and person not in self._told:
            self._told.add(person)
            self.change()

    async def all_told(self) -> None:
        """Waits until everybody who has a seat has been shown that the run has ended."""
        people = {person for person, _ in self._seats}
        await self.until(lambda: people <= self._told)

    def change(self) -> None:
        """Takes note that something that is shown has changed."""
        event, self._changed = self._changed, asyncio.Event()
        event.set()

    async def until(self, holds: Callable[[], bool]) -> None:
        """Waits until a condition holds that changes with what is shown only."""
        while not holds():
            await self._changed.wait()
