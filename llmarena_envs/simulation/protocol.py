"""The modes of a match of simulation, its stages and seats, and what is the same in all matches."""

from llmarena_envs.core.committee import VERDICTS
from llmarena_envs.core.judging import Scale

DIALOGUE, SCRIPT, PAIRWISE = "dialogue", "script", "pairwise"
MODES = (DIALOGUE, SCRIPT, PAIRWISE)

REQUEST, ANSWER, JUDGE = "request", "answer", "judge"
"""The stages of a match."""

AUTO = "auto"
"""Hold answers against the task's engine, if it has one."""
NO_PROGRAMS = "no_programs"
"""The same, but for engines that run what users write."""

USER_SEAT = "user_0"
SIMULATORS = ("simulator_0", "simulator_1")
MAX_TURNS = 10
MAX_JUDGES = 9
MAX_HISTORY = 250_000
"""Greatest number of characters of a script."""
SCALE = Scale(1, 10)
"""Of ratings.

Source: SimulBench (arXiv 2409.07641, section 2.5).
"""

SIDES = VERDICTS[:2]
"""What judges call the simulators who are compared."""

UNKNOWN = -1.0
"""What a statistic is while it is not known."""
