"""What is said in a match of simulation, and what an agent may know of it."""

from typing import NamedTuple

from llmarena_envs.core.committee import Abstention, Judgement
from llmarena_envs.simulation.tasks import Task

USER, SIMULATOR = "user", "simulator"
"""Who says a message."""

OTHER = 4
"""The strategy of a request that follows none of the named ones."""
STRATEGIES = (1, 2, 3, OTHER)
"""Strategies of users: dissatisfaction, a related request, a harder one, another one.

Source: SimulBench (arXiv 2409.07641, section 2.3).
"""


class Request(NamedTuple):
    """What a user asks for.

    Attributes:
        text: the request.
        strategy: one of ``STRATEGIES``.
        unformatted: whether the reply was not in the form that was asked for, and was taken as the request itself.
    """

    text: str
    strategy: int = OTHER
    unformatted: bool = False


class Answer(NamedTuple):
    """What a simulator answers; it may be empty."""

    text: str


class Rating(NamedTuple):
    """What a judge gives a response.

    Attributes:
        score: the rating, 1 to 10.
        text: its words, the rating included.
    """

    score: float
    text: str


Given = Rating | Judgement | Abstention
"""What a judge gives."""

Action = Request | Answer | Given


class Utterance(NamedTuple):
    """What was said in the dialogue.

    Attributes:
        speaker: ``"user"`` or ``"simulator"``.
        text: what was said.
        strategy: of a request, 0 for an answer, for a request that nobody chose a strategy for, and for others than the user.
        truncated: whether its end was cut off, since it was too long.
        unformatted: as in ``Request``; not told to others than the user.
    """

    speaker: str
    text: str
    strategy: int = 0
    truncated: bool = False
    unformatted: bool = False


class SimulationView(NamedTuple):
    """What an agent knows.

    Attributes:
        agent: the agent.
        to_move: whether it is to act.
        legal: always empty: texts cannot be listed.
        mode: ``"dialogue"``, ``"script"`` or ``"pairwise"``.
        stage: ``"request"``, ``"answer"`` or ``"judge"``.
        turn: number of the turn, a request and its answer, counted from 1.
        turns: number of turns of the dialogue when it is complete.
        task: what is simulated; its ``engine`` names what answers exactly, if there is such a thing. No text tells it.
        messages: the dialogue so far. In ``"pairwise"`` it ends with the request that both answer.
        responses: what is judged: the last answer, or both answers in the order in which the judge sees them; what a
            simulator in ``"pairwise"`` has answered itself; empty for users and before the answers are there.
        fresh: whether the agent acts now without what it was told before: a judge who sees the answers in the second order.
        undecided: whether the match is over without a result.
    """

    agent: str
    to_move: bool
    legal: tuple[Action, ...]
    mode: str
    stage: str
    turn: int
    turns: int
    task: Task
    messages: tuple[Utterance, ...]
    responses: tuple[Utterance, ...]
    fresh: bool
    undecided: bool
