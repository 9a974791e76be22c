"""How a turn is taken into the debate: within its budget, without what it must not have, empty where something is missing."""

from typing import NamedTuple

from llmarena_envs.core.text_length import TextCounter
from llmarena_envs.debate.actions import Part, Passage, Speech
from llmarena_envs.debate.protocol import CRITICIZE, THINK, Turn


class Secrecy(NamedTuple):
    """Who reads what.

    Attributes:
        restricted: whether opponents read nothing but what is responded and raised.
        judges_read_thoughts: whether judges do; opponents never do.
    """

    restricted: bool = False
    judges_read_thoughts: bool = True

    def hidden_from(self, action: str) -> tuple[str, ...]:
        """Returns who never reads an action: ``"opponent"``, ``"judge"``."""
        if action == THINK:
            return ("opponent",) if self.judges_read_thoughts else ("opponent", "judge")
        return ("opponent",) if action == CRITICIZE and self.restricted else ()


class Delivery(NamedTuple):
    """A turn that was taken into the debate.

    Attributes:
        side: whose it was, ``"A"`` or ``"B"``.
        passages: what was taken of it.
        missing: number of parts that were asked for and not given.
        forbidden: number of parts that it must not have, which are dropped.
    """

    side: str
    passages: tuple[Passage, ...]
    missing: int
    forbidden: int

    @property
    def truncated(self) -> bool:
        """Whether it was too long."""
        return any(passage.truncated for passage in self.passages)


def deliver(speech: Speech, turn: Turn, words: int, counter: TextCounter, secrecy: Secrecy) -> Delivery:
    """Takes a turn into the debate.

    What it must not have is dropped; the rest is cut where the budget ends.

    Args:
        speech: what the debater gave.
        turn: which turn it is.
        words: its budget in words, thoughts included.
        counter: measures and cuts.
        secrecy: who reads what.
    """
    allowed = _allowed(speech, turn.actions)
    given = {part.action for part in allowed if part.text}
    absent = [action for action in turn.actions if all(part.action != action for part in allowed)]
    passages = []
    left = counter.budget(words)
    for action, text in (*allowed, *(Part(action, "") for action in absent)):
        kept = counter.cut(text, left)
        truncated = kept != text
        left = 0 if truncated else left - counter.length(kept)
        if kept or action != THINK:
            passages.append(
                Passage(turn.round, turn.side, action, kept.rstrip(), secrecy.hidden_from(action), truncated)
            )
    missing = sum(action not in given for action in turn.actions)
    return Delivery(turn.side, tuple(passages), missing, len(speech.parts) - len(allowed))


def left_over(speech: Speech, actions: tuple[str, ...], words: int, counter: TextCounter) -> int:
    """Returns the length that a turn leaves of its budget, below 0 if it goes beyond it."""
    return counter.budget(words) - sum(counter.length(part.text) for part in _allowed(speech, actions))


def _allowed(speech: Speech, actions: tuple[str, ...]) -> list[Part]:
    return [part for part in speech.parts if part.action in (THINK, *actions)]
