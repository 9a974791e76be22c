"""The transcript of a match of simulation: requests, answers, engine answers, and judgements."""

from collections.abc import Iterator

from llmarena_envs.core.committee import Abstention, exchanged
from llmarena_envs.core.prompts import Prompts
from llmarena_envs.core.transcript import Scene
from llmarena_envs.simulation.actions import USER, Given, Rating, Utterance
from llmarena_envs.simulation.game import Simulation
from llmarena_envs.simulation.protocol import DIALOGUE, PAIRWISE, SIDES, USER_SEAT
from llmarena_envs.simulation.truth import is_exact, is_format_flawed


class Transcriber:
    """Transcribes a match.

    Args:
        game: the match.
        prompts: the game's texts, in the language of the transcript.
    """

    def __init__(self, game: Simulation, prompts: Prompts) -> None:
        self._game = game
        self._render = prompts.render

    def scenes(self) -> Iterator[Scene]:
        """Yields all events in order."""
        game, turn = self._game, 0
        for message in game.messages:
            if message.speaker == USER:
                turn += 1
                yield self._request(message, turn)
                yield from self._truth(turn)
            else:
                yield self._answer(message, turn)
        for side, agent, answer in zip(SIDES, game.simulators, game.answers, strict=False):
            heading = self._render("story_side", side=side)
            yield Scene(heading, answer.text, agent, self._others(agent), self._marks(answer, turn))
        yield from self._judging()

    def _request(self, message: Utterance, turn: int) -> Scene:
        task, render = self._game.task, self._render
        if turn == 1:
            return Scene(render("story_task", act=task.act, type=task.type), message.text)
        flaws = {"unformatted": message.unformatted, "empty": not message.text, "cut": message.truncated}
        marks = [render(f"story_strategy_{message.strategy}")] if message.strategy else []
        marks += [render(f"story_{name}") for name, holds in flaws.items() if holds]
        speaker = USER_SEAT if self._game.mode == DIALOGUE else ""
        return Scene(render("story_request", turn=turn), message.text, speaker, marks=tuple(marks))

    def _truth(self, turn: int) -> Iterator[Scene]:
        """Yields the engine's answer, which is hidden from all agents."""
        if turn <= len(self._game.truths):
            truth = self._game.truths[turn - 1]
            marks = () if truth else (self._render("story_empty"),)
            yield Scene(self._render("story_truth", turn=turn), truth, "", self._game.agents, marks)

    def _answer(self, message: Utterance, turn: int) -> Scene:
        game = self._game
        own = game.mode == DIALOGUE or message is game.messages[-1]
        heading = self._render("story_answer", turn=turn)
        return Scene(heading, message.text, game.simulators[0] if own else "", marks=self._marks(message, turn))

    def _marks(self, answer: Utterance, turn: int) -> tuple[str, ...]:
        marks = [name for name, holds in {"empty": not answer.text, "cut": answer.truncated}.items() if holds]
        if turn <= len(self._game.truths):
            truth = self._game.truths[turn - 1]
            flawed = "flawed" if is_format_flawed(answer.text, truth) else "wrong"
            marks.append("exact" if is_exact(answer.text, truth) else flawed)
        return tuple(self._render(f"story_{mark}") for mark in marks)

    def _others(self, agent: str) -> tuple[str, ...]:
        return tuple(other for other in self._game.simulators if other != agent)

    def _judging(self) -> Iterator[Scene]:
        game = self._game
        for order, session in enumerate(game.sessions):
            yield Scene(self._render("story_exchanged" if order else "story_judging"))
            for judge, given in zip(game.judges, session, strict=True):
                yield self._judgement(judge, given, order)
        if game.sessions and not game.to_move:
            yield self._result()

    def _judgement(self, judge: str, given: Given, order: int) -> Scene:
        render = self._render
        if isinstance(given, Abstention):
            return Scene(render("story_abstention"), speaker=judge)
        if isinstance(given, Rating):
            return Scene(render("story_rating", score=f"{given.score:g}"), given.text, judge)
        verdict = exchanged(given.verdict) if order else given.verdict
        heading = render("story_verdict", verdict=render(f"verdict_{verdict}"))
        return Scene(heading, given.text, judge)

    def _result(self) -> Scene:
        game, render = self._game, self._render
        if game.undecided:
            return Scene(render("story_undecided"))
        if game.mode != PAIRWISE:
            return Scene(render("story_result"), f"{max(game.rewards):.3g}")
        winner = game.committee.winner
        if winner not in SIDES:
            return Scene(render("story_no_winner"))
        return Scene(render("story_winner", agent=game.simulators[SIDES.index(winner)]))
