"""Shared code of scripted simulation policies: a correct policy for every seat."""

from agents.baselines.simulation.phrases import phrases_for
from agents.baselines.simulation.right_answers import ADVICE, has_engine, requests_in, right_answer, shipped_requests
from agents.policy import ScriptedPolicy
from llmarena_envs.core.declaration import role_of
from llmarena_envs.core.options import OptionError
from llmarena_envs.simulation.actions import SIMULATOR, USER, Request, SimulationView
from llmarena_envs.simulation.protocol import PAIRWISE, SCALE
from llmarena_envs.simulation.shipped_dialogues import dialogues_beginning
from llmarena_envs.simulation.speech import write_request
from llmarena_envs.simulation.truth import is_exact, is_format_flawed

RIGHT, FLAWED, WRONG = 10.0, 8.0, 1.0
"""Points of a response: exactly correct, correct within other text, anything else."""

TIE = 0.5
"""Minimum lead in points of a preferred response."""


class SimulationPlayer(ScriptedPolicy):
    """A correct policy for any seat: makes feasible requests, answers exactly, and judges by correctness."""

    def __call__(self, view: SimulationView) -> str:
        """Returns a reply in the game's grammar."""
        role = role_of(view.agent)
        if role == USER:
            return write_request(self.request(view) if has_engine(view.task) else self.shipped_request(view))
        if role == SIMULATOR:
            return self.answer(view)
        if view.mode == PAIRWISE:
            return self.compare(view)
        return self.rate(view)

    def request(self, view: SimulationView) -> Request:
        """Returns a user's request to an engine."""
        return Request(str(self.choose(shipped_requests(view.task, "easy"))), 2)

    def shipped_request(self, view: SimulationView) -> Request:
        """Returns the next request of a shipped dialogue.

        Raises:
            OptionError: if no shipped dialogue begins with the requests.
        """
        asked = requests_in(view)
        following = [each for each in dialogues_beginning(asked) if len(each.turns) >= view.turns]
        if not following:
            raise OptionError(
                f"{view.task.act}: expected a shipped dialogue of {view.turns} turns or more that begins with the requests so"
                f" far, got none; {ADVICE}"
            )
        turn = following[int(self.rng.integers(len(following)))].turns[len(asked)]
        return Request(turn.request, turn.strategy)

    def right(self, view: SimulationView) -> str:
        """Returns the correct answer to the last request."""
        return right_answer(view.task, requests_in(view))

    def answer(self, view: SimulationView) -> str:
        """Returns a simulator's answer."""
        return self.right(view)

    def rate(self, view: SimulationView) -> str:
        """Returns a judge's rating of the last response."""
        points = self.points(view, view.responses[0].text)
        return f"{self.reasons(view, points)}\nRating: [[{min(SCALE.high, max(SCALE.low, points)):.4g}]]"

    def compare(self, view: SimulationView) -> str:
        """Returns a judge's verdict on two responses."""
        one, two = (self.points(view, response.text) for response in view.responses)
        lead = one - two + self.favour()
        verdict = "C" if abs(lead) < TIE else "A" if lead > 0 else "B"
        return f"{self.reasons(view, one, two)}\n[[{verdict}]]"

    def favour(self) -> float:
        """Returns the bias for A in points."""
        return 0.0

    def points(self, view: SimulationView, response: str) -> float:
        """Returns a judge's points of a response."""
        right = self.right(view)
        if is_exact(response, right):
            return RIGHT
        return FLAWED if is_format_flawed(response, right) else WRONG

    def reasons(self, view: SimulationView, *points: float) -> str:
        """Returns a judge's reasons."""
        return phrases_for(view.task).counted.format(points=", ".join(f"{each:.4g}" for each in points))
