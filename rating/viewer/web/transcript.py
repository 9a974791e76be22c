"""Transcript of a recorded match for a page: seats, turns, and texts cut to a maximum length."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from agents.records import Attempt, Turn
from llmarena_envs.core.failures import Failure
from rating.errors import RunError
from rating.store.records import Record
from rating.store.state import RunState

CUT = 6_000
"""Maximum characters of a text on a page, which links to the full text."""

MOST_LISTED = 400
"""Maximum number of turns in the list of turns, centred on the current one."""


class Passage(NamedTuple):
    """A text on a page, possibly cut.

    Attributes:
        part: key of the full text.
        text: beginning of the text.
        length: characters of the full text.
    """

    part: str
    text: str
    length: int

    @property
    def is_cut(self) -> bool:
        """Whether the text is cut."""
        return self.length > len(self.text)


class ShownAttempt(NamedTuple):
    """A reply, with texts as passages."""

    number: int
    kind: str
    thought: Passage | None
    reply: Passage
    message: Passage | None
    facts: str


class ShownTurn(NamedTuple):
    """A turn, with texts as passages."""

    number: int
    agent: str
    policy: str
    rules: Passage | None
    read: Passage
    attempts: list[ShownAttempt]
    played: Passage
    fallback: str
    rewards: str


class Line(NamedTuple):
    """A turn in the list of turns."""

    number: int
    agent: str
    policy: str
    played: str
    trouble: str
    seconds: str


def seats_of(record: Record, state: RunState) -> dict[str, str]:
    """Returns the policy of each agent, for recorded agents only."""
    match, outcome = record.match, record.outcome
    if outcome is not None and all(seat.agent for seat in outcome.seats):
        return {seat.agent: seat.policy for seat in outcome.seats}
    return dict(zip(rules_of(record, state), match.policies, strict=False))


def show_turn(turn: Turn, seats: Mapping[str, str], rules: Mapping[str, str]) -> ShownTurn:
    """Returns a turn for a page.

    Args:
        turn: recorded turn.
        seats: policies by agent.
        rules: rules text by agent.
    """
    told = rules.get(turn.agent)
    return ShownTurn(
        turn.index + 1,
        turn.agent,
        seats.get(turn.agent, ""),
        _passage("rules", told) if isinstance(told, str) else None,
        _passage("read", turn.read),
        [_attempt(number, attempt) for number, attempt in enumerate(turn.attempts, start=1)],
        _passage("played", _played(turn)),
        turn.fallback,
        ", ".join(f"{agent} {reward:+g}" for agent, reward in turn.rewards.items() if reward),
    )


def list_turns(record: Record, seats: Mapping[str, str], around: int) -> list[Line]:
    """Returns a line per turn, for at most ``MOST_LISTED`` turns centred on ``around``."""
    begin = max(0, min(around - MOST_LISTED // 2, len(record.turns) - MOST_LISTED))
    return [
        Line(
            turn.index + 1,
            turn.agent,
            seats.get(turn.agent, ""),
            _short(_played(turn)),
            ", ".join(_trouble(turn)),
            f"{sum(one.seconds for one in turn.attempts):.1f}",
        )
        for turn in record.turns[begin : begin + MOST_LISTED]
    ]


def whole_text(record: Record, state: RunState, turn: int, part: str) -> str | None:
    """Returns the full text of a passage.

    Args:
        record: recorded match.
        state: recorded state of the run.
        turn: turn number, from 1; 0 for the match itself.
        part: key of the passage; ``error`` for the error of the match.

    Returns:
        The text, or ``None`` if it does not exist.
    """
    if turn == 0:
        return record.error if part == "error" else None
    if not 1 <= turn <= len(record.turns):
        return None
    found = record.turns[turn - 1]
    name, _, place = part.partition("-")
    if place:
        finders: dict[str, Callable[[Attempt], str]] = {
            "thought": lambda attempt: attempt.reasoning,
            "reply": lambda attempt: attempt.reply,
            "message": lambda attempt: attempt.message,
        }
        number = int(place) if place.isascii() and place.isdecimal() and len(place) < 9 else 0
        if name not in finders or not 1 <= number <= len(found.attempts):
            return None
        return finders[name](found.attempts[number - 1])
    if name == "rules":
        told = rules_of(record, state).get(found.agent)
        return told if isinstance(told, str) else None
    return {"read": found.read, "played": _played(found)}.get(name)


def error_passage(record: Record) -> Passage | None:
    """Returns the error of a match, or ``None``."""
    return _passage("error", record.error) if record.error else None


def rules_of(record: Record, state: RunState) -> Mapping[str, str]:
    """Returns the rules text of each agent, or an empty mapping if it was not recorded."""
    try:
        return state.rules(record.match.environment)
    except RunError:
        return {}


def _attempt(number: int, attempt: Attempt) -> ShownAttempt:
    return ShownAttempt(
        number,
        attempt.kind.name.lower(),
        _passage(f"thought-{number}", attempt.reasoning) if attempt.reasoning else None,
        _passage(f"reply-{number}", attempt.reply),
        _passage(f"message-{number}", attempt.message) if attempt.message else None,
        _facts(attempt),
    )


def _facts(attempt: Attempt) -> str:
    """Returns the seconds of a reply and, for models, its tokens and calls."""
    facts = [f"{attempt.seconds:.1f} s"]
    if attempt.prompt_tokens != 0 or attempt.completion_tokens != 0:
        read, written = (
            "unknown" if count is None else f"{count:,}" for count in (attempt.prompt_tokens, attempt.completion_tokens)
        )
        thought = f", {attempt.reasoning_tokens:,} of them reasoning" if attempt.reasoning_tokens else ""
        facts.append(f"tokens: {read} in, {written} out{thought}")
    if attempt.calls > 1:
        facts.append(f"{attempt.calls} calls")
    return "; ".join(facts)


def _played(turn: Turn) -> str:
    return "nothing: forfeit" if turn.action is None else turn.played or str(turn.action)


def _trouble(turn: Turn) -> list[str]:
    failures = [attempt.kind.name.lower() for attempt in turn.attempts if attempt.kind is not Failure.OK]
    return [*failures, *([f"played for it: {turn.fallback}"] if turn.fallback else [])]


def _passage(part: str, text: str) -> Passage:
    return Passage(part, text[:CUT], len(text))


def _short(text: str) -> str:
    line = " ".join(text[:200].split())
    return line if len(line) <= 60 else f"{line[:60]}..."
