"""The scripted pool of Auto-Arena: debaters of known strength, also used as judges."""

from collections.abc import Sequence

import numpy as np
from gymnasium.error import DependencyNotInstalled

from benchmarks.experiments.pool import Scripted
from benchmarks.experiments.row import RowOptions
from llmarena_envs.core.options import OptionError
from llmarena_envs.core.text_length import text_counter

DEBATE = "debate_v0"
NAMES = (
    "ash", "beech", "cedar", "dogwood", "elm", "fir", "ginkgo", "hazel", "ivy", "juniper", "kapok", "larch", "maple",
    "neem", "oak", "pine", "quince", "rowan",
)  # fmt: skip
"""The strongest first, in alphabetical order; as many as models on the paper's longest leaderboard."""

SPREAD = 2.2
"""Logits between the strongest and the weakest, as for the paper's 17 models: 380 points of Elo."""

LEAST_NOISE, MORE_NOISE = 3.0, 5.0
"""Error of the strongest judge, and the additional error of the weakest: in points, 4 per logit."""

CONFORMITY = 0.5
"""Probability that a judge in the minority follows the others in the discussion."""

PRIOR_NOISE = 0.35
"""Standard deviation of initial scores in logits; gives them the correlation with strengths that MMLU has with human ranks."""


def strengths(players: int) -> dict[str, float]:
    """Returns the true strengths of a pool in logits, 0 to 2.2 at equal distances, by name."""
    return {NAMES[index]: round(SPREAD * (1 - index / max(1, players - 1)), 4) for index in range(players)}


def scripted(players: int) -> Scripted:
    """Returns a pool of scripted debaters."""
    return {
        DEBATE: tuple(
            f"{name}=debater:strength={strength},noise={noise(strength)},conformity={CONFORMITY}"
            for name, strength in strengths(players).items()
        )
    }


def noise(strength: float) -> float:
    """Returns the error of a debater as a judge, in points: smaller for a stronger one."""
    return round(LEAST_NOISE + MORE_NOISE * (1 - strength / SPREAD), 4)


def initial_scores(players: int, seed: int) -> dict[str, float]:
    """Returns initial scores of a pool: its strengths with noise."""
    noise = np.random.default_rng(seed).normal(0.0, PRIOR_NOISE, len(NAMES)).tolist()
    return {
        name: round(strength + error, 4)
        for (name, strength), error in zip(strengths(players).items(), noise, strict=False)
    }


def late(players: int, newcomers: int) -> Sequence[str]:
    """Returns the newcomers of a pool: players at equal distances from the strongest to the weakest."""
    return [NAMES[(2 * index + 1) * players // (2 * newcomers)] for index in range(newcomers)]


def length_options(options: RowOptions) -> dict[str, str]:
    """Returns the environment option for the length measure: tokens, as in the paper, if models debate and tiktoken works.

    Otherwise words are counted. The record and the page of a run name the measure.
    """
    if not options.models():
        return {}
    try:
        text_counter("tiktoken", options.language)
    except (DependencyNotInstalled, OptionError):
        return {}
    return {"counter": "tiktoken"}
