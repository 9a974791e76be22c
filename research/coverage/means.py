"""Rows of means, rates, plus-minus, skills by role and mean scores of duels (`score, %`)."""

import itertools
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from rating.stats.bradley_terry import (
    ELO_PER_NAT,
    MEAN_RATING,
    BradleyTerryOptions,
    Comparisons,
    Floats,
    Integers,
    fit,
)
from rating.stats.estimates import Estimate, bounded_mean, mean_estimate
from rating.stats.expected_scores import met_scores
from rating.stats.roles import RoleMatch, TeamResult, plus_minus, role_skills
from research.coverage.trials import AT_LEAST, Setting, Trial, two_sided
from research.pools import play_adaptively, win

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(20)


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
        *(
            Setting(f"score, 8 policies, sd {sd}, {deals} deals a pair", partial(scores, sd=sd, deals=deals))
            for sd in (0, 100, 300, 800)
            for deals in (10, 3)
        ),
        *(
            Setting(f"score, {size} policies, sd {sd}, 4 deals a pair", partial(scores, size=size, sd=sd, deals=4))
            for size, sd in ((14, 300), (4, 300), (4, 800))
        ),
        *(
            Setting(f"score, 8 policies, sd {sd}, {ties:.0%} ties", partial(scores, sd=sd, deals=10, ties=ties))
            for sd in (0, 300)
            for ties in (0.5, 0.9)
        ),
        Setting(
            "score, 6 policies, sd 200, 6 deals common to all, which suit by 150 Elo",
            partial(scores, size=6, sd=200, suit=150),
        ),
        *(
            Setting(f"score, adaptive play, 8 policies, sd {sd}, 300 games", partial(adaptive_scores, sd=sd), share=0.5)
            for sd in (0, 300)
        ),
    )


def normal(rng: np.random.Generator, size: int) -> Floats:
    """Draws normal numbers."""
    return rng.normal(size=size)


def chips(rng: np.random.Generator, size: int) -> Floats:
    """Draws what hands of poker bring: small losses two times in three, else larger gains; its mean is 0."""
    return rng.exponential(size=size) * np.where(rng.random(size) < 1 / 3, 2.0, -1.0)


def jackpots(rng: np.random.Generator, size: int) -> Floats:
    """Draws rare large gains with mean 0; a few deals can show none of them, and an interval from those misses the mean."""
    return np.where(rng.random(size) < 0.1, 10 * rng.exponential(size=size), -1.0) - 0.1


def outliers(rng: np.random.Generator, size: int) -> Floats:
    """Draws gains, one in a hundred of them 50 times as large, less their mean."""
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
    """Teams of two out of five; the deck has an effect on each policy in all matches, and some matches are lost."""
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


def scores(
    rng: np.random.Generator, *, sd: float, size: int = 8, deals: int = 6, ties: float = 0.0, suit: float = 0.0
) -> Iterator[Trial]:
    """A round robin from both seats, on deals of each pair, or, if deals suit a policy more or less, on the same for all."""
    strengths, (one, other) = rng.normal(0, 1, size) * sd, np.triu_indices(size, 1)
    suits = rng.normal(0, 1, (deals, size)) * suit
    first, second = np.repeat(one, deals), np.repeat(other, deals)
    deal = np.tile(np.arange(deals), len(one))
    chance = np.tile(win(strengths[first] - strengths[second] + suits[deal, first] - suits[deal, second]), 2)
    score = np.where(rng.random(len(chance)) < ties, 0.5, rng.random(len(chance)) < chance)
    score[len(first) :] = 1 - score[len(first) :]  # the first seat is the other one's
    cluster = np.tile(deal if suit else np.arange(len(first)), 2)
    apart = strengths[:, None, None] - strengths[:, None] + _NODES * np.sqrt(2) * suit
    expected = (1 - ties) * win(apart) @ _WEIGHTS / _WEIGHTS.sum() + ties / 2
    np.fill_diagonal(expected, 0)
    truth = expected.sum(axis=1) / (size - 1)
    return _scored(np.append(first, second), np.append(second, first), score, cluster, truth)


def adaptive_scores(rng: np.random.Generator, *, sd: float, size: int = 8, games: int = 300) -> Iterator[Trial]:
    """Pairs chosen by the results so far; the truth is the mean expected score against the opponents of a policy."""
    strengths = rng.normal(0, 1, size) * sd
    first, second, score = play_adaptively(rng, strengths, games, can_tie=False)
    chance = win(strengths[:, None] - strengths)
    policy = np.append(first, second)
    sums = np.bincount(policy, np.append(chance[first, second], chance[second, first]), size)
    return _scored(first, second, score, np.arange(games) // 2, sums / np.bincount(policy, minlength=size))


def _scored(first: Integers, second: Integers, score: Floats, cluster: Integers, truth: Floats) -> Iterator[Trial]:
    """Compares the printed intervals of mean scores with the true ones, shape (n,)."""
    data = Comparisons(tuple(f"{index:02}" for index in range(len(truth))), first, second, score, cluster)
    for name, estimate in met_scores(data, fit(data, BradleyTerryOptions(prior_sd="fitted"))).items():
        yield from trial(estimate, float(truth[int(name)]))


def trial(estimate: Estimate | None, truth: float) -> Iterator[Trial]:
    """Yields the trial of an interval; nothing where none is printed."""
    if estimate is not None:
        yield from two_sided(estimate.low, estimate.high, truth)
