"""Players of simulations. Each of them sits on any seat: what it does there besides its own part is plain and right.

What is right is known where an engine stands behind a task: it is rebuilt from the requests that the player sees. Elsewhere the
*stand-in*, a fixed text that names the number of the request, is taken for right by everybody here, so that a pool plays and
judges all tasks alike; only no statistic ``exact`` tells of it.
"""

from functools import partial

from agents.baselines.simulation.judges import Always, Exact
from agents.baselines.simulation.seats import SimulationPlayer
from agents.baselines.simulation.simulators import Echo, Flawed, Silent
from agents.baselines.simulation.users import User

BASELINES = {
    "user": User,
    "odd": partial(User, odd=1.0, adversarial=0.0),
    "adversarial": partial(User, odd=0.0, adversarial=1.0),
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
