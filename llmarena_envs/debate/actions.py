"""What is said in a debate, and what an agent may know of it."""

from typing import NamedTuple

from llmarena_envs.core.committee import Abstention, Given, Judgement


class Part(NamedTuple):
    """A part of a turn: ``"think"``, ``"respond"``, ``"criticize"`` or ``"raise"``, and its text."""

    action: str
    text: str


class Speech(NamedTuple):
    """What a debater gives in a turn, in the order in which it is said."""

    parts: tuple[Part, ...]


class Query(NamedTuple):
    """The question that an examiner sets."""

    text: str


class Reference(NamedTuple):
    """An answer that judges compare others with; empty if none is given."""

    text: str


Action = Speech | Query | Reference | Judgement | Abstention


class Passage(NamedTuple):
    """A part of a turn as it was taken into the debate.

    Attributes:
        round: its round, counted from 1.
        side: who said it, ``"A"`` or ``"B"``.
        action: ``"think"``, ``"respond"``, ``"criticize"`` or ``"raise"``.
        text: the text; empty for a part that was asked for and not given.
        hidden_from: who never reads it: ``"opponent"``, ``"judge"``.
        truncated: whether its end was cut off, since the turn was too long.
    """

    round: int
    side: str
    action: str
    text: str
    hidden_from: tuple[str, ...] = ()
    truncated: bool = False


class DebateView(NamedTuple):
    """What an agent knows.

    Attributes:
        agent: the agent.
        to_move: whether it is to act.
        legal: always empty: texts cannot be listed.
        side: ``"A"`` or ``"B"`` for a debater, else empty.
        stage: ``"examine"``, ``"debate"``, ``"reference"``, ``"judge"`` or ``"discuss"``.
        round: number of the round of the debate, counted from 1.
        domain: of the question; empty if it is not known.
        question: the question; empty until the examiner has set it.
        actions: what the debater who is to move is to give, besides thoughts.
        words: how many words its turn may have, thoughts included.
        passages: what was said so far, as far as the agent may read it now. Where a judge sees the sides in the second order
            their names are exchanged.
        fresh: whether the agent acts now without what it was told before.
        reference: an answer that judges compare others with; empty if there is none, and for others than judges.
        judgements: in a discussion what each judge gave last, ``"you"`` first, then ``"Judge 1"`` and so on.
        undecided: whether the match is over without a verdict.
    """

    agent: str
    to_move: bool
    legal: tuple[Action, ...]
    side: str
    stage: str
    round: int
    domain: str
    question: str
    actions: tuple[str, ...]
    words: int
    passages: tuple[Passage, ...]
    fresh: bool
    reference: str
    judgements: tuple[tuple[str, Given], ...]
    undecided: bool
