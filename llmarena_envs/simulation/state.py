"""Position of a simulation match, and facts that follow from it."""

from llmarena_envs.core.committee import Committee
from llmarena_envs.core.messages import MessagePool
from llmarena_envs.core.text_length import WordCounter
from llmarena_envs.simulation.actions import SIMULATOR, USER, Given, Rating, Utterance
from llmarena_envs.simulation.protocol import ANSWER, HISTORY, PAIRWISE, REQUEST, SCRIPT
from llmarena_envs.simulation.tasks import Task


class SimulationState:
    """The position of a match.

    Attributes:
        mode: as in ``SimulationView``.
        number: index of the match's task or script.
        task: the simulated task.
        pool: all messages.
        to_move: the agents to act; empty when the match is over.
        truths: the engine's answer to each request of the dialogue; empty if there is no engine. For spectators only.
        stage: as in ``SimulationView``.
        given: each judge's rating in ``"dialogue"`` and ``"script"``; empty before judging.
        turns: number of turns of the complete dialogue.
        simulators, judges: their seats.
        counter: measures lengths.
        committee: the judgements in ``"pairwise"``; all judges judge twice, the second time with the answers in the
            other order.
    """

    mode: str
    number: int
    task: Task
    pool: MessagePool[Utterance]
    to_move: tuple[str, ...]
    truths: tuple[str, ...]
    stage: str
    given: tuple[Given, ...]
    turns: int
    simulators: tuple[str, ...]
    judges: tuple[str, ...]
    counter: WordCounter
    committee: Committee

    @property
    def messages(self) -> tuple[Utterance, ...]:
        """The dialogue; in ``"pairwise"`` up to the request to both simulators."""
        return self.pool.of(*self._dialogue)

    @property
    def answers(self) -> tuple[Utterance, ...]:
        """In ``"pairwise"`` each simulator's answer; empty before the answers."""
        return self.pool.of(ANSWER) if self.mode == PAIRWISE else ()

    @property
    def _dialogue(self) -> tuple[str, ...]:
        return (HISTORY, REQUEST) if self.mode == PAIRWISE else (HISTORY, REQUEST, ANSWER)

    @property
    def turn(self) -> int:
        """Number of the current turn, a request and its answer, counted from 1."""
        return sum(message.speaker == USER for message in self.messages) + (self.stage == REQUEST)

    @property
    def responses(self) -> tuple[Utterance, ...]:
        """The judged responses: the last answer, or both simulators' answers; empty before the answers."""
        if self.mode == PAIRWISE:
            return self.answers
        return tuple(message for message in self.messages[-1:] if message.speaker == SIMULATOR)

    @property
    def ratings(self) -> tuple[float, ...]:
        """The ratings without abstentions; empty before judging."""
        return tuple(given.score for given in self.given if isinstance(given, Rating))

    def said_by(self, agent: str) -> tuple[Utterance, ...]:
        """Returns a user's or simulator's own requests or answers, in order."""
        if agent not in self.simulators:
            return tuple(message for message in self.messages[1:] if message.speaker == USER)
        if self.mode == PAIRWISE:
            number = self.simulators.index(agent)
            return self.answers[number : number + 1]
        if self.mode == SCRIPT:
            return self.responses
        return tuple(message for message in self.messages if message.speaker == SIMULATOR)

    @property
    def sessions(self) -> tuple[tuple[Given, ...], ...]:
        """All judgements, by session."""
        return (self.given,) if self.given else self.committee.sessions
