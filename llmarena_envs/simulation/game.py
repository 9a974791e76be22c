"""Rules of simulation: a model simulates a system that answers requests, and judges rate it."""

import copy
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from llmarena_envs.core.committee import NONE, VERDICTS, Abstention, Committee, Judgement
from llmarena_envs.core.declaration import Channel
from llmarena_envs.core.failures import Reason
from llmarena_envs.core.filler import drawn_filler, filler
from llmarena_envs.core.game import Game
from llmarena_envs.core.messages import HOST, MessagePool, Sent
from llmarena_envs.core.options import OptionError, check_choice, check_int, nearest
from llmarena_envs.core.similarity import essence
from llmarena_envs.core.text_length import WordCounter
from llmarena_envs.simulation.actions import (
    OTHER,
    SIMULATOR,
    STRATEGIES,
    USER,
    Action,
    Answer,
    Rating,
    Request,
    SimulationView,
    Utterance,
)
from llmarena_envs.simulation.measures import measures
from llmarena_envs.simulation.protocol import (
    ANSWER,
    AUTO,
    DIALOGUE,
    HISTORY,
    JUDGE,
    MAX_HISTORY,
    MAX_JUDGES,
    MAX_TURNS,
    MODES,
    NO_PROGRAMS,
    PAIRWISE,
    REQUEST,
    SCALE,
    SIDES,
    SIMULATORS,
    USER_SEAT,
)
from llmarena_envs.simulation.resampling import other_strategy
from llmarena_envs.simulation.scripts import Script, task_of
from llmarena_envs.simulation.speech import MAX_TEXT
from llmarena_envs.simulation.state import SimulationState
from llmarena_envs.simulation.tasks import Task
from llmarena_envs.simulation.truth import check_engine, engine_of, first_request

CHANNELS = {
    HISTORY: Channel(HOST, ("user", "simulator", "judge")),
    REQUEST: Channel("user", ("simulator", "judge")),
    ANSWER: Channel("simulator", ("user", "judge")),
    JUDGE: Channel("judge"),
}
"""Message types before the match and in each stage."""

Item = tuple[Task, tuple[Utterance, ...]]
"""A task with the messages before the match."""


