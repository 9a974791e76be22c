"""Draws simulation: requests and answers, and judgements."""

from collections.abc import Iterable, Iterator, Sequence

from llmarena_envs.core.declaration import role_of
from llmarena_envs.core.drawing import Drawing
from llmarena_envs.core.prompts import Prompts
from llmarena_envs.core.sheet import without_colon
from llmarena_envs.core.transcript import Scene
from llmarena_envs.core.transcript_drawing import draw_transcript
from llmarena_envs.simulation.actions import SIMULATOR, USER, SimulationView
from llmarena_envs.simulation.game import Simulation
from llmarena_envs.simulation.protocol import PAIRWISE, SIDES
from llmarena_envs.simulation.transcript import Transcriber


class SimulationDrawing(Drawing[SimulationView]):
    """Draws the dialogue; only spectators see engine answers and judgements.

    Args:
        language: language of the match.
        game: the game with the seats to draw.
    """

    def __init__(self, language: str, game: Simulation) -> None:
        self._language = language
        self._agents = game.agents
        self._prompts = Prompts("llmarena_envs.simulation", language)

    def seat(self, view: SimulationView) -> str:
        """Draws the dialogue, and the viewer's own answer or the responses to judge."""
        moving = (view.agent,) if view.to_move else ()
        return self._draw(view.stage, view.turn, view.turns, moving, self._scenes(view))

    def spectator(self, game: Simulation) -> str:
        """Draws the dialogue with engine answers, all answers, and each judgement."""
        scenes = Transcriber(game, self._prompts).scenes()
        return self._draw(game.stage, game.turn, game.turns, game.to_move, scenes)

    def _scenes(self, view: SimulationView) -> Iterator[Scene]:
        render, role, turn = self._prompts.render, role_of(view.agent), 0
        if role != SIMULATOR:  # simulators see the task description only in the dialogue
            yield Scene(view.task.act)
        for message in view.messages:
            turn += message.speaker == USER
            heading = render(f"said_{'own' if message.speaker == role else message.speaker}", turn=turn)
            yield Scene(without_colon(heading), message.text or render("nothing"))
        if view.mode == PAIRWISE:
            for side, response in zip(SIDES, view.responses, strict=False):
                own = role == SIMULATOR
                heading = render("said_own", turn=turn) if own else render("response_side", side=side)
                yield Scene(without_colon(heading), response.text or render("nothing"))

    def _draw(self, stage: str, turn: int, turns: int, moving: Sequence[str], scenes: Iterable[Scene]) -> str:
        render = self._prompts.render
        headline = f"{render('drawing_turn', turn=turn, turns=turns)} · {render(f'drawing_{stage}')}"
        return draw_transcript(render("drawing_title"), self._language, self._agents, headline, moving, scenes)
