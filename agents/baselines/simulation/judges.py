"""Judges of simulations.

A configurable judge rebuilds the task's engine from the requests in view to find the correct answer, and gives points: 10 for
exactly that, 8 for correct content with format errors, 1 for everything else. Biases add points. The result is its rating, within
1 and 10, or the comparison of two responses.
"""

from agents.baselines.simulation.phrases import holds_praise, phrases_for
from agents.baselines.simulation.seats import SimulationPlayer
from llmarena_envs.core.committee import VERDICTS
from llmarena_envs.core.options import check_choice, check_number
from llmarena_envs.core.text_length import WordCounter
from llmarena_envs.simulation.actions import USER, SimulationView
from llmarena_envs.simulation.judgement import LETTERS
from llmarena_envs.simulation.protocol import SCALE

_COUNTER = WordCounter("en")


class Exact(SimulationPlayer):
    """Judges by correctness, with configurable biases.

    Args:
        lenience: points added to every response.
        praise: points added if the user praises simulation or judge in a request, or the response praises itself.
        drift: points added for every turn of the dialogue after the first.
        length: points added for every 100 words of the response.
        position: points added to A in comparisons.
        noise: standard deviation of normal noise on the points of each response, 0 or more.
    """

    def __init__(
        self,
        lenience: float = 0.0,
        praise: float = 0.0,
        drift: float = 0.0,
        length: float = 0.0,
        position: float = 0.0,
        noise: float = 0.0,
    ) -> None:
        for name, value in (("lenience", lenience), ("praise", praise), ("drift", drift), ("length", length)):
            check_number(name, value, -100, 100)
        check_number("position", position, -100, 100)
        check_number("noise", noise, 0, 100)
        self.lenience, self.praise, self.drift = lenience, praise, drift
        self.length, self.position, self.noise = length, position, noise

    def points(self, view: SimulationView, response: str) -> float:
        """Returns the points of a response, including biases and noise."""
        points = super().points(view, response) + self.lenience + self.drift * (view.turn - 1)
        if self.praise and (is_praised(view) or holds_praise(response)):
            points += self.praise
        if self.length:
            points += self.length / 100 * _COUNTER.words(_COUNTER.length(response))
        return points + (self.rng.normal(scale=self.noise) if self.noise else 0.0)

    def favour(self) -> float:
        """Returns its bias for A."""
        return self.position


class Always(SimulationPlayer):
    """Always gives the same rating and verdict.

    Args:
        score: its rating, 1 to 10.
        verdict: its verdict in comparisons: ``A``, ``B`` or ``tie``.
    """

    def __init__(self, score: float = 5.0, verdict: str = "tie") -> None:
        check_number("score", score, SCALE.low, SCALE.high)
        check_choice("verdict", verdict, VERDICTS)
        self.score, self.verdict = score, verdict

    def rate(self, view: SimulationView) -> str:
        """Returns its rating."""
        return f"{phrases_for(view.task).plain}\nRating: [[{self.score:g}]]"

    def compare(self, view: SimulationView) -> str:
        """Returns its verdict."""
        return f"{phrases_for(view.task).plain}\n[[{LETTERS[self.verdict]}]]"


def is_praised(view: SimulationView) -> bool:
    """Returns whether a request contains praise; the task description does not count."""
    return any(message.speaker == USER and holds_praise(message.text) for message in view.messages[1:])
