"""Policies for simulations. Each can take any seat; outside its main role it is plain and correct.

Correct answers come from the task's engine, rebuilt from the requests in view, or on a task without an engine from the shipped
dialogue with the same requests. If neither exists, policies that need a correct answer raise an error.
"""

from collections.abc import Callable
from functools import partial

from agents.baselines.simulation.judges import Always, Exact
from agents.baselines.simulation.seats import SimulationPlayer
from agents.baselines.simulation.simulators import Echo, Flawed, Silent
from agents.baselines.simulation.users import User

BASELINES: dict[str, Callable[..., SimulationPlayer]] = {
    "user": User,
    "demanding": partial(User, hard=1.0, adversarial=0.0),
    "adversarial": partial(User, hard=0.0, adversarial=1.0),
    "praising": partial(User, praise=1.0),
    "perfect": SimulationPlayer,
    "flawed": Flawed,
    "echo": Echo,
    "silent": Silent,
    "exact": Exact,
    "always": Always,
    "lenient": partial(Exact, lenience=2.0),
    "praised": partial(Exact, praise=4.0),
    "noisy": partial(Exact, noise=2.0),
}

INFORMED = BASELINES.keys() - {"echo", "silent", "always"}
"""Policies that need correct answers."""
