"""Constants of simulation: modes, stages and seats."""

from llmarena_envs.core.committee import VERDICTS
from llmarena_envs.core.judging import Scale

DIALOGUE, SCRIPT, PAIRWISE = "dialogue", "script", "pairwise"
MODES = (DIALOGUE, SCRIPT, PAIRWISE)

REQUEST, ANSWER, JUDGE = "request", "answer", "judge"
"""The stages of a match."""

HISTORY = "history"
"""Type of the messages before the match."""

AUTO = "auto"
"""Compare answers with the task's engine, if it has one."""
NO_PROGRAMS = "no_programs"
"""The same, except for engines that run users' programs."""

USER_SEAT = "user_0"
SIMULATORS = ("simulator_0", "simulator_1")
MAX_TURNS = 10
MAX_JUDGES = 9
MAX_HISTORY = 250_000
"""Maximum number of characters of a script."""
SCALE = Scale(1, 10)
"""Scale of ratings.

Source: SimulBench (arXiv 2409.07641, section 2.5).
"""

SIDES = VERDICTS[:2]
"""Names of the compared simulators in judgements."""

UNKNOWN = -1.0
"""Value of an unknown statistic."""