class Simulation(SimulationState, Game[Action, SimulationView]):
    """A dialogue between a user and a simulator, or answers to a script, and their judging.

    Source: SimulBench (arXiv 2409.07641, section 2).

    Args:
        tasks: the tasks; in ``"dialogue"`` one is drawn for a match. Tasks of scripts are included if they have
            an engine.
        scripts: the scripts of ``"script"`` and ``"pairwise"`` to draw from. If empty, the first request of each
            task is a script.
        mode: ``"dialogue"``: user and simulator talk, the last answer is rated; ``"script"``: the answer to a script is rated;
            ``"pairwise"``: two simulators answer the same script and are compared.
        number: index of a fixed task or script; ``None`` to draw it.
        act: act of the tasks to draw from; ``None`` for all.
        turns: number of answers in ``"dialogue"``, 1 to 10.
        n_judges: number of judges, 0 to 9.
        engine: ``"auto"`` to compare answers with the engine of a task, ``"no_programs"`` to do so unless it runs programs,
            ``None`` not to.
    """

    def __init__(
        self,
        tasks: Sequence[Task],
        scripts: Sequence[Script] = (),
        *,
        mode: str = DIALOGUE,
        number: int | None = None,
        act: str | None = None,
        turns: int = 4,
        n_judges: int = 1,
        engine: str | None = AUTO,
        language: str = "en",
    ) -> None:
        check_choice("mode", mode, MODES)
        check_int("turns", turns, 1, MAX_TURNS)
        check_int("n_judges", n_judges, 0, MAX_JUDGES)
        if engine not in (AUTO, NO_PROGRAMS, None):
            raise OptionError(f"engine: expected {AUTO!r}, {NO_PROGRAMS!r} or None, got {engine!r:.80}")
        if scripts and mode == DIALOGUE:
            raise OptionError(f"scripts: expected None in the mode {DIALOGUE!r}, in which a user makes the requests")
        self.mode = mode
        self.tasks = tuple(tasks)
        self.scripts = tuple(scripts)
        self.items = tuple(_item(script, self.tasks) for script in scripts) or tuple(_begun(task) for task in tasks)
        self._truth = engine
        for task, _ in self.items if engine else ():
            check_engine(task)
        self._candidates = _candidates([task for task, _ in self.items], number, act)
        self.counter = WordCounter(language)
        self._turns = turns
        self.judges = tuple(f"judge_{number}" for number in range(n_judges))
        self.simulators = SIMULATORS[: 1 + (mode == PAIRWISE)]
        self.agents = (*((USER_SEAT,) if mode == DIALOGUE else ()), *self.simulators, *self.judges)
        self._committee = Committee(n_judges, 1, 2 if mode == PAIRWISE else 1, 1)
        speaking = 2 * turns - 1 if mode == DIALOGUE else len(self.simulators)
        self.max_turns = speaking + n_judges * self._committee.orders

    def numbers_by_turns(self) -> list[int]:
        """Returns the indices of eligible items, cycling through types, with and without engine."""
        taken: Counter[tuple[bool, str]] = Counter()
        order = []
        for number in self._candidates:
            task, _ = self.items[number]
            kind = not task.engine, task.type
            order.append((taken[kind], kind, number))
            taken[kind] += 1
        return [number for _, _, number in sorted(order)]

    def reset(self, rng: np.random.Generator) -> None:
        """Draws the task or script, and advances the engine to the dialogue's state."""
        self.number = self._candidates[int(rng.integers(len(self._candidates)))]
        self.task, begun = self.items[self.number]
        self.pool = MessagePool(CHANNELS, self.agents)
        self.truths = ()
        self.given = ()
        self.committee = self._committee
        self.undecided = False
        self.rewards = (0.0,) * len(self.agents)
        self._engine = engine_of(self.task, programs=self._truth == AUTO) if self._truth else None
        for message in begun:
            self._say(HISTORY, HOST, message)
        self.turns = self._turns if self.mode == DIALOGUE else (len(begun) + 1) // 2
        self.stage, self.to_move = ANSWER, self.simulators

    @property
    def lacks_engine(self) -> bool:
        """Whether this machine cannot run the task's engine."""
        return self._truth == AUTO and bool(self.task.engine) and self._engine is None

    def _say(self, kind: str, speaker: str, message: Utterance) -> None:
        """Adds a message to the dialogue; the engine, if any, also answers a request."""
        if message.speaker == USER and self._engine is not None:
            request = message.text if self.pool.sent else first_request(self.task)
            engine = copy.copy(self._engine)  # positions are values: the copy of a match shares their content
            self.truths += (engine.respond(request),)
            self._engine = engine
        self.pool = self.pool.with_message(kind, speaker, message)

    # Views of agents.

    def view(self, agent: str) -> SimulationView:
        """Returns the view of ``agent``: task, dialogue, and responses to judge; never engine answers."""
        swapped = agent in self.judges and self.mode == PAIRWISE and self.committee.order == 1
        to_move = agent in self.to_move
        heard = self.pool.visible_to(agent, *self._dialogue)
        return SimulationView(
            agent,
            to_move,
            (),
            self.mode,
            self.stage,
            self.turn,
            self.turns,
            self.task,
            heard if agent == USER_SEAT else tuple(map(_heard, heard)),
            self._responses_for(agent, swapped),
            to_move and swapped,
            self.undecided,
        )

    def _responses_for(self, agent: str, swapped: bool) -> tuple[Utterance, ...]:
        if agent in self.judges:
            return self.responses[::-1] if swapped else self.responses
        if agent in self.simulators and self.mode == PAIRWISE and self.answers:
            return (self.answers[self.simulators.index(agent)],)
        return ()

    # Actions and their effects.

    def why_illegal(self, agent: str, action: Action) -> Reason | None:
        """Returns why an action is illegal at this stage."""
        judged = Judgement if self.mode == PAIRWISE else Rating
        if not isinstance(action, {REQUEST: Request, ANSWER: Answer}.get(self.stage, (judged, Abstention))):
            return Reason("wrong_stage")
        if isinstance(action, Rating) and not SCALE.low <= action.score <= SCALE.high:
            return Reason("off_the_scale", {"low": f"{SCALE.low:g}", "high": f"{SCALE.high:g}"})
        return None

    def default_action(self, agent: str) -> Action:
        """Returns an empty request or answer, or an abstention."""
        defaults: dict[str, Action] = {REQUEST: Request("", OTHER, True), ANSWER: Answer("")}
        return defaults.get(self.stage, Abstention())

    def random_action(self, agent: str, rng: np.random.Generator) -> Action:
        """Draws meaningless words, or a judgement."""
        number = int(rng.integers(1000))
        if self.stage == REQUEST:
            return Request(filler("A request", number), STRATEGIES[number % len(STRATEGIES)])
        if self.stage == ANSWER:
            return Answer(filler("An answer", number))
        if self.mode == PAIRWISE:
            verdict = VERDICTS[number % len(VERDICTS)]
            return Judgement(verdict, filler("Reasons", number))
        score = 1 + number % 19 / 2
        return Rating(score, filler("Reasons", number))

    def apply(self, actions: tuple[Action, ...]) -> None:
        """Applies a request, an answer, or all judgements of a session."""
        first = actions[0]
        if isinstance(first, Request):
            text = first.text[:MAX_TEXT]
            request = Utterance(USER, text, first.strategy, len(first.text) > MAX_TEXT, first.unformatted)
            self._say(REQUEST, USER_SEAT, request)
            self.stage, self.to_move = ANSWER, self.simulators
        elif isinstance(first, Answer):
            answers = [_utterance(action) for action in actions if isinstance(action, Answer)]
            for simulator, answer in zip(self.simulators, answers, strict=True):
                self._say(ANSWER, simulator, answer)
            self._call_next()
        elif self.mode == PAIRWISE:
            given = tuple(each for each in actions if isinstance(each, Judgement | Abstention))
            self.committee = self.committee.joined_by(given)
            self._call_judges()
        else:
            self.given = tuple(each for each in actions if isinstance(each, Rating | Abstention))
            self._pay_ratings()

    def _call_next(self) -> None:
        if self.mode == DIALOGUE and self.turn < self.turns:
            self.stage, self.to_move = REQUEST, (USER_SEAT,)
        else:
            self._call_judges()

    def _call_judges(self) -> None:
        """Starts a judging session of all judges; after the last one, or without judges, ends the match."""
        if not self.committee.is_done:
            self.stage, self.to_move = JUDGE, self.judges
            return
        winner = self.committee.winner
        self.to_move, self.undecided = (), winner == NONE
        if winner in SIDES:
            self.rewards = tuple(self._reward(agent, winner) for agent in self.agents)

    def _reward(self, agent: str, winner: str) -> float:
        if agent not in self.simulators:
            return 0.0
        return 1.0 if self.simulators.index(agent) == SIDES.index(winner) else -1.0

    def _pay_ratings(self) -> None:
        """Rewards the simulator with its mean rating; the match has no result if all judges abstained."""
        ratings = self.ratings
        self.to_move, self.undecided = (), not ratings
        if ratings:
            mean = statistics.fmean(ratings)
            self.rewards = tuple(mean if agent in self.simulators else 0.0 for agent in self.agents)

    def forfeit(self, offenders: tuple[str, ...]) -> tuple[float, ...]:
        """Ends the match: -1 for an offender, +1 for the other of two simulators; no result if only staff acted illegally."""
        self.to_move = ()
        self.undecided = not any(agent in self.simulators for agent in offenders)
        wins = 0.0 if self.undecided else 1.0
        return tuple(-1.0 if agent in offenders else wins * (agent in self.simulators) for agent in self.agents)

    def resample(self, agent: str, rng: np.random.Generator) -> None:
        """Redraws data hidden from ``agent``: others' answers, a user's strategies, judgements, engine answers.

        Texts become meaningless words, engine answers only until the match is over; strategies and, until then, verdicts are
        equally likely. Engine answers to future requests depend only on the requests.
        """

        def redrawn(sent: Sent[Utterance]) -> Sent[Utterance]:
            entry = sent.entry
            if sent.kind == ANSWER and agent not in (sent.sender, *sent.readers):
                entry = entry._replace(text=drawn_filler("An answer", rng), truncated=False)
            elif agent != USER_SEAT:
                entry = other_strategy(entry, rng)
            return sent._replace(entry=entry)

        self.pool = self.pool.changed(redrawn)
        if self.to_move:
            self.truths = tuple(drawn_filler("A truth", rng) for _ in self.truths)
        judge = self.judges.index(agent) if agent in self.judges else -1
        self.given = tuple(
            each._replace(text=drawn_filler("Reasons", rng)) if isinstance(each, Rating) and number != judge else each
            for number, each in enumerate(self.given)
        )
        self.committee = self.committee.redrawn(judge, rng, keep_verdicts=not self.to_move)

    # Information for spectators.

    def statistics(self, agent: str) -> Mapping[str, float]:
        """Returns the statistics of ``agent`` and the match; all are -1 until the match is over."""
        return measures(self, agent)


