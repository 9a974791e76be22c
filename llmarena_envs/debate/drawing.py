"""Draws debates: passages visible to the reader, and judgements."""

from collections.abc import Callable, Sequence
from functools import partial

from llmarena_envs.core.committee import Judgement, exchanged, verdict_of
from llmarena_envs.core.drawing import Drawing
from llmarena_envs.core.narration import Scene
from llmarena_envs.core.prompts import Prompts, common_prompts
from llmarena_envs.core.seat_colours import seat_colour
from llmarena_envs.core.sheet import Block, Bubble, Caption, Note, Sheet, without_colon
from llmarena_envs.core.sheet_table import Cell, Table, columns
from llmarena_envs.core.svg import DIM, INK
from llmarena_envs.debate.actions import DebateView, Passage
from llmarena_envs.debate.game import DEBATE, DEBATERS, Debate
from llmarena_envs.debate.narration import Narrator
from llmarena_envs.debate.protocol import SIDES

_LINES = 6
_LINES_TOLD = 12
"""Maximum numbers of lines of a passage and of the environment's text about judges."""

_INDENT = 72
_OF_JUDGES = {"A": INK, "B": DIM}
"""Colours of the sides for readers who must not know the identities."""


class DebateDrawing(Drawing[DebateView]):
    """Draws the passages of sides A and B, left and right; identities are hidden from judges and examiner.

    Args:
        language: language of the match.
        game: the debate with the seats to draw.
    """

    def __init__(self, language: str, game: Debate) -> None:
        self._language = language
        self._agents = game.agents
        self._render = Prompts("llmarena_envs.debate", language).render
        self._hidden = common_prompts(language)["drawing_hidden_from"]

    # A player's picture.

    def seat(self, view: DebateView) -> str:
        """Draws the question and the passages visible to the viewer."""
        sheet = self._sheet(view.stage, view.round, (view.agent,) if view.to_move else ())
        if view.question:
            sheet.add(Bubble("", view.question, heading=self._render("drawing_question"), lines=_LINES))
        history: list[Callable[[], Block]] = [partial(self._passage, view, passage) for passage in view.passages]
        if view.reference:
            heading = self._render("drawing_reference")
            history.append(partial(Bubble, "", view.reference, heading=heading, lines=_LINES))
        history += [partial(self._judgement, number, given) for number, (_, given) in enumerate(view.judgements)]
        sheet.history(history)
        return str(sheet)

    def _judgement(self, number: int, given: object) -> Bubble:
        heading = self._render("other_judgement" if number else "own_judgement", number=number)
        said = given.text if isinstance(given, Judgement) else self._render("no_judgement")
        return Bubble("", said, heading=without_colon(heading), lines=4)

    def _passage(self, view: DebateView, passage: Passage) -> Bubble:
        name = ("own" if passage.side == view.side else "opponent") if view.side else "judged"
        heading = self._render(f"{name}_{passage.action}", round=passage.round, side=passage.side)
        return Bubble(
            passage.side,
            passage.text or self._render("nothing"),
            self._colour_of_side(view, passage.side),
            heading=without_colon(heading),
            lines=_LINES,
            indent=_INDENT * SIDES.index(passage.side),
        )

    def _colour_of_side(self, view: DebateView, side: str) -> str:
        if not view.side:
            return _OF_JUDGES[side]
        own = DEBATERS.index(view.agent)
        return seat_colour(self._agents, DEBATERS[own if side == view.side else 1 - own])

    # A spectator's picture.

    def spectator(self, game: Debate) -> str:
        """Draws all passages with the roles they are hidden from, and the verdicts of each judge."""
        sheet = self._sheet(game.stage, game.turn.round, game.to_move)
        sheet.add(Note(", ".join([f"{side}: {debater}" for side, debater in zip(SIDES, game.sides, strict=True)])))
        if game.committee.sessions:
            sheet.add(self._verdicts(game))
        scenes = list(Narrator(game, self._language).scenes())
        sheet.add(*[self._scene(game, scene, _LINES) for scene in scenes[:1]])
        sheet.history(
            [partial(self._scene, game, scene, _LINES if scene.speaker else _LINES_TOLD) for scene in scenes[1:]]
        )
        return str(sheet)

    def _scene(self, game: Debate, scene: Scene, lines: int) -> Block:
        if not scene.text and not scene.speaker:
            return Caption(" · ".join([scene.heading, *scene.marks]), 14)
        hidden = [self._hidden.render(agents=", ".join(scene.hidden_from))] if scene.hidden_from else []
        side = game.sides.index(scene.speaker) if scene.speaker in game.sides else 0
        return Bubble(
            scene.speaker,
            scene.text,
            seat_colour(self._agents, scene.speaker) if scene.speaker else DIM,
            heading=" · ".join([scene.heading, *scene.marks, *hidden]),
            lines=lines,
            indent=_INDENT * side,
        )

    def _verdicts(self, game: Debate) -> Table:
        """Returns a row for each judge, with its verdicts on the true sides."""
        committee = game.committee
        rows = []
        for number, judge in enumerate(game.judges):
            cells = [
                self._verdict(game, exchanged(verdict) if session // committee.times else verdict)
                for session, given in enumerate(committee.sessions)
                for verdict in [verdict_of(given[number])]
            ]
            rows.append([Cell(judge, seat=seat_colour(self._agents, judge)), *cells])
        header = ["", *[self._session(number, committee.times) for number in range(len(committee.sessions))]]
        return Table(header, rows, columns(game.judges, len(committee.sessions)))

    def _session(self, number: int, times: int) -> str:
        order, round_ = divmod(number, times)
        name = self._render("drawing_discussed", round=round_) if round_ else self._render("drawing_alone")
        return self._render("drawing_exchanged", session=name) if order else name

    def _verdict(self, game: Debate, verdict: str) -> Cell:
        text = self._render(f"drawing_verdict_{verdict or 'none'}")
        return Cell(text, seat=seat_colour(self._agents, game.sides[SIDES.index(verdict)]) if verdict in SIDES else "")

    def _sheet(self, stage: str, round_: int, moving: Sequence[str]) -> Sheet:
        sheet = Sheet(self._render("drawing_title"), self._language)
        fields: dict[str, int] = {"round": round_} if stage == DEBATE else {}
        sheet.head(self._render(f"drawing_{stage}", **fields), moving)
        return sheet
