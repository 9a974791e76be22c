"""Queue of questions to human players, for instance in a browser."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from llmarena_envs.core.codec import ReplyPart
from llmarena_envs.core.errors import ArenaError


class StaleAnswer(ArenaError, ValueError):
    """An answer to a question that is not open."""


@dataclass(frozen=True)
class Question:
    """A question to a human player.

    Attributes:
        name: id of the question: the number of the person's turn in the match and of the reply in the turn.
        text: the text a model would read.
        legal: legal replies, all of them if they can be listed.
        feedback: why the previous reply was not a legal move; empty for the first one.
        parts: the parts of a reply; empty if it is one text.
        join_parts: makes a reply of the texts of its parts, by name.
    """

    name: str
    text: str
    legal: tuple[str, ...] = ()
    feedback: str = ""
    parts: tuple[ReplyPart, ...] = ()
    join_parts: Callable[[Mapping[str, str]], str] = lambda texts: "\n\n".join(texts.values())


class Seat:
    """A human player's seat in one match: the policy, and the state shown to the player.

    Args:
        queue: notified of every change.
        person: name of the person.
        match: id of the match.
        environment: name of the environment.
        policies: policy name by seat of the match.

    Attributes:
        agent: the agent of the environment; empty before the match begins.
        rules: the rules for every player.
        text: the text a model would read now.
        language: of rules and text, e.g. ``en``.
        picture: SVG of the seat's view.
        question: the open question; ``None`` while others are to move.
        to_move: the agent to move; empty before the match begins and after it.
        over: whether the match has ended.
        rewards: reward by seat of an ended match.
        undecided: whether an ended match has no result.
        left: whether the match was abandoned because of a failure or the end of the run.
        version: incremented with every change of the shown state.
    """

    reads: ClassVar[str] = "text"
    unlimited_reasks: ClassVar[bool] = True
    wants_legal: ClassVar[str] = "all"
    wants_picture: ClassVar[bool] = True

    def __init__(
        self, queue: "HumanQueue", person: str, match: str, environment: str, policies: Mapping[str, str]
    ) -> None:
        self._queue = queue
        self.person = person
        self.match = match
        self.environment = environment
        self.policies = policies
        self.version = 0
        self.reset("", 0)

    def reset(self, agent: str, seed: int) -> None:
        """Starts the match as ``agent``."""
        self.agent = agent
        self.rules = self.text = self.language = self.picture = self.to_move = ""
        self.question: Question | None = None
        self._asked = Question("", "")
        self.over = self.undecided = self.left = False
        self.rewards: Mapping[str, float] = {}
        self._turns = 0
        self._answer: asyncio.Future[str] | None = None
        self._given: tuple[str, str] | None = None

    def recall(self, observation: Mapping[str, Any], reply: str) -> None:
        """Counts a turn that was played before an interruption."""
        self._turns += not observation.get("attempt")

    def watch(self, observation: Mapping[str, Any]) -> None:
        """Shows the position after a turn."""
        self.rules, self.text, self.language = observation["rules"], observation["text"], observation["language"]
        self.picture, self.over = observation["picture"], observation["over"]
        self.to_move, self.rewards = observation.get("to_move", ""), observation.get("rewards", {})
        self.undecided = observation.get("undecided", False)
        self._change()

    async def __call__(self, observation: Mapping[str, Any]) -> str:
        """Waits for the person's answer and returns it.

        Raises:
            Exception: the error passed to ``HumanQueue.close``.
        """
        attempt = observation.get("attempt", 0)
        self._turns += not attempt
        self.rules, self.text, self.picture = observation["rules"], observation["text"], observation["picture"]
        self.question = self._asked = Question(
            f"{self._turns}.{attempt}",
            self.text,
            tuple(observation["legal"]),
            observation.get("feedback", ""),
            observation["parts"],
            observation["join_parts"],
        )
        self._answer = asyncio.get_running_loop().create_future()
        self._change()
        try:
            self._queue.check()
            return await self._answer
        finally:
            self.question = self._answer = None
            self._change()

    def join(self, question: str, texts: Mapping[str, str]) -> str:
        """Returns the reply made of the texts of its parts; for a question before the latest one the texts as they are.

        Args:
            question: name of the question.
            texts: by name of the part.
        """
        asked = self._asked if question == self._asked.name else Question("", "")
        return asked.join_parts(texts)

    def answer(self, question: str, reply: str) -> None:
        """Answers the question; a repeated identical answer, as from a double click, has no effect.

        Args:
            question: its name.
            reply: the person's reply.

        Raises:
            StaleAnswer: if another question is open, or none.
        """
        if (question, reply) == self._given:
            return
        if self.question is None or self._answer is None or self._answer.done() or self.question.name != question:
            asked = self.question.name if self.question else "none"
            raise StaleAnswer(f"expected an answer to question {asked}, got one to {question!r:.40}")
        self._answer.set_result(reply)
        self._given = question, reply

    def refuse(self, error: Exception) -> None:
        """Ends an open question with an error."""
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(error)

    def leave(self) -> None:
        """Marks the seat as left: there are no further questions, whether or not the match has ended."""
        self.left = not self.over
        self._change()

    async def after(self, question: str) -> None:
        """Waits until another question is open here, or none will follow."""
        await self._queue.until(
            lambda: self.over or self.left or (self.question is not None and self.question.name != question)
        )

    def _change(self) -> None:
        self.version += 1
        self._queue.change()


class HumanQueue:
    """All seats of human players in the matches of this process.

    Args:
        continues: whether the players can start another match at the end; see ``ask_again``.

    Attributes:
        continues: the same.
        next_seed: seed of the match that the players can start now; ``None`` if they cannot.
        ended: whether the run has ended for this process; there are no further questions.
    """

    def __init__(self, *, continues: bool = False) -> None:
        self.continues = continues
        self.next_seed: int | None = None
        self._choice: asyncio.Future[bool] | None = None
        self.ended = False
        self._changed = asyncio.Event()
        self._error: Exception | None = None
        self._seats: dict[tuple[str, str], Seat] = {}
        self._told: set[str] = set()

    def seat(self, person: str, match: str, environment: str, policies: Mapping[str, str]) -> Seat:
        """Returns a new seat of a person in a match; it replaces the seat of an earlier attempt."""
        seat = self._seats[person, match] = Seat(self, person, match, environment, policies)
        return seat

    def find(self, person: str, match: str) -> Seat | None:
        """Returns the seat of a person in a started match, or ``None``."""
        seat = self._seats.get((person, match))
        return seat if seat is not None and seat.agent else None

    def seats(self, person: str) -> list[Seat]:
        """Returns the seats of a person: first with an open question, then waiting, then with an ended match."""
        own = [seat for (name, _), seat in self._seats.items() if name == person and seat.agent]
        return sorted(own, key=lambda seat: (seat.over or seat.left, seat.question is None))

    def close(self, error: Exception) -> None:
        """Stops all questions: open and later ones raise the error."""
        self._error = self._error or error
        for seat in self._seats.values():
            seat.refuse(error)

    def check(self) -> None:
        """Raises the error passed to ``close``, if any."""
        if self._error is not None:
            raise self._error

    async def ask_again(self, seed: int) -> bool:
        """Waits until a player starts another match or stops; returns whether one is started.

        Args:
            seed: of the other match, shown to the players.
        """
        self.next_seed, self._choice = seed, asyncio.get_running_loop().create_future()
        self.change()
        try:
            return await self._choice
        finally:
            self.next_seed = self._choice = None
            self.change()

    def choose(self, *, again: bool) -> None:
        """Answers ``ask_again``; without effect if it does not wait, as after a double click."""
        if self._choice is not None and not self._choice.done():
            self._choice.set_result(again)

    def end(self) -> None:
        """Marks the run as ended."""
        self.ended = True
        self.change()

    def tell(self, person: str) -> None:
        """Records that a person has seen the current state, possibly the end of the run."""
        if self.ended and person not in self._told:
            self._told.add(person)
            self.change()

    async def all_told(self) -> None:
        """Waits until every person with a seat has seen the end of the run."""
        people = {person for person, _ in self._seats}
        await self.until(lambda: people <= self._told)

    def change(self) -> None:
        """Notifies waiters of a change of the shown state."""
        event, self._changed = self._changed, asyncio.Event()
        event.set()

    async def until(self, holds: Callable[[], bool]) -> None:
        """Waits for a condition that depends only on the shown state."""
        while not holds():
            await self._changed.wait()
