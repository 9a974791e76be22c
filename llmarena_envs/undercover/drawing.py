"""Draws Undercover: words, clues and votes."""

from collections.abc import Iterator, Mapping, Sequence

from llmarena_envs.core.drawing import Drawing
from llmarena_envs.core.prompts import Prompts
from llmarena_envs.core.transcript import Scene
from llmarena_envs.core.transcript_drawing import draw_transcript
from llmarena_envs.undercover.game import CLUE, Undercover, UndercoverView


class UndercoverDrawing(Drawing[UndercoverView]):
    """Draws the words known to the reader, then clues and votes by round.

    Args:
        language: language of the match.
        game: the game with the seats and rounds to draw.
    """

    def __init__(self, language: str, game: Undercover) -> None:
        self._language = language
        self._agents = game.agents
        self._max_rounds = game.max_rounds
        self._render = Prompts("llmarena_envs.undercover", language).render

    def seat(self, view: UndercoverView) -> str:
        """Draws the match with the viewer's word."""
        known = {view.agent: f"{view.word} ({self._render('drawing_you')})"}
        return self._draw(view, known, (view.agent,) if view.to_move else ())

    def spectator(self, game: Undercover) -> str:
        """Draws the match with all words and roles."""
        sides = ["drawing_undercover" if agent in game.undercovers else "drawing_ordinary" for agent in game.agents]
        known = {
            agent: f"{word} ({self._render(side)})"
            for agent, word, side in zip(game.agents, game.words, sides, strict=True)
        }
        return self._draw(game.view(game.agents[0]), known, game.to_move)

    def _draw(self, view: UndercoverView, known: Mapping[str, str], moving: Sequence[str]) -> str:
        render = self._render
        stage = "drawing_clue_stage" if view.stage == CLUE else "drawing_vote_stage"
        headline = render(stage, round=view.round, max_rounds=self._max_rounds)
        scenes = [*(Scene(word, speaker=agent) for agent, word in known.items()), *self._rounds(view)]
        return draw_transcript(render("drawing_title"), self._language, self._agents, headline, moving, scenes)

    def _rounds(self, view: UndercoverView) -> Iterator[Scene]:
        """Yields clues, votes and eliminated players, round by round."""
        render = self._render
        results = {result.round: result for result in view.results}
        for number in sorted({clue.round for clue in view.clues}):
            yield Scene(render("drawing_round", round=number))
            for clue in view.clues:
                if clue.round == number:
                    yield Scene("", clue.text or render("blank"), clue.sender)
            if result := results.get(number):
                for voter, target in result.votes:
                    yield Scene(render("drawing_vote", player=target), speaker=voter)
                yield Scene(render("drawing_out", round=number), speaker=result.eliminated)
        if view.winner:
            yield Scene(render(f"winner_{view.winner}"))
