"""Rules of writer and editor: one writes, the other comments or revises, judges score both."""

import statistics
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from llmarena_envs.core.declaration import Channel, role_of
from llmarena_envs.core.failures import Reason
from llmarena_envs.core.filler import drawn_filler
from llmarena_envs.core.game import Game
from llmarena_envs.core.judging import Scale
from llmarena_envs.core.messages import Message, MessagePool
from llmarena_envs.core.options import OptionError, check_int
from llmarena_envs.core.quoting import quote
from llmarena_envs.writer_editor.objective import UNKNOWN, Measure
from llmarena_envs.writer_editor.resampling import other_secrets, other_values
from llmarena_envs.writer_editor.task_types import Assignment, Document, Problem

CODE_REVIEW, TRANSLATION = "code_review", "translation"
TASKS = (CODE_REVIEW, TRANSLATION)
WRITE, EDIT, JUDGE = "write", "edit", "judge"

MAX_ROUNDS = 10
MAX_JUDGES = 9
MAX_TEXT = 20_000
"""Maximum number of characters of a writer's or editor's text as quoted to others."""

MAX_REASON = 2_000
"""Maximum number of stored characters of a score's reasons."""

SCALE = Scale(1, 10)


CHANNELS = {
    WRITE: Channel("writer", ("editor", "judge")),
    EDIT: Channel("editor", ("writer", "judge")),
    JUDGE: Channel("judge"),
}
"""Message types by stage. A round is ``WRITE`` and ``EDIT``; ``JUDGE`` follows once after the last round."""


class Text(NamedTuple):
    """A writer's or editor's text: a program, a review or a translation; empty if missing."""

    text: str


class Given(NamedTuple):
    """A judge's score of one role with its reasons."""

    score: float
    reason: str = ""


class Scores(NamedTuple):
    """A judge's scores of both roles."""

    writer: Given
    editor: Given


class Abstention(NamedTuple):
    """A judge's abstention, without scores."""


Action = Text | Scores | Abstention


class WriterEditorView(NamedTuple):
    """An agent's view.

    Attributes:
        agent: the agent.
        to_move: whether it must act.
        legal: always empty: texts and scores cannot be listed.
        task: ``"code_review"`` or ``"translation"``.
        assignment: the assignment, without tests or reference.
        stage: ``"write"``, ``"edit"`` or ``"judge"``.
        round: number of the round, counted from 1.
        messages: the texts visible to the agent.
        consensus: whether the editor has accepted the writer's text.
        undecided: whether the match is over without scores.
        consensus_token: the editor's acceptance.
    """

    agent: str
    to_move: bool
    legal: tuple[Action, ...]
    task: str
    assignment: Assignment
    stage: str
    round: int
    messages: tuple[Message, ...]
    consensus: bool
    undecided: bool
    consensus_token: str


def last_product(task: str, drafts: Sequence[str], edits: Sequence[str], consensus: bool) -> str:
    """Returns the final product of a match: the last program, or the last polished translation.

    Args:
        task: ``"code_review"`` or ``"translation"``.
        drafts: the writer's texts.
        edits: the editor's texts.
        consensus: whether the last edit only accepts the draft.
    """
    return drafts[-1] if task == CODE_REVIEW or consensus or not edits else edits[-1]


