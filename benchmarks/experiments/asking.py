"""Asks a policy for data in batches: good items are kept, missing ones requested again.

This module decides what is asked and what is kept; ``benchmarks.experiments.jobs`` calls the policies and records the replies.
"""

import hashlib
import json
import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from agents.feedback import feedback, reason
from agents.policy import Reply
from llmarena_envs.core.codec import render_reason
from llmarena_envs.core.failures import Failure, ParseError, Reason
from llmarena_envs.core.options import check_int
from llmarena_envs.core.prompts import Prompts

MAX_COUNT = 100
MAX_CALLS = 10
REPLY_TOKENS = 150
"""Assumed minimum number of tokens in a model's reply, its reasoning included."""

CALLS = 3
"""Default maximum number of requests for a batch."""


class Case(ABC):
    """One thing a policy is asked for: ``count`` items, ``batch`` at a time. A single question has one item.

    Args:
        name: name of the case, unique in its job.
        package: the package with the texts, in ``prompts/<language>.toml``; ``reason_<name>`` explains an unreadable reply.
        language: language of the texts.
        count: number of items wanted.
        batch: items per request.
        calls: maximum number of requests per batch; items still missing afterwards are left out.

    Attributes:
        max_batch: greatest ``batch``.
        reply_tokens: expected length of a reply, for the cost.

    Raises:
        OptionError: if there are no texts in the language, or a number is out of range.
    """

    max_batch: ClassVar[int] = MAX_COUNT
    reply_tokens = REPLY_TOKENS

    def __init__(
        self, name: str, package: str, language: str, *, count: int = 1, batch: int = 1, calls: int = CALLS
    ) -> None:
        check_int("count", count, 1, MAX_COUNT)
        check_int("batch", batch, 1, self.max_batch)
        check_int("calls", calls, 1, MAX_CALLS)
        self.name, self.language = name, language
        self.count, self.batch, self.calls = count, batch, calls
        self.prompts = Prompts(package, language)

    @property
    def batches(self) -> int:
        """Number of batches: the least number of requests."""
        return math.ceil(self.count / self.batch)

    @property
    @abstractmethod
    def example(self) -> str:
        """The form of a reply, shown after an unreadable one."""

    @abstractmethod
    def request(self, accepted: tuple[Any, ...], last: tuple[Any, ...], wanted: int) -> Any:
        """Returns the request as scripted policies read it.

        Args:
            accepted: items accepted up to now.
            last: drafts of the last reply to the present batch.
            wanted: number of items requested now.
        """

    @abstractmethod
    def texts(self, request: Any) -> tuple[str, str]:
        """Returns the request as models read it: the rules, the same in every request, and the text."""

    @abstractmethod
    def read(self, reply: str) -> tuple[Any, ...]:
        """Reads the items of a reply.

        Raises:
            ParseError: if there are none.
        """

    def check(self, items: tuple[Any, ...], accepted: tuple[Any, ...]) -> Sequence[tuple[Any, Reason | None]]:
        """Returns the items of a reply as drafts, each with its reason for refusal or ``None``; by default all are good."""
        return [(item, None) for item in items]

    def first_prompt(self) -> "Prompt":
        """Returns the first request."""
        request = self.request((), (), min(self.batch, self.count))
        return Prompt(request, *self.texts(request))


AnyCase = TypeVar("AnyCase", bound=Case)


class Prompt(NamedTuple):
    """A request.

    Attributes:
        request: as scripted policies read it.
        rules: as models read it: the system prompt.
        text: as models read it: the present request.
        attempt: number of unreadable replies to this request.
        feedback: why the last one could not be read, also at the end of ``text``.
    """

    request: Any
    rules: str
    text: str
    attempt: int = 0
    feedback: str = ""

    @property
    def digest(self) -> str:
        """SHA-256 of the texts."""
        return hashlib.sha256(json.dumps([self.rules, self.text]).encode()).hexdigest()

    def observation(self) -> dict[str, Any]:
        """Returns the request as a text observation; see ``agents.policy``."""
        again = {"attempt": self.attempt, "feedback": self.feedback} if self.attempt else {}
        return {"rules": self.rules, "text": self.text, **again}


@dataclass
class Answer(Generic[AnyCase]):
    """The items of a policy in one case.

    Attributes:
        case: the case.
        accepted: accepted items.
        refused: number of refused items by name of the reason.
        surplus: number of good items beyond the requested number.
        calls: number of replies.
        unreadable: number of replies without items.
        prompt_tokens: tokens read, as far as they are known.
        completion_tokens: tokens written, as far as they are known.
    """

    case: AnyCase
    accepted: tuple[Any, ...] = ()
    refused: Counter[str] = field(default_factory=Counter)
    surplus: int = 0
    calls: int = 0
    unreadable: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    @property
    def drafted(self) -> int:
        """Number of items in all replies."""
        return len(self.accepted) + self.surplus + self.refused.total()

    def take(self, drafts: Sequence[tuple[Any, Reason | None]], wanted: int) -> int:
        """Keeps the good items of a reply, up to the number wanted, and returns the number still missing."""
        good = [draft[0] for draft in drafts if draft[1] is None]
        self.accepted += tuple(good[:wanted])
        self.surplus += len(good[wanted:])
        self.refused.update(draft[1].name for draft in drafts if draft[1] is not None)
        return wanted - len(good[:wanted])


def ask_in_batches(case: AnyCase, agent: str) -> Generator[Prompt, Reply, Answer[AnyCase]]:
    """Asks for the items of a case, batch by batch; a generator that yields requests and is sent the replies.

    Args:
        case: the case.
        agent: agent ID of the policy, for the wording of feedback.

    Returns:
        The answer, after at most ``calls`` requests for each batch.
    """
    answer = Answer(case)
    left = case.count
    while left:
        wanted = min(case.batch, left)
        left -= wanted
        last: tuple[Any, ...] = ()
        attempt, addition, line = 0, "", ""
        for _ in range(case.calls):
            request = case.request(answer.accepted, last, wanted)
            rules, text = case.texts(request)
            reply = yield Prompt(request, rules, text + addition, attempt, line)
            answer.calls += 1
            answer.prompt_tokens += reply.prompt_tokens or 0
            answer.completion_tokens += reply.completion_tokens or 0
            try:
                items = _read(case, reply)
            except ParseError as error:
                answer.unreadable += 1
                kind = reply.kind if reply.kind in (Failure.TRUNCATED, Failure.REFUSAL) else error.kind
                message = render_reason(case.prompts, case.language, error.reason, agent, lambda: case.example)
                line = reason(kind, message, case.language, agent=agent)
                addition = f"\n\n{feedback(kind, message, reply.text, case.language, agent=agent)}"
                attempt += 1
                continue
            attempt, addition, line = 0, "", ""
            last = tuple(case.check(items, answer.accepted))
            wanted = answer.take(last, wanted)
            if not wanted:
                break
    return answer


def _read(case: Case, reply: Reply) -> tuple[Any, ...]:
    if reply.kind is Failure.REFUSAL or not reply.text.strip():
        raise ParseError(Failure.EMPTY, "empty")
    return case.read(reply.text)


def digest_of(cases: Sequence[Case]) -> str:
    """Returns a SHA-256 of what is asked for: the name, the numbers and the first request of each case."""
    asked = [[case.name, case.count, case.batch, case.calls, case.first_prompt().digest] for case in cases]
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()
