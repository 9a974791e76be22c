"""Draws writer and editor: the stage, the task, all texts, and the scores."""

from collections.abc import Sequence
from functools import partial

from llmarena_envs.core.declaration import role_of
from llmarena_envs.core.drawing import Drawing
from llmarena_envs.core.messages import Message
from llmarena_envs.core.prompts import Prompts
from llmarena_envs.core.seat_colours import seat_colour
from llmarena_envs.core.sheet import Bubble, Note, Sheet, Stages
from llmarena_envs.core.sheet_table import Cell, Table
from llmarena_envs.core.svg import INK
from llmarena_envs.writer_editor.game import (
    CHANNELS,
    CODE_REVIEW,
    EDIT,
    JUDGE,
    WRITE,
    Scores,
    WriterEditor,
    WriterEditorView,
)
from llmarena_envs.writer_editor.grammar import NAMES

_LINES = {WRITE: 18, EDIT: 10}
"""Maximum lines of the latest text; earlier texts show a third."""


class WriterEditorDrawing(Drawing[WriterEditorView]):
    """Draws the texts for all agents; only spectators see scores.

    Args:
        language: language of the match.
        game: the game with the seats and rounds to draw.
    """

    def __init__(self, language: str, game: WriterEditor) -> None:
        self._language = language
        self._agents = game.agents
        self._max_rounds = game.max_rounds
        self._has_judges = bool(game.judges)
        self._render = Prompts("llmarena_envs.writer_editor", language).render

    def seat(self, view: WriterEditorView) -> str:
        """Draws the task and the texts."""
        return str(self._sheet(view, (view.agent,) if view.to_move else ()))

    def spectator(self, game: WriterEditor) -> str:
        """Draws the task, the texts, and the scores with their reasons."""
        sheet = self._sheet(game.view(game.agents[0]), game.to_move)
        if game.given:
            names = NAMES[game.task]
            rows = [self._scores(judge, given) for judge, given in zip(game.judges, game.given, strict=True)]
            sheet.add(Table(["", *names, ""], rows, [90, 110, 110, 418]))
        if game.given or (game.stage == JUDGE and not game.judges):
            sheet.add(Note(self._result(game), colour=INK))
        return str(sheet)

    def _sheet(self, view: WriterEditorView, moving: Sequence[str]) -> Sheet:
        render, task = self._render, view.task
        sheet = Sheet(render(f"drawing_title_{task}"), self._language)
        sheet.head(render("drawing_round", round=view.round, max_rounds=self._max_rounds), moving)
        stages = [WRITE, EDIT, *([JUDGE] if self._has_judges else [])]
        names = [render("drawing_judge" if stage == JUDGE else f"drawing_{task}_{stage}") for stage in stages]
        sheet.add(Stages(names, stages.index(view.stage) if view.stage in stages else -1))
        heading = render(f"story_task_{task}", signature=view.assignment.signature)
        sheet.add(Bubble("", view.assignment.text, heading=heading, lines=8))
        newest = len(view.messages) - 2
        sheet.history(
            [
                partial(self._written, message, task, is_new=number >= newest)
                for number, message in enumerate(view.messages)
            ]
        )
        if view.consensus:
            sheet.add(Note(render(f"accepted_{task}"), colour=INK))
        return sheet

    def _written(self, message: Message, task: str, *, is_new: bool) -> Bubble:
        stage = WRITE if role_of(message.sender) == CHANNELS[WRITE].sender else EDIT
        return Bubble(
            message.sender,
            message.text or self._render("nothing"),
            seat_colour(self._agents, message.sender),
            heading=self._render(f"story_{task}_{stage}", round=message.round),
            lines=_LINES[stage] if is_new else _LINES[stage] // 3,
            fixed=task == CODE_REVIEW and stage == WRITE,
        )

    def _scores(self, judge: str, given: object) -> list[Cell]:
        seat = Cell(judge, seat=seat_colour(self._agents, judge))
        if not isinstance(given, Scores):
            return [seat, Cell("-"), Cell("-"), Cell(self._render("story_abstention"))]
        reasons = " ".join([each.reason for each in given if each.reason])
        numbers = [Cell(f"{each.score:g}", bold=True) for each in given]
        return [seat, *numbers, Cell(reasons, lines=2)]

    def _result(self, game: WriterEditor) -> str:
        if game.undecided:
            return self._render("no_scores")
        writer, editor = (f"{reward:.3g}" for reward in game.rewards[:2])
        names = dict(zip(("writer_name", "editor_name"), NAMES[game.task], strict=True))
        scores = self._render("story_scores", writer=writer, editor=editor, **names)
        return f"{self._render('story_result')}: {scores}"