class WriterEditor(Game[Action, WriterEditorView]):
    """A match of writer and editor.

    In each round the writer sends a text and the editor a review or the polished text. Rounds end by consensus, when
    the editor sends only the consensus token, or after the last one. Then all judges score both roles at once.

    Args:
        task: ``"code_review"`` or ``"translation"``.
        tasks: the problems or documents to draw from.
        number: index of a fixed task; ``None`` to draw it.
        max_rounds: maximum number of rounds, 1 to 10.
        n_judges: number of judges, 0 to 9; without judges the first measure replaces their scores.
        consensus_token: the editor's acceptance.
        measures: measures of the first and last text, in addition to the judges' scores.

    Attributes:
        task, stage, round, consensus: as in ``WriterEditorView``.
        number: index of the match's task in ``tasks``.
        chosen: the match's task, including its secret parts.
        pool: all texts.
        drafts: the writer's texts.
        edits: the editor's texts.
        given: each judge's scores, once complete.
        measured: for each measure its values for the first and the last text; empty until the judges' turn.
    """

    def __init__(
        self,
        task: str,
        tasks: Sequence[Problem | Document],
        *,
        number: int | None = None,
        max_rounds: int,
        n_judges: int = 1,
        consensus_token: str = "over",
        measures: tuple[Measure, ...] = (),
    ) -> None:
        check_int("max_rounds", max_rounds, 1, MAX_ROUNDS)
        check_int("n_judges", n_judges, 0, MAX_JUDGES)
        if not n_judges and not measures:
            raise OptionError("n_judges: expected at least 1 where nothing is measured that could score a match, got 0")
        self.task = task
        self.tasks = tuple(tasks)
        self._number = number
        self.max_rounds = max_rounds
        self.consensus_token = consensus_token
        self.measures = measures
        self.judges = tuple(f"judge_{number}" for number in range(n_judges))
        self.agents = ("writer_0", "editor_0", *self.judges)
        self.max_turns = 2 * max_rounds + n_judges

    def reset(self, rng: np.random.Generator) -> None:
        """Draws the task, unless it is fixed."""
        self.number = int(rng.integers(len(self.tasks))) if self._number is None else self._number
        self.chosen = self.tasks[self.number]
        self.pool: MessagePool[Message] = MessagePool(CHANNELS, self.agents)
        self.drafts: tuple[str, ...] = ()
        self.edits: tuple[str, ...] = ()
        self.consensus = False
        self.given: tuple[Scores | Abstention, ...] = ()
        self.measured: tuple[tuple[float, float], ...] = ()
        self.undecided = False
        self.round = 1
        self.rewards = (0.0,) * len(self.agents)
        self._begin(WRITE)

    def _begin(self, stage: str) -> None:
        self.stage = stage
        self.to_move = tuple(agent for agent in self.agents if role_of(agent) == CHANNELS[stage].sender)

    def view(self, agent: str) -> WriterEditorView:
        """Returns the view of ``agent``: the task without its solution, and visible messages."""
        return WriterEditorView(
            agent,
            agent in self.to_move,
            (),
            self.task,
            self.chosen.assignment,
            self.stage,
            self.round,
            self.pool.visible_to(agent),
            self.consensus,
            self.undecided,
            self.consensus_token,
        )

    def why_illegal(self, agent: str, action: Action) -> Reason | None:
        """Returns why a text or scores are illegal."""
        if isinstance(action, Text) == (self.stage == JUDGE):
            return Reason("wrong_stage")
        if isinstance(action, Text):
            length = len(quote(action.text))
            return Reason("too_long", {"limit": MAX_TEXT, "length": length}) if length > MAX_TEXT else None
        if isinstance(action, Scores) and not all(SCALE.low <= given.score <= SCALE.high for given in action):
            return Reason("off_the_scale", {"low": f"{SCALE.low:g}", "high": f"{SCALE.high:g}"})
        return None

    def default_action(self, agent: str) -> Action:
        """Returns an empty text, or a judge's abstention."""
        return Abstention() if self.stage == JUDGE else Text("")

    def random_action(self, agent: str, rng: np.random.Generator) -> Action:
        """Draws a meaningless text, sometimes consensus, or scores; a program always does nothing."""
        if self.stage == JUDGE:
            writer, editor = (float(score) for score in rng.integers(1, 11, size=2))
            return Scores(Given(writer), Given(editor))
        number = int(rng.integers(1000))
        if self.stage == EDIT and number % 4 == 0:
            return Text(self.consensus_token)
        if self.stage == WRITE and self.task == CODE_REVIEW:
            return Text(f"def {self.chosen.assignment.entry_point}(*values):\n    pass")
        return Text(f"words without meaning, number {number}")

    def apply(self, actions: tuple[Any, ...]) -> None:
        """Sends a text, or sets rewards after a complete judging stage."""
        if self.stage == JUDGE:
            self._score(actions)
            return
        (action,) = actions
        (sender,) = self.to_move
        self.pool = self.pool.with_message(self.stage, sender, Message(self.round, sender, action.text))
        if self.stage == WRITE:
            self.drafts += (action.text,)
            self._begin(EDIT)
            return
        self.edits += (action.text,)
        self.consensus = action.text == self.consensus_token
        if not self.consensus and self.round < self.max_rounds:
            self.round += 1
            self._begin(WRITE)
        else:
            self._finish()

    def _finish(self) -> None:
        """Measures the texts, and starts judging; without judges the first measure sets rewards."""
        task, own = self.chosen, self.drafts[-1]
        last = last_product(self.task, self.drafts, self.edits, self.consensus)
        values = [
            {text: measure.measure(text, task) for text in dict.fromkeys((self.drafts[0], last, own))}
            for measure in self.measures
        ]
        self.measured = tuple((value[self.drafts[0]], value[last]) for value in values)
        self._begin(JUDGE)
        if not self.judges:
            self._pay(values[0][own], values[0][last])

    def _pay(self, own: float, last: float) -> None:
        """Rewards the writer for its own last text, the editor for the final product: 10 for the best value of a measure."""
        self.undecided = UNKNOWN in (own, last)
        if not self.undecided:
            self.rewards = tuple(SCALE.high * value / self.measures[0].best for value in (own, last))

    def _score(self, given: tuple[Scores | Abstention, ...]) -> None:
        """Rewards both roles with their mean score; the match has no result if all judges abstained."""
        self.given = given
        self.to_move = ()
        scores = [each for each in given if isinstance(each, Scores)]
        self.undecided = not scores
        if scores:
            writer, editor = (statistics.fmean(each[role].score for each in scores) for role in range(2))
            self.rewards = (writer, editor, *[0.0] * len(self.judges))

    def forfeit(self, offenders: tuple[str, ...]) -> tuple[float, ...]:
        """Ends the match: -1 for an offender, 0 for the others; no result if judges acted illegally."""
        self.to_move = ()
        self.undecided = set(offenders) <= set(self.judges)
        return tuple(-1.0 if agent in offenders else 0.0 for agent in self.agents)

    def resample(self, agent: str, rng: np.random.Generator) -> None:
        """Replaces secret parts of the task by placeholder text, and redraws measures and judgements.

        All agents read all texts. Measures become any other value until the match is over; after that, scores are kept, and new
        reasons and a new assignment of scores to the other judges are drawn.
        """
        self.chosen = other_secrets(self.chosen, rng)
        if self.to_move:
            self.measured = tuple(
                other_values(values, measure.best, rng)
                for values, measure in zip(self.measured, self.measures, strict=False)
            )
        own = self.judges.index(agent) if agent in self.judges else -1
        order = [judge for judge in rng.permutation(len(self.given)).tolist() if judge != own]
        if own >= 0 and self.given:
            order.insert(own, own)
        given = [(judge, self.given[judge]) for judge in order]
        self.given = tuple(each if judge == own else _other_reasons(each, rng) for judge, each in given)

    def statistics(self, agent: str) -> Mapping[str, float]:
        """Returns statistics of ``agent`` and the match; all but ``rounds`` are ``UNKNOWN`` until the match is over.

        ``score_writer`` and ``score_editor`` are a judge's scores, ``spread`` the standard deviation of judges' scores for a
        player (0 for one judge), ``length`` the characters of the agent's last text.
        """
        names = [f"{measure.name}_{when}" for measure in self.measures for when in ("first", "last")]
        keys = ["task", "consensus", "length", "empty", "abstentions", "spread", "score_writer", "score_editor", *names]
        known: dict[str, float] = {"rounds": float(self.round)}
        known |= dict.fromkeys(keys, UNKNOWN)
        if self.to_move:
            return known
        own = [message.text for message in self.pool if message.sender == agent]
        known |= {"task": float(self.number), "consensus": float(self.consensus)}
        known |= {"length": float(len(own[-1]) if own else 0), "empty": float(own.count(""))}
        known |= zip(names, [value for pair in self.measured for value in pair], strict=False)
        if self.given:
            known |= self._about_judging(agent)
        return known

    def _about_judging(self, agent: str) -> dict[str, float]:
        scores = [each for each in self.given if isinstance(each, Scores)]
        about = {"abstentions": float(len(self.given) - len(scores))}
        if agent in self.judges:
            own = self.given[self.judges.index(agent)]
            about["abstentions"] = float(isinstance(own, Abstention))
            if isinstance(own, Scores):
                about |= {"score_writer": own.writer.score, "score_editor": own.editor.score}
        elif scores:
            about["spread"] = statistics.pstdev(each[self.agents.index(agent)].score for each in scores)
        return about


def _other_reasons(given: Scores | Abstention, rng: np.random.Generator) -> Scores | Abstention:
    if isinstance(given, Abstention):
        return given
    reason = drawn_filler("Reasons", rng)
    return Scores(*[each._replace(reason=reason) for each in given])
