"""Imperfect simulators."""

import re
from collections.abc import Callable
from typing import get_args

import numpy as np

from agents.baselines.simulation.phrases import phrases_for
from agents.baselines.simulation.right_answers import has_engine, known_answer, requests_in, shipped_requests
from agents.baselines.simulation.seats import SimulationPlayer
from llmarena_envs.core.options import OptionError, check_number
from llmarena_envs.simulation.actions import SimulationView
from llmarena_envs.simulation.scripts import Difficulty
from llmarena_envs.simulation.shipped_dialogues import dialogues_beginning
from llmarena_envs.simulation.truth import is_exact

_DEFAULT_RATE = 0.1
_STALE_TRIES = 4
_DIGIT = re.compile("[0-9]")


class Flawed(SimulationPlayer):
    """Answers correctly, except for random errors of six kinds.

    An answer has at most one error, and the state stays correct: errors of different answers are independent. If an error is not
    possible (no number to change, no earlier request to forget) it becomes the next of ``stale``, ``arithmetic``, ``omission``;
    if nothing has to be answered, the answer is "(done)". The first four make the content wrong, the last two only the format.

    Args:
        stale: rate of answers that ignore an earlier request; without an engine, that repeat the previous answer.
        arithmetic: rate of answers with a wrong digit.
        omission: rate of answers with a line missing, or their second half.
        out_of_character: rate of out-of-character answers.
        format: rate of answers with each line in backquotes.
        chatter: rate of answers with text before and after them.
        hard: rate of wrong answers to challenging requests of shipped dialogues, applied before all other errors.

    By default each rate but ``hard`` is 0.1; if one is given, the others default to 0.
    """

    def __init__(
        self,
        stale: float | None = None,
        arithmetic: float | None = None,
        omission: float | None = None,
        out_of_character: float | None = None,
        format: float | None = None,
        chatter: float | None = None,
        hard: float | None = None,
    ) -> None:
        given = {
            "stale": stale,
            "arithmetic": arithmetic,
            "omission": omission,
            "out_of_character": out_of_character,
            "format": format,
            "chatter": chatter,
        }
        default = _DEFAULT_RATE if {hard, *given.values()} == {None} else 0.0
        self.hard = hard or 0.0
        check_number("hard", self.hard, 0, 1)
        self.rates = {kind: default if rate is None else rate for kind, rate in given.items()}
        for kind, rate in self.rates.items():
            check_number(kind, rate, 0, 1)
        if sum(self.rates.values()) > 1 + 1e-9:
            raise OptionError(f"{', '.join(self.rates)}: expected rates of 1 at most together, got {self.rates}")

    def answer(self, view: SimulationView) -> str:
        """Returns the correct answer, or one with a random kind of error."""
        right = self.right(view)
        drawn, phrases = self.rng.random(), phrases_for(view.task)
        kind = next((kind for kind, below in zip(self.rates, self._bounds(), strict=True) if drawn < below), "")
        if self.hard and is_hard(view) and self.rng.random() < self.hard:
            kind = "stale"
        if not kind:
            return right
        if kind == "out_of_character":
            return str(self.choose(phrases.out_of_character))
        if kind == "format":
            return in_marks(right) or phrases.something
        if kind == "chatter":
            return right.join(phrases.chatter)
        wrong: dict[str, Callable[[], str]] = {
            "stale": lambda: stale(view, right),
            "arithmetic": lambda: with_wrong_digit(right, self.rng),
            "omission": lambda: with_omission(right, self.rng),
        }
        kinds = list(wrong)[list(wrong).index(kind) :]
        answers = (wrong[each]() for each in kinds)
        return next((answer for answer in answers if not is_exact(answer, right)), phrases.something)

    def _bounds(self) -> list[float]:
        return np.cumsum(list(self.rates.values())).tolist()


class Echo(SimulationPlayer):
    """Repeats the request."""

    def answer(self, view: SimulationView) -> str:
        """Returns the user's last message."""
        return view.messages[-1].text


class Silent(SimulationPlayer):
    """Gives empty answers."""

    def answer(self, view: SimulationView) -> str:
        """Returns an empty answer."""
        return ""


def is_hard(view: SimulationView) -> bool:
    """Returns whether the last request is challenging in a shipped dialogue, regardless of earlier requests."""
    requests = requests_in(view)
    same = dialogues_beginning(requests)
    if same:
        return same[0].turns[len(requests) - 1].difficulty == "challenging"
    easy, challenging = (shipped_requests(view.task, difficulty) for difficulty in get_args(Difficulty))
    return requests[-1] in challenging and requests[-1] not in easy


def stale(view: SimulationView, right: str) -> str:
    """Returns the answer without one earlier request: the latest one that changes it.

    Without such a request it is the correct answer. Without an engine it is the previous answer.
    """
    requests = requests_in(view)
    if not has_engine(view.task):
        return view.messages[-2].text if len(requests) > 1 else right
    for skipped in range(len(requests) - 2, max(-1, len(requests) - 2 - _STALE_TRIES), -1):
        answer = known_answer(view.task, requests, skipped)
        if answer is not None and answer != right:
            return answer
    return right


def with_wrong_digit(text: str, rng: np.random.Generator) -> str:
    """Returns a text with one of its digits changed; unchanged if it has none."""
    places = [match.start() for match in _DIGIT.finditer(text)]
    if not places:
        return text
    place = places[int(rng.integers(len(places)))]
    digit = (int(text[place]) + int(rng.integers(1, 10))) % 10
    return f"{text[:place]}{digit}{text[place + 1 :]}"


def with_omission(text: str, rng: np.random.Generator) -> str:
    """Returns a text without one of its non-empty lines, or the first half of a single line."""
    lines = text.split("\n")
    places = [place for place, line in enumerate(lines) if line.strip()]
    if len(places) < 2:
        return text[: len(text) // 2]
    del lines[places[int(rng.integers(len(places)))]]
    return "\n".join(lines)


def in_marks(text: str) -> str:
    """Returns a text with each of its lines in backquotes."""
    return "\n".join(f"`{line}`" if line.strip() else line for line in text.split("\n"))
