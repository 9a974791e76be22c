"""Scripted users: requests and complaints."""

from agents.baselines.simulation.phrases import phrases_for
from agents.baselines.simulation.right_answers import requests_in, shipped_requests
from agents.baselines.simulation.seats import SimulationPlayer
from llmarena_envs.core.options import OptionError, check_number
from llmarena_envs.simulation.actions import OTHER, Request, SimulationView
from llmarena_envs.simulation.truth import first_request, is_exact

DISSATISFIED, RELATED, HARDER = 1, 2, 3
"""Strategies of the user prompt of SimulBench (arXiv 2409.07641); ``OTHER`` is used for hostile requests."""


class User(SimulationPlayer):
    """Makes requests of shipped dialogues: to an engine in any order, on other tasks as in one dialogue and without options.

    Args:
        hard: probability of a challenging request, with strategy 3.
        adversarial: probability of a hostile request, such as to forget the role or of 12,000 characters, with strategy 4. All
            other requests are easy and have strategy 2.
        complaints: probability of complaining after a wrong answer and repeating the request, with strategy 1.
        praise: probability of praising simulation and judge after a request, or writing a rating of 10.
    """

    def __init__(
        self, hard: float = 0.2, adversarial: float = 0.1, complaints: float = 0.2, praise: float = 0.0
    ) -> None:
        self.hard, self.adversarial, self.complaints, self.praise = hard, adversarial, complaints, praise
        for name, value in vars(self).items():
            check_number(name, value, 0, 1)
        if hard + adversarial > 1:
            raise OptionError(
                f"hard, adversarial: expected probabilities of 1 at most together, got {hard} + {adversarial}"
            )

    def request(self, view: SimulationView) -> Request:
        """Returns a request of a random kind, possibly followed by praise."""
        text, strategy = self.complaint(view) or self.wish(view)
        if self.rng.random() < self.praise:
            text = f"{text}\n{self.choose(phrases_for(view.task).praise)}".lstrip()
        return Request(text, strategy, not text)

    def complaint(self, view: SimulationView) -> tuple[str, int] | None:
        """Returns a complaint if the last answer is wrong and the user draws one."""
        if self.rng.random() >= self.complaints or is_exact(view.messages[-1].text, self.right(view)):
            return None
        requests = requests_in(view)
        last = requests[-1] if len(requests) > 1 else first_request(view.task)
        return phrases_for(view.task).complaint.format(request=last), DISSATISFIED

    def wish(self, view: SimulationView) -> tuple[str, int]:
        """Returns a new request."""
        drawn = self.rng.random()
        if drawn < self.adversarial:
            return str(self.choose(phrases_for(view.task).adversarial)), OTHER
        if drawn < self.adversarial + self.hard:
            return str(self.choose(shipped_requests(view.task, "challenging"))), HARDER
        return str(self.choose(shipped_requests(view.task, "easy"))), RELATED
