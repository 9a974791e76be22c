"""Draws simulation: a window of the simulated system with requests and answers, and judgements."""

from collections.abc import Sequence

from llmarena_envs.core.committee import Abstention, exchanged
from llmarena_envs.core.declaration import role_of
from llmarena_envs.core.drawing import Drawing
from llmarena_envs.core.prompts import Prompts
from llmarena_envs.core.seat_colours import seat_colour
from llmarena_envs.core.sheet import Note, Sheet, without_colon
from llmarena_envs.core.sheet_table import Cell, Table
from llmarena_envs.core.svg import INK
from llmarena_envs.simulation.actions import SIMULATOR, USER, Given, Rating, SimulationView, Utterance
from llmarena_envs.simulation.game import Simulation
from llmarena_envs.simulation.protocol import PAIRWISE, SIDES
from llmarena_envs.simulation.truth import is_exact, is_format_flawed
from llmarena_envs.simulation.window import ANSWERED, ASKED, TRUE, Entry, Window


class SimulationDrawing(Drawing[SimulationView]):
    """Draws the dialogue in a window; only spectators see engine answers and judgements.

    Args:
        language: language of the match.
        game: the game with the seats to draw.
    """

    def __init__(self, language: str, game: Simulation) -> None:
        self._language = language
        self._agents = game.agents
        self._render = Prompts("llmarena_envs.simulation", language).render

    def seat(self, view: SimulationView) -> str:
        """Draws the dialogue, and the viewer's own answer or the responses to judge."""
        role = role_of(view.agent)
        entries, turn = [], 0
        for message in view.messages:
            turn += message.speaker == USER
            who = "own" if message.speaker == role else message.speaker
            entries.append(self._entry(f"said_{who}", turn, message))
        if view.mode == PAIRWISE:
            for side, response in zip(SIDES, view.responses, strict=False):
                own = role == SIMULATOR
                label = self._render("said_own", turn=turn) if own else self._render("response_side", side=side)
                entries.append(self._answer(label, response))
        # Simulators see the task description only in the dialogue.
        title = "" if role == SIMULATOR else view.task.act
        sheet = self._sheet(view.stage, view.turn, view.turns, (view.agent,) if view.to_move else ())
        sheet.add(Window(title, entries, self._language))
        return str(sheet)

    def spectator(self, game: Simulation) -> str:
        """Draws the dialogue with engine answers, all answers, and each judgement."""
        render, entries, turn = self._render, [], 0
        for message in game.messages:
            turn += message.speaker == USER
            marks = self._marks(game, message, turn) if message.speaker == SIMULATOR else ()
            entry = self._entry(f"said_{message.speaker}", turn, message)
            entries.append(entry._replace(label=" · ".join([entry.label, *marks])))
            if message.speaker == USER and turn <= len(game.truths):
                truth = game.truths[turn - 1]
                entries.append(Entry(without_colon(render("picture_truth")), truth or render("nothing"), TRUE))
        for side, agent, answer in zip(SIDES, game.simulators, game.answers, strict=False):
            label = " · ".join(
                [without_colon(render("response_side", side=side)), agent, *self._marks(game, answer, turn)]
            )
            entries.append(self._answer(label, answer))
        sheet = self._sheet(game.stage, game.turn, game.turns, game.to_move)
        sheet.add(Window(game.task.act, entries, self._language))
        if game.sessions:
            sheet.add(self._given(game))
        if game.sessions and not game.to_move:
            sheet.add(Note(self._result(game), colour=INK))
        return str(sheet)

    def _sheet(self, stage: str, turn: int, turns: int, moving: Sequence[str]) -> Sheet:
        sheet = Sheet(self._render("drawing_title"), self._language)
        told = self._render("drawing_turn", turn=turn, turns=turns)
        sheet.head(f"{told} · {self._render(f'drawing_{stage}')}", moving)
        return sheet

    def _entry(self, name: str, turn: int, message: Utterance) -> Entry:
        label = self._render(name, turn=turn)
        if message.speaker == SIMULATOR:
            return self._answer(label, message)
        return Entry(without_colon(label), message.text or self._render("nothing"), ASKED)

    def _answer(self, label: str, answer: Utterance) -> Entry:
        return Entry(without_colon(label), answer.text or self._render("nothing"), ANSWERED)

    def _marks(self, game: Simulation, answer: Utterance, turn: int) -> Sequence[str]:
        """Returns marks that compare an answer with the engine's, if there is one."""
        if turn > len(game.truths):
            return ()
        truth = game.truths[turn - 1]
        flawed = "flawed" if is_format_flawed(answer.text, truth) else "wrong"
        return (self._render(f"story_{'exact' if is_exact(answer.text, truth) else flawed}"),)

    def _given(self, game: Simulation) -> Table:
        """Returns a row for each judge: its judgements on the true sides, and its last text."""
        rows = []
        for judge, by_session in zip(game.judges, zip(*game.sessions, strict=True), strict=True):
            cells = [Cell(self._score(given, order), bold=True) for order, given in enumerate(by_session)]
            last = by_session[-1]
            words = "" if isinstance(last, Abstention) else last.text
            rows.append([Cell(judge, seat=seat_colour(self._agents, judge)), *cells, Cell(words, lines=2)])
        header = ["", "", self._render("picture_order").strip(), ""] if len(game.sessions) > 1 else []
        return Table(header, rows, [90, *[110] * len(game.sessions), 638 - 110 * len(game.sessions)])

    def _score(self, given: Given, order: int) -> str:
        if isinstance(given, Abstention):
            return "-"
        if isinstance(given, Rating):
            return f"{given.score:g}"
        return self._render(f"verdict_{exchanged(given.verdict) if order else given.verdict}")

    def _result(self, game: Simulation) -> str:
        render = self._render
        if game.undecided:
            return render("story_undecided")
        if game.mode != PAIRWISE:
            return f"{render('story_result')}: {max(game.rewards):.3g}"
        winner = game.committee.winner
        if winner not in SIDES:
            return render("story_no_winner")
        return render("story_winner", agent=game.simulators[SIDES.index(winner)])
