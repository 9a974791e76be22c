"""Draws writer and editor: the task, all texts, and the scores."""

from collections.abc import Iterable, Sequence

from llmarena_envs.core.drawing import Drawing
from llmarena_envs.core.prompts import Prompts
from llmarena_envs.core.transcript import Scene
from llmarena_envs.core.transcript_drawing import draw_transcript
from llmarena_envs.writer_editor.game import WriterEditor, WriterEditorView
from llmarena_envs.writer_editor.transcript import texts, transcript


class WriterEditorDrawing(Drawing[WriterEditorView]):
    """Draws the texts for all agents; only spectators see scores.

    Args:
        language: language of the match.
        game: the game with the seats and rounds to draw.
    """

    def __init__(self, language: str, game: WriterEditor) -> None:
        self._agents = game.agents
        self._max_rounds = game.max_rounds
        self._task = game.task
        self._consensus_token = game.consensus_token
        self._prompts = Prompts("llmarena_envs.writer_editor", language)
        self._language = language

    def seat(self, view: WriterEditorView) -> str:
        """Draws the task and the texts."""
        scenes = texts(view.assignment, view.task, view.messages, self._consensus_token, self._prompts)
        return self._draw(view.round, (view.agent,) if view.to_move else (), scenes)

    def spectator(self, game: WriterEditor) -> str:
        """Draws the task, the texts, and the scores with their reasons."""
        return self._draw(game.view(game.agents[0]).round, game.to_move, transcript(game, self._prompts))

    def _draw(self, round_: int, moving: Sequence[str], scenes: Iterable[Scene]) -> str:
        render = self._prompts.render
        headline = render("drawing_round", round=round_, max_rounds=self._max_rounds)
        title = render(f"drawing_title_{self._task}")
        return draw_transcript(title, self._language, self._agents, headline, moving, scenes)
