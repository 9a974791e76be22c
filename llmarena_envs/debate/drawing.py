"""Draws debates: passages and judgements visible to the reader."""

from collections.abc import Iterable, Iterator, Sequence

from llmarena_envs.core.committee import Judgement
from llmarena_envs.core.drawing import Drawing
from llmarena_envs.core.prompts import Prompts
from llmarena_envs.core.sheet import without_colon
from llmarena_envs.core.transcript import Scene
from llmarena_envs.core.transcript_drawing import draw_transcript
from llmarena_envs.debate.actions import DebateView
from llmarena_envs.debate.game import DEBATE, Debate
from llmarena_envs.debate.transcript import Transcriber


class DebateDrawing(Drawing[DebateView]):
    """Draws the transcript; players see sides, never the names of debaters.

    Args:
        language: language of the match.
        game: the debate with the seats to draw.
    """

    def __init__(self, language: str, game: Debate) -> None:
        self._language = language
        self._agents = game.agents
        self._render = Prompts("llmarena_envs.debate", language).render

    def seat(self, view: DebateView) -> str:
        """Draws the question, the passages and the judgements visible to the viewer."""
        return self._draw(view.stage, view.round, (view.agent,) if view.to_move else (), self._scenes(view))

    def spectator(self, game: Debate) -> str:
        """Draws all passages with the agents they are hidden from, and all judgements."""
        scenes = Transcriber(game, self._language).scenes()
        return self._draw(game.stage, game.turn.round, game.to_move, scenes)

    def _scenes(self, view: DebateView) -> Iterator[Scene]:
        render = self._render
        if view.question:
            yield Scene(render("drawing_question"), view.question)
        for passage in view.passages:
            name = ("own" if passage.side == view.side else "opponent") if view.side else "judged"
            heading = render(f"{name}_{passage.action}", round=passage.round, side=passage.side)
            yield Scene(without_colon(heading), passage.text or render("nothing"))
        if view.reference:
            yield Scene(render("drawing_reference"), view.reference)
        for number, (_, given) in enumerate(view.judgements):
            heading = render("other_judgement" if number else "own_judgement", number=number)
            said = given.text if isinstance(given, Judgement) else render("no_judgement")
            yield Scene(without_colon(heading), said)

    def _draw(self, stage: str, round_: int, moving: Sequence[str], scenes: Iterable[Scene]) -> str:
        fields: dict[str, int] = {"round": round_} if stage == DEBATE else {}
        headline = self._render(f"drawing_{stage}", **fields)
        return draw_transcript(self._render("drawing_title"), self._language, self._agents, headline, moving, scenes)
