"""Actions of a debate and views of agents."""

from typing import NamedTuple

from llmarena_envs.core.committee import Abstention, Given, Judgement


class Part(NamedTuple):
    """A part of a turn: ``"think"``, ``"respond"``, ``"criticize"`` or ``"raise"``, and its text."""

    action: str
    text: str


class Speech(NamedTuple):
    """A debater's turn, with its parts in order."""

    parts: tuple[Part, ...]


class Query(NamedTuple):
    """An examiner's question."""

    text: str


class Reference(NamedTuple):
    """A reference answer for judges; empty if missing."""

    text: str


Action = Speech | Query | Reference | Judgement | Abstention


class Passage(NamedTuple):
    """A delivered part of a turn.

    Attributes:
        round: its round, counted from 1.
        side: the speaker, ``"A"`` or ``"B"``.
        action: ``"think"``, ``"respond"``, ``"criticize"`` or ``"raise"``.
        text: the text; empty for a missing part.
        hidden_from: roles that never read it: ``"opponent"``, ``"judge"``.
        truncated: whether it was cut because the turn was too long.
    """

    round: int
    side: str
    action: str
    text: str
    hidden_from: tuple[str, ...] = ()
    truncated: bool = False


class DebateView(NamedTuple):
    """An agent's view.

    Attributes:
        agent: the agent.
        to_move: whether it must act.
        legal: always empty: texts cannot be listed.
        side: ``"A"`` or ``"B"`` for a debater, else empty.
        stage: ``"examine"``, ``"debate"``, ``"reference"``, ``"judge"`` or ``"discuss"``.
        round: number of the round of the debate, counted from 1.
        domain: domain of the question; empty if unknown.
        question: the question; empty until the examiner has set it.
        actions: the required actions of the debater to move, besides thoughts.
        words: word limit of its turn, including thoughts.
        passages: passages visible to the agent. If a judge sees the sides in the second order
            their names are exchanged.
        fresh: whether the agent acts without its earlier observations.
        reference: reference answer for judges; empty if missing, and for other roles.
        judgements: in a discussion, each judge's last judgement, ``"you"`` first, then ``"Judge 1"`` and so on.
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
