"""The scripted pool of Auto-Arena: debaters of known strength, who are judges as well."""

from benchmarks.experiments.pool import Scripted

DEBATE = "debate_v0"
NAMES = (
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu", "xi",
    "omicron", "pi", "rho", "sigma",
)  # fmt: skip
"""The strongest first; as many as the longest leaderboard of the paper has models."""

SPREAD = 2.2
"""Logits between the strongest and the weakest, as the paper's 17 models have: 380 points of Elo."""


def strengths(players: int) -> dict[str, float]:
    """Returns the true strengths of a pool in logits, evenly spaced about 0, by name."""
    return {NAMES[index]: SPREAD * (0.5 - index / max(1, players - 1)) for index in range(players)}


def scripted(players: int) -> Scripted:
    """Returns a pool of scripted debaters."""
    return {DEBATE: tuple(f"{name}=debater:strength={strength:.4f}" for name, strength in strengths(players).items())}
