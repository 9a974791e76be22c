"""The transcript of a debate: question, turns, judgements before and after discussion, winner."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from llmarena_envs.core.committee import NONE, Given, Judgement, exchanged, verdict_of
from llmarena_envs.core.prompts import Prompts
from llmarena_envs.core.transcript import Scene
from llmarena_envs.debate.actions import Passage
from llmarena_envs.debate.delivery import Delivery
from llmarena_envs.debate.game import EXAMINER, Debate
from llmarena_envs.debate.protocol import SIDES, Turn


class Transcriber:
    """Transcribes a debate.

    Args:
        game: the debate.
        language: language of the transcript.
    """

    def __init__(self, game: Debate, language: str) -> None:
        self._game = game
        self._render = Prompts("llmarena_envs.debate.transcript", language).render
        self._domains = Prompts("llmarena_envs.debate.questions", language)

    def scenes(self) -> Iterator[Scene]:
        """Yields all events in order."""
        game, told = self._game, 0
        if not game.question.text:
            return
        examiner = "" if game.questions else EXAMINER
        domain = self._domains.render(f"domain_{game.question.domain}") if game.question.domain else "-"
        yield Scene(self._render("question", domain=domain), game.question.text, examiner)
        for turn, delivery in zip(game.turns, game.deliveries, strict=False):
            if turn.round != told:
                told = turn.round
                yield Scene(self._render("round", round=told))
            yield from self._delivery(turn, delivery)
        if game.reference:
            yield Scene(self._render("reference"), game.reference, game.reference_writer)
        for order in range(game.committee.orders):
            yield from self._judging(order)
        if game.committee.sessions and game.committee.is_done:
            yield self._decision()

    def _delivery(self, turn: Turn, delivery: Delivery) -> Iterator[Scene]:
        """Yields the parts of a turn; the first part carries marks of the whole turn."""
        marks = [self._render("fresh")] if turn.fresh else []
        if delivery.forbidden:
            marks.append(self._render("forbidden", count=delivery.forbidden))
        for passage in delivery.passages:
            yield self._passage(passage, marks)
            marks = []

    def _passage(self, passage: Passage, marks: Sequence[str]) -> Scene:
        game = self._game
        flaws = {"truncated": passage.truncated, "missing": not passage.text}
        speaker, opponent = game.sides if passage.side == SIDES[0] else game.sides[::-1]
        readers = {"opponent": (opponent,), "judge": game.judges}
        return Scene(
            self._render(f"{passage.action}", side=passage.side),
            passage.text,
            speaker,
            tuple(agent for reader in passage.hidden_from for agent in readers[reader]),
            (*marks, *(self._render(name) for name, holds in flaws.items() if holds)),
        )

    def _judging(self, order: int) -> Iterator[Scene]:
        """Yields the judgements in one order of the sides, session by session, with the result of each session."""
        game, times = self._game, self._game.committee.times
        stands = dict.fromkeys(game.judges, NONE)
        for number, session in enumerate(game.committee.sessions[order * times : (order + 1) * times]):
            name = "discussion" if number else "exchanged" if order else "judging"
            yield Scene(self._render(name, round=number))
            for judge, given in zip(game.judges, session, strict=True):
                verdict = exchanged(verdict_of(given)) if order else verdict_of(given)
                yield self._judgement(judge, given, verdict, stands[judge])
                stands[judge] = verdict or stands[judge]
            yield Scene(self._render("tally"), self._tally(stands.values()))

    def _judgement(self, judge: str, given: Given, verdict: str, before: str) -> Scene:
        if not isinstance(given, Judgement):
            kept = (self._render("stands", verdict=self._name(before)),) if before else ()
            return Scene(self._render("abstention"), speaker=judge, marks=kept)
        marks: tuple[str, ...] = ()
        if before not in (NONE, verdict):
            marks = (self._render("changed", before=self._name(before), after=self._name(verdict)),)
        heading = self._render("verdict", verdict=self._name(verdict))
        return Scene(heading, given.text, judge, marks=marks)

    def _decision(self) -> Scene:
        """Returns the winner, and the results of each judge and the committee before and after discussion."""
        committee, render = self._game.committee, self._render
        before, after = committee.verdicts_before(), committee.verdicts()
        outcome = render("after", counts=self._tally(after), winner=self._name(committee.winner))
        if committee.times == 1:
            return Scene(self._winner(), outcome)
        lines = [
            render("judge", judge=judge, before=self._name(first), after=self._name(last))
            for judge, first, last in zip(self._game.judges, before, after, strict=True)
        ]
        lines.append(render("before", counts=self._tally(before), winner=self._name(committee.winner_before)))
        changed = sum(first not in (NONE, last) for first, last in zip(before, after, strict=True))
        marks = [render("judges_changed", count=changed, of=len(after))] if changed else []
        if committee.winner != committee.winner_before:
            marks.append(render("decision_changed"))
        return Scene(self._winner(), "\n".join([*lines, outcome]), marks=tuple(marks))

    def _winner(self) -> str:
        winner, game = self._game.committee.winner, self._game
        if winner not in SIDES:
            return self._render("no_winner" if winner else "undecided")
        return self._render("winner", side=winner, debater=game.sides[SIDES.index(winner)])

    def _tally(self, verdicts: Iterable[str]) -> str:
        counts = Counter(verdicts)
        return self._render("counts", a=counts["A"], b=counts["B"], tie=counts["tie"], none=counts[NONE])

    def _name(self, verdict: str) -> str:
        return self._render(f"verdict_{verdict or 'none'}")
