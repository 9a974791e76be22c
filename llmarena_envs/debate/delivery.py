"""Delivery of a turn: cut to its budget, without forbidden parts, empty for missing parts.

The public parts share the budget: an overlong part takes nothing from the others. Thoughts get the rest, so reasoning inside a
reply never silences a model.
"""

from collections.abc import Sequence
from typing import NamedTuple

from llmarena_envs.core.text_length import TextCounter, share
from llmarena_envs.debate.actions import Part, Passage, Speech
from llmarena_envs.debate.protocol import CRITICIZE, THINK, Turn


class Secrecy(NamedTuple):
    """Visibility of actions.

    Attributes:
        restricted: whether opponents read only responses and raised requests.
        judges_read_thoughts: whether judges read thoughts; opponents never do.
    """

    restricted: bool = False
    judges_read_thoughts: bool = True

    def hidden_from(self, action: str) -> tuple[str, ...]:
        """Returns the roles that never read an action: ``"opponent"``, ``"judge"``."""
        if action == THINK:
            return ("opponent",) if self.judges_read_thoughts else ("opponent", "judge")
        return ("opponent",) if action == CRITICIZE and self.restricted else ()


class Delivery(NamedTuple):
    """A delivered turn.

    Attributes:
        side: the speaker, ``"A"`` or ``"B"``.
        passages: its delivered parts.
        missing: number of required parts not given.
        forbidden: number of dropped parts that were not allowed.
    """

    side: str
    passages: tuple[Passage, ...]
    missing: int
    forbidden: int

    @property
    def truncated(self) -> bool:
        """Whether it was cut."""
        return any(passage.truncated for passage in self.passages)


def deliver(speech: Speech, turn: Turn, words: int, counter: TextCounter, secrecy: Secrecy) -> Delivery:
    """Delivers a turn to the debate.

    Forbidden parts are dropped, long ones are cut.

    Args:
        speech: the debater's speech.
        turn: the turn.
        words: its budget in words, including thoughts.
        counter: measures and cuts texts.
        secrecy: the visibility of actions.
    """
    allowed = allowed_parts(speech, turn.actions)
    kept = _cut(allowed, words, counter)
    passages = [
        Passage(turn.round, turn.side, action, text, secrecy.hidden_from(action), text != whole.rstrip())
        for (action, whole), text in zip(allowed, kept, strict=True)
        if text or action != THINK
    ]
    given = {passage.action for passage in passages if passage.text}
    absent = [action for action in turn.actions if action not in {passage.action for passage in passages}]
    passages += [Passage(turn.round, turn.side, action, "", secrecy.hidden_from(action)) for action in absent]
    missing = sum(action not in given for action in turn.actions)
    return Delivery(turn.side, tuple(passages), missing, len(speech.parts) - len(allowed))


def allowed_parts(speech: Speech, actions: Sequence[str]) -> list[Part]:
    """Returns the thoughts and the requested parts of a turn."""
    return [part for part in speech.parts if part.action in (THINK, *actions)]


def room_for(missing: Sequence[str], parts: Sequence[Part], words: int, counter: TextCounter) -> int:
    """Returns the total length available to missing parts next to the given ones."""
    budget = counter.budget(words)
    lengths = [counter.length(part.text) for part in parts if part.action != THINK]
    return sum(share(budget, [*lengths, *(budget for _ in missing)])[len(lengths) :])


def _cut(parts: Sequence[Part], words: int, counter: TextCounter) -> list[str]:
    """Returns the texts of the parts, cut to the budget."""
    left = counter.budget(words)
    said = [number for number, part in enumerate(parts) if part.action != THINK]
    shares = dict(zip(said, share(left, [counter.length(parts[number].text) for number in said]), strict=True))
    kept = [""] * len(parts)
    for number in (*said, *(number for number in range(len(parts)) if number not in shares)):
        kept[number] = counter.cut(parts[number].text, shares.get(number, left)).rstrip()
        left -= counter.length(kept[number])
    return kept
