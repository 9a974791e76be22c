"""Coverage of the printed 95 % intervals of means, rates, plus-minus and skills by role; rows of ``coverage``."""

import itertools
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from rating.stats.bradley_terry import ELO_PER_NAT, MEAN_RATING
from rating.stats.estimates import Estimate, bounded_mean, mean_estimate
from rating.stats.roles import RoleMatch, TeamResult, plus_minus, role_skills
from research.trials import Setting, Trial

Floats = NDArray[np.float64]

AT_LEAST = (0.93, 1.0)
"""Goal where results are so coarse that an interval must hold more than 95 %."""


def rows() -> tuple[Setting, ...]:
    """Returns every row."""
    return (
        *(Setting(f"mean, {deals} deals alike within", partial(mean, deals=deals)) for deals in (5, 18, 100)),
        *(
            Setting(f"mean, {deals} deals, skewed as in poker", partial(mean, deals=deals, draw=chips))
            for deals in (5, 18, 100)
        ),
        *(
            Setting(f"mean, {deals} deals, one in ten pays all", partial(mean, deals=deals, draw=jackpots), goal)
            for deals, goal in ((18, (0.75, 0.97)), (100, (0.88, 0.97)), (400, (0.93, 0.97)))
        ),
        *(
            Setting(
                f"mean, {deals} deals, one in a hundred 50 times as large", partial(mean, deals=deals, draw=outliers)
            )
            for deals in (18, 100, 400, 2000)
        ),
        *(
            Setting(f"mean, {deals} deals of 1 to 8 matches", partial(mean, deals=deals, most=8), (0.93, 0.99))
            for deals in (5, 18, 100)
        ),
        *(
            Setting(f"rate {chance:.0%}, {deals} deals of 4", partial(rate, deals=deals, chance=chance), AT_LEAST)
            for deals in (6, 18, 100)
            for chance in (0.5, 0.9, 0.98)
        ),
        *(
            Setting(
                f"plus-minus, {decks} decks, {kept:.0%} of the matches", partial(team, decks=decks, kept=kept), goal
            )
            for decks, kept, goal in ((5, 1.0, (0.93, 0.97)), (20, 1.0, (0.93, 0.97)), (20, 0.6, (0.93, 0.98)))
        ),
        *(
            Setting(f"skill by role, {matches} mixed tables of 5", partial(role, matches=matches))
            for matches in (100, 300, 1000)
        ),
    )


def normal(rng: np.random.Generator, size: int) -> Floats:
    """Draws normal numbers."""
    return rng.normal(size=size)


def chips(rng: np.random.Generator, size: int) -> Floats:
    """Draws what hands of poker bring: small losses two times in three, else larger gains; its mean is 0."""
    return rng.exponential(size=size) * np.where(rng.random(size) < 1 / 3, 2.0, -1.0)


def jackpots(rng: np.random.Generator, size: int) -> Floats:
    """Draws rare large gains, of which a few deals may show none: no interval made of them alone can know; its mean is 0."""
    return np.where(rng.random(size) < 0.1, 10 * rng.exponential(size=size), -1.0) - 0.1


def outliers(rng: np.random.Generator, size: int) -> Floats:
    """Draws gains, one in a hundred of them 50 times as large, less what they are in the mean."""
    return rng.exponential(size=size) * np.where(rng.random(size) < 0.01, 50.0, 1.0) - 1.49


def mean(
    rng: np.random.Generator,
    *,
    deals: int,
    draw: Callable[[np.random.Generator, int], Floats] = normal,
    most: int = 2,
) -> Iterator[Trial]:
    """A mean of 0 over matches, half of whose variance is the deal's; every deal has two, or any number up to ``most``."""
    sizes = np.full(deals, 2) if most == 2 else rng.integers(1, most + 1, size=deals)
    clusters = np.repeat(np.arange(deals), sizes)
    values = draw(rng, deals)[clusters] + draw(rng, len(clusters))
    return trial(mean_estimate(values.tolist(), clusters.tolist()), 0.0)


def rate(rng: np.random.Generator, *, deals: int, chance: float) -> Iterator[Trial]:
    """A rate whose chance differs from deal to deal: some are easy, some are hard."""
    clusters = np.repeat(np.arange(deals), 4)
    easy = rng.beta(2 * chance, 2 * (1 - chance), size=deals)
    hits = rng.random(len(clusters)) < easy[clusters]
    return trial(bounded_mean(hits.tolist(), clusters.tolist()), chance)


def team(rng: np.random.Generator, *, decks: int, kept: float) -> Iterator[Trial]:
    """Teams of two out of five; what a policy makes of a deck is common to its matches on it, and some matches are lost."""
    skill, suits = rng.normal(0, 2, 5), rng.normal(0, 2, (decks, 5))
    results = [
        TeamResult((f"{a}", f"{b}"), (skill + suits[deck])[[a, b]].sum() + 3 * deck + rng.normal(), deck)
        for deck in range(decks)
        for a, b in itertools.permutations(range(5), 2)
        if rng.random() < kept
    ]
    for name, estimate in plus_minus(results).items():
        yield from trial(estimate, skill[int(name)] - skill.mean())


def role(rng: np.random.Generator, *, matches: int) -> Iterator[Trial]:
    """Tables of one against four, out of eight policies with two skills each that are alike."""
    skill = rng.normal(size=(8, 2)) @ np.linalg.cholesky([[1, 0.5], [0.5, 1]]).T
    log = []
    for deal in range(matches):
        one, *four = rng.permutation(8)[:5].tolist()
        lead = skill[one, 0] - skill[four, 1].mean() - 0.4
        score = float(rng.random() < 1 / (1 + np.exp(-lead)))
        log.append(RoleMatch(((f"{one}", "one"),), tuple((f"{index}", "many") for index in four), score, deal))
    found = role_skills(log)
    truth = MEAN_RATING + ELO_PER_NAT * (skill - skill.mean(axis=0))
    for name, own in found.skills.items() if found else ():
        for part, title in enumerate(("one", "many")):
            if title in own:
                yield from trial(own[title], float(truth[int(name), part]))


def trial(estimate: Estimate | None, truth: float) -> Iterator[Trial]:
    """Returns the trial of an interval; nothing where none is printed."""
    if estimate is not None and estimate.low is not None and estimate.high is not None:
        half = (estimate.high - estimate.low) / 2
        yield Trial(estimate.low <= truth <= estimate.high, half, abs(estimate.value - truth))
