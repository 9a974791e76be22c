"""TrueSkill of two players in closed form."""

import math
from collections.abc import Iterable

from rating.stats.results import Duel
from rating.stats.trueskill_rating.options import TrueSkillOptions, TrueSkillRating

_SQRT_HALF = math.sqrt(0.5)
_SQRT_2_PI = math.sqrt(2 * math.pi)
_FAR = 30.0
"""Standard deviations beyond which the normal tail is replaced by its expansion: the distribution itself underflows at 38."""


def check_draws(results: Iterable[Duel], options: TrueSkillOptions) -> None:
    """Checks that the model allows draws if there are any.

    Raises:
        ValueError: if a match was a draw and ``draw_probability`` is 0.
    """
    if options.draw_probability == 0 and any(duel.score == 0.5 for duel in results):
        raise ValueError("draw_probability: expected more than 0 for matches with draws, got 0")


def update_duel(
    winner: TrueSkillRating, loser: TrueSkillRating, drawn: bool, options: TrueSkillOptions
) -> tuple[TrueSkillRating, TrueSkillRating]:
    """Returns the new ratings of two players.

    Args:
        winner: rating of the winner, or of either player after a draw.
        loser: rating of the other player.
        drawn: whether the match was a draw; requires a positive draw probability.
        options: parameters of the model.
    """
    mus, variances = [winner.mu, loser.mu], [winner.sigma**2, loser.sigma**2]
    play(mus, variances, ((0, 1, drawn),), options)
    return TrueSkillRating(mus[0], math.sqrt(variances[0])), TrueSkillRating(mus[1], math.sqrt(variances[1]))


def play(
    mus: list[float], variances: list[float], results: Iterable[tuple[int, int, bool]], options: TrueSkillOptions
) -> None:
    """Rates matches in sequence, in place.

    Args:
        mus: mean skill of each player.
        variances: variance of the skill of each player.
        results: index of the winner, index of the loser, and whether the match was a draw.
        options: parameters of the model.
    """
    noise, drift, margin = 2 * options.beta**2, options.tau**2, options.draw_margin
    for winner, loser, drawn in results:
        own, other = variances[winner] + drift, variances[loser] + drift
        variance = noise + own + other
        scale = math.sqrt(variance)
        lead = mus[winner] - mus[loser]
        v, w = draw_corrections(lead / scale, margin / scale) if drawn else win_corrections((lead - margin) / scale)
        mus[winner] += own / scale * v
        mus[loser] -= other / scale * v
        w /= variance
        variances[winner] = own * (1 - own * w)
        variances[loser] = other * (1 - other * w)


def win_corrections(x: float) -> tuple[float, float]:
    """Returns the additive and the multiplicative correction of a normal variable cut off below ``-x``."""
    if x < -_FAR:
        # Asymptotic expansion of Mills' ratio.
        return -x - 1 / x + 2 / x**3 - 10 / x**5, 1 - 1 / x**2 + 6 / x**4
    v = math.exp(-0.5 * x * x) / _SQRT_2_PI / (0.5 * math.erfc(-x * _SQRT_HALF))
    return v, v * (v + x)


def draw_corrections(lead: float, margin: float) -> tuple[float, float]:
    """Returns the corrections of a normal variable around ``lead`` cut off beyond ``-margin`` and ``margin``."""
    near, far = margin - abs(lead), -margin - abs(lead)
    if near < -_FAR:
        v, w = win_corrections(near)
    else:
        mass = cdf(near) - cdf(far)
        v = (pdf(near) - pdf(far)) / mass
        w = v * v + (near * pdf(near) - far * pdf(far)) / mass
    return (-v if lead > 0 else v), w


def cdf(x: float) -> float:
    """Returns the normal distribution function, with full relative precision."""
    return 0.5 * math.erfc(-x * _SQRT_HALF)


def pdf(x: float) -> float:
    """Returns the normal density."""
    return math.exp(-0.5 * x * x) / _SQRT_2_PI
