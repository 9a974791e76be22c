"""A desk: where the questions to people wait until they are answered, from a browser for instance."""

import asyncio
from collections.abc import Mapping
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
        legal: replies that are legal moves, as far as they can be listed.
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
        picture: SVG of what the seat sees.
        question: what is to be answered; ``None`` while others are to move.
        over: whether the match has ended.
    """

    reads: ClassVar[str] = "text"
    unlimited_reasks: ClassVar[bool] = True
    wants_legal: ClassVar[bool] = True
    wants_picture: ClassVar[bool] = True

    def __init__(self, desk: "Desk", person: str, match: str, environment: str) -> None:
        self._desk = desk
        self.person = person
        self.match = match
        self.environment = environment
        self.reset("", 0)

    def reset(self, agent: str, seed: int) -> None:
        """Begins the match as ``agent``."""
        self.agent = agent
        self.rules = self.text = self.picture = ""
        self.question: Question | None = None
        self.over = False
        self._turns = 0
        self._answer: asyncio.Future[str] | None = None

    def recall(self, observation: Mapping[str, Any], reply: str) -> None:
        """Takes note of a turn that was played before an interruption."""
        self._turns += not observation.get("attempt")

    def watch(self, observation: Mapping[str, Any]) -> None:
        """Shows the position after somebody's turn."""
        self.rules, self.text = observation["rules"], observation["text"]
        self.picture, self.over = observation["picture"], observation["over"]
        self._desk.change()

    async def __call__(self, observation: Mapping[str, Any]) -> str:
        """Returns what the person answers, as soon as it is there."""
        attempt = observation.get("attempt", 0)
        self._turns += not attempt
        self.rules, self.text, self.picture = observation["rules"], observation["text"], observation["picture"]
        self.question = Question(
            f"{self._turns}.{attempt}", self.text, tuple(observation["legal"]), observation.get("feedback", "")
        )
        self._answer = asyncio.get_running_loop().create_future()
        self._desk.change()
        try:
            return await self._answer
        finally:
            self.question = self._answer = None
            self._desk.change()

    def answer(self, question: str, reply: str) -> None:
        """Answers the question.

        Args:
            question: its name.
            reply: what the person replies.

        Raises:
            StaleAnswer: if something else is asked, or nothing.
        """
        if self.question is None or self._answer is None or self._answer.done() or self.question.name != question:
            asked = self.question.name if self.question else "none"
            raise StaleAnswer(f"expected an answer to question {asked}, got one to {question!r:.40}")
        self._answer.set_result(reply)


class Desk:
    """All seats of people in the matches of this process.

    Attributes:
        version: grows with every change of anything that is shown.
    """

    def __init__(self) -> None:
        self.version = 0
        self._changed = asyncio.Event()
        self._seats: dict[tuple[str, str], Seat] = {}

    def seat(self, person: str, match: str, environment: str) -> Seat:
        """Returns a new seat of a person in a match; one of an earlier try of it is forgotten."""
        seat = self._seats[person, match] = Seat(self, person, match, environment)
        return seat

    def find(self, person: str, match: str) -> Seat | None:
        """Returns the seat of a person in a match, or ``None``."""
        return self._seats.get((person, match))

    def seats(self, person: str) -> list[Seat]:
        """Returns the seats of a person: those that are asked first, then those that wait, then those whose match is over."""
        own = [seat for (name, _), seat in self._seats.items() if name == person and seat.agent]
        return sorted(own, key=lambda seat: (seat.over, seat.question is None))

    def change(self) -> None:
        """Takes note that something that is shown has changed."""
        self.version += 1
        event, self._changed = self._changed, asyncio.Event()
        event.set()

    async def change_after(self, version: int) -> int:
        """Waits until the version is another one and returns it."""
        while self.version == version:
            await self._changed.wait()
        return self.version
