"""Actions of simulation and views of agents."""

from typing import NamedTuple

from llmarena_envs.core.committee import Abstention, Judgement
from llmarena_envs.simulation.tasks import Task

USER, SIMULATOR = "user", "simulator"
"""Speakers of messages."""

OTHER = 4
"""A strategy other than the named ones."""
STRATEGIES = (1, 2, 3, OTHER)
"""Users' strategies: dissatisfaction, a related request, a harder one, another one.

Source: SimulBench (arXiv 2409.07641, section 2.3).
"""


class Request(NamedTuple):
    """A user's request.

    Attributes:
        text: the request.
        strategy: one of ``STRATEGIES``.
        unformatted: whether the reply lacked the required format, and was used as the request itself.
    """

    text: str
    strategy: int = OTHER
    unformatted: bool = False


class Answer(NamedTuple):
    """A simulator's answer, possibly empty."""

    text: str


class Rating(NamedTuple):
    """A judge's rating of a response.

    Attributes:
        score: the rating, 1 to 10.
        text: its text, including the rating.
    """

    score: float
    text: str


Given = Rating | Judgement | Abstention
"""A judge's action."""

Action = Request | Answer | Given


class Utterance(NamedTuple):
    """A message of the dialogue.

    Attributes:
        speaker: ``"user"`` or ``"simulator"``.
        text: the message.
        strategy: strategy of a request; 0 for an answer, for a request without a strategy, and for agents except the user.
        truncated: whether it was cut because it was too long.
        unformatted: as in ``Request``; visible only to the user.
    """

    speaker: str
    text: str
    strategy: int = 0
    truncated: bool = False
    unformatted: bool = False


class SimulationView(NamedTuple):
    """An agent's view.

    Attributes:
        agent: the agent.
        to_move: whether it must act.
        legal: always empty: texts cannot be listed.
        mode: ``"dialogue"``, ``"script"`` or ``"pairwise"``.
        stage: ``"request"``, ``"answer"`` or ``"judge"``.
        turn: number of the turn, a request and its answer, counted from 1.
        turns: number of turns of the complete dialogue.
        task: the simulated task; its ``engine`` names the reference implementation, if any, and is not shown in texts.
        messages: the dialogue. In ``"pairwise"`` it ends with the request to both simulators.
        responses: the judged responses: the last answer, or both answers in the judge's order; the own answer of a
            simulator in ``"pairwise"``; empty for users and before the answers.
        fresh: whether the agent acts without its earlier observations: a judge with the answers in the second order.
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