def _utterance(answer: Answer) -> Utterance:
    return Utterance(SIMULATOR, answer.text[:MAX_TEXT], truncated=len(answer.text) > MAX_TEXT)


def _heard(message: Utterance) -> Utterance:
    """Returns a message as shown to other agents, without the user's strategy."""
    return message._replace(strategy=0, unformatted=False)


def _begun(task: Task) -> Item:
    """Returns a task with the beginning of its dialogue: the description, including the first request."""
    return task, (Utterance(USER, task.task_description),)


def _item(script: Script, tasks: Sequence[Task]) -> Item:
    """Returns the task of a script with its history; without its engine if the history begins with another request."""
    task = task_of(script, tasks) or Task(script.act, script.task_description, "", script.type, script.source_id)
    if essence(script.dialogue_history[0].content) != essence(task.task_description):
        task = task._replace(engine="")
    length = sum(len(said) for _, said in script.dialogue_history)
    if length > MAX_HISTORY:
        raise OptionError(
            f"scripts: {script.id!r:.60}: expected a history of at most {MAX_HISTORY} characters, got {length}"
        )
    history = [
        Utterance(SIMULATOR if number % 2 else USER, said) for number, (_, said) in enumerate(script.dialogue_history)
    ]
    return task, tuple(history)


def _candidates(tasks: Sequence[Task], number: int | None, act: str | None) -> list[int]:
    """Returns the indices of the tasks, or scripts' tasks, to draw from."""
    found = list(range(len(tasks)))
    if act is not None:
        found = [each for each in found if _plain(tasks[each].act) == _plain(act)]
        if not found:
            hint = nearest(act, dict.fromkeys(task.act for task in tasks))
            raise OptionError(f"task: expected the name (act) of one of the {len(tasks)}, got {act!r:.80}{hint}")
    if number is None:
        if not found:
            raise OptionError("tasks: expected at least one, got none")
        return found
    check_int("number", number, 0, len(tasks) - 1)
    if number not in found:
        raise OptionError(f"number: {number} is {tasks[number].act!r:.80}, not {act!r:.80}")
    return [number]


def _plain(act: object) -> str:
    return " ".join(str(act).split()).casefold()
