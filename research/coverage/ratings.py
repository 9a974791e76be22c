"""Rows of ratings and ranks: plain play, ties, deals, unbeaten policies, tables of many seats, adaptive play."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from rating.schemes.stopping import StopRule
from rating.stats.bradley_terry import (
    ELO_PER_NAT,
    BradleyTerryOptions,
    Comparisons,
    Floats,
    Integers,
    compare,
    fit_totals,
    standings,
)
from rating.store.records import FINISHED, Outcome, SeatOutcome
from research.coverage.trials import AT_LEAST, Setting, Trial, trial
from research.pools import POOLS, play_adaptively, win

SIMULTANEOUS = (0.945, 1.0)
"""Goal of claims that are wrong in at most one data set of twenty, but for rounding."""

ENDLESS = 1e7
"""Number of games that stands for endless play."""

SKILLS = {"8 equals": (8, 0.0), "14 equals": (14, 0.0), "14 of sd 30": (14, 30.0)} | {
    f"{size} of sd 200": (size, 200.0) for size in (8, 14)
}
"""Size and standard deviation in Elo of pools that are drawn anew for every data set."""

BATCH = 14
"""Pairs that a run with ``ahead = 2`` chooses before the results of as many others."""


def rows() -> tuple[Setting, ...]:
    """Returns every row."""
    return (
        *(
            Setting(f"plain, {size} policies, {games} games", partial(duels, size=size, games=games))
            for size, games in ((2, 50), (3, 60), (5, 100), (8, 200), (14, 200), (14, 416))
        ),
        *(
            Setting(f"ties {share:.0%}, pool {name}", partial(tied, strengths=POOLS[name], share=share))
            for name in ("A", "B")
            for share in (0.1, 0.3, 0.5)
        ),
        *(
            Setting(f"seat {seat} Elo", partial(duels, size=8, games=400, seat=float(seat)))
            for seat in (0, 100, 200, 400)
        ),
        *(Setting(f"deals alike {alike:+.1f}", partial(paired, alike=alike)) for alike in (-0.8, -0.4, 0.0, 0.4, 0.8)),
        Setting("one unbeaten at +2000: the others", partial(unbeaten, is_unbeaten=False)),
        Setting("one unbeaten at +2000: itself", partial(unbeaten, is_unbeaten=True), AT_LEAST),
        *(
            Setting(f"five close and one at +900, {games} games", partial(outlier, games=games))
            for games in (300, 1000)
        ),
        Setting("rare names, pool of 6: the others", partial(rare, names=18)),
        Setting("no rare names, pool of 6", partial(rare, names=0)),
        Setting("sd 400, 14 policies, 400 games", partial(duels, size=14, games=400, sd=400.0)),
        Setting("sd 400, 14 policies, 1000 games", partial(duels, size=14, games=1000, sd=400.0)),
        Setting("sd 400, 8 policies, 100 games", partial(duels, size=8, games=100, sd=400.0)),
        Setting("unbeaten or winless of 10, 30 games", few_games, AT_LEAST),
        Setting("equal policies, 14, 400 games", partial(duels, size=14, games=400, sd=0.0)),
        *(
            Setting(f"{size} equals: none told apart, one look", partial(told_apart, size=size), SIMULTANEOUS)
            for size in (2, 4, 8, 14)
        ),
        *(
            Setting(
                f"{size} equals: none told apart at any look, 25 to 200 matches of each",
                partial(told_apart, size=size, growth=8.0),
                SIMULTANEOUS,
                share=0.5,
            )
            for size in (2, 8)
        ),
        Setting("2 equals: none told apart after a run of the default rule", default_run, SIMULTANEOUS),
        *(
            Setting(f"{deals} deals, {size} policies", partial(few_deals, deals=deals, size=size))
            for deals, size in ((12, 5), (4, 6), (6, 8), (12, 15), (25, 30))
        ),
        *(
            Setting(f"unbeaten, each result copied {copies} times", partial(copied, copies=copies), (0.95, 1.0))
            for copies in (1, 5, 10)
        ),
        Setting("5 seats, all pairs", partial(tables, seats=5, games=100)),
        Setting("8 seats, all pairs", partial(tables, seats=8, games=80)),
        Setting("fractional scores", fractional),
        Setting("weights", weighed),
        Setting("non-transitive pool", cyclic),
        *(
            Setting(f"adaptive play of {games} games, {name}", partial(adaptive, skills=name, games=games), share=0.5)
            for name in SKILLS
            for games in (200, 400, 1000)
        ),
        *(
            Setting(
                f"adaptive play of {games} games, pool {name}", partial(adaptive, skills=name, games=games), share=0.5
            )
            for name in ("A", "B", "D")
            for games in (400, 1000)
        ),
        *(
            Setting(
                f"adaptive play in batches, 400 games, {name}",
                partial(adaptive, skills=name, games=400, under_way=BATCH),
                share=0.5,
            )
            for name in ("8 equals", "14 equals", "A")
        ),
    )


def duels(rng: np.random.Generator, *, size: int, games: int, seat: float = 0.0, sd: float = 200.0) -> Iterator[Trial]:
    """Plain duels of policies drawn from a normal distribution."""
    strengths = rng.normal(0, 1, size) * sd
    first, second = pairs(rng, size, games)
    chance = win(strengths[first] - strengths[second] + seat)
    return rated(results(size, first, second, rng.random(games) < chance), strengths)


def tied(rng: np.random.Generator, *, strengths: Floats, share: float) -> Iterator[Trial]:
    """Matches with a fixed share of ties, independent of the strengths."""
    size, games = len(strengths), 570
    first, second = pairs(rng, size, games)
    score = np.where(rng.random(games) < share, 0.5, rng.random(games) < win(strengths[first] - strengths[second]))
    every = np.array(list(np.ndindex(size, size))).T
    expected = (share / 2 + (1 - share) * win(strengths[every[0]] - strengths[every[1]])).reshape(size, size)
    return rated(results(size, first, second, score), endless(expected))


def paired(rng: np.random.Generator, *, alike: float) -> Iterator[Trial]:
    """Two duels a deal with seats swapped, which end alike (or the other way round) more often than by chance."""
    size, deals = 8, 250
    strengths = rng.normal(0, 200, size)
    first, second = pairs(rng, size, deals)
    luck, other = rng.random(deals), rng.random(deals)
    copied = rng.random(deals) < abs(alike)
    again = np.where(copied, luck if alike > 0 else 1 - luck, other)
    chance = win(strengths[first] - strengths[second])
    return rated(
        results(
            size,
            np.concatenate((first, second)),
            np.concatenate((second, first)),
            np.concatenate((luck < chance, again >= chance)),
            cluster=np.tile(np.arange(deals), 2),
        ),
        strengths,
    )


def unbeaten(rng: np.random.Generator, *, is_unbeaten: bool) -> Iterator[Trial]:
    """Policies of pool A and one far above them, which loses a game in a hundred thousand."""
    strengths = np.append(POOLS["A"], 2000.0)
    first, second = pairs(rng, len(strengths), 1500)
    score = rng.random(1500) < win(strengths[first] - strengths[second])
    chosen = np.arange(len(strengths)) == 14
    return rated(results(15, first, second, score), strengths, chosen if is_unbeaten else ~chosen)


def outlier(rng: np.random.Generator, *, games: int) -> Iterator[Trial]:
    """Five policies close together and one far above that sometimes loses: not a normal distribution."""
    strengths = POOLS["outlier"]
    first, second = pairs(rng, len(strengths), games)
    return rated(results(6, first, second, rng.random(games) < win(strengths[first] - strengths[second])), strengths)


def rare(rng: np.random.Generator, *, names: int) -> Iterator[Trial]:
    """Six policies, 200 matches of each pair, beside names with two matches."""
    strengths = rng.normal(0, 200, 6 + names)
    first, second = (np.repeat(part, 200) for part in np.triu_indices(6, 1))
    visitor = np.repeat(np.arange(6, 6 + names), 2)
    first, second = np.append(first, visitor), np.append(second, rng.integers(6, size=2 * names))
    order = rng.random(len(first)) < 0.5
    first, second = np.where(order, first, second), np.where(order, second, first)
    score = rng.random(len(first)) < win(strengths[first] - strengths[second])
    return rated(results(6 + names, first, second, score), strengths, np.arange(6 + names) < 6)


def tables(rng: np.random.Generator, *, seats: int, games: int) -> Iterator[Trial]:
    """Games of many seats, ranked by strength plus noise: pairs of one game share the noise, each alone is Bradley-Terry."""
    size = 10
    strengths = rng.normal(0, 150, size)
    seated = np.argsort(rng.random((games, size)), axis=1)[:, :seats]
    performance = strengths[seated] / ELO_PER_NAT + rng.gumbel(size=(games, seats))
    one, other = np.triu_indices(seats, 1)
    score = performance[:, one] > performance[:, other]
    cluster = np.repeat(np.arange(games), len(one))
    data = results(size, seated[:, one].ravel(), seated[:, other].ravel(), score.ravel(), cluster=cluster)
    return rated(replace(data, seated=False), strengths)


def fractional(rng: np.random.Generator) -> Iterator[Trial]:
    """Scores between 0 and 1, as shares of points."""
    strengths = rng.normal(0, 200, 8)
    first, second = pairs(rng, 8, 300)
    chance = win(strengths[first] - strengths[second])
    return rated(results(8, first, second, rng.beta(3 * chance, 3 * (1 - chance))), strengths)


def weighed(rng: np.random.Generator) -> Iterator[Trial]:
    """Results that count once to four times."""
    strengths = rng.normal(0, 200, 8)
    first, second = pairs(rng, 8, 400)
    score = rng.random(400) < win(strengths[first] - strengths[second])
    return rated(replace(results(8, first, second, score), weight=rng.uniform(1, 4, 400)), strengths)


def cyclic(rng: np.random.Generator) -> Iterator[Trial]:
    """Pairs whose win probabilities deviate by 80 Elo (sd) from the strengths."""
    size, games = 8, 400
    strengths, bent = rng.normal(0, 200, size), np.triu(rng.normal(0, 80, (size, size)), 1)
    expected = win(strengths[:, None] - strengths + bent - bent.T)
    first, second = pairs(rng, size, games)
    return rated(results(size, first, second, rng.random(games) < expected[first, second]), endless(expected))


def few_games(rng: np.random.Generator) -> Iterator[Trial]:
    """Intervals with one end, of policies that have won or lost all of their few games."""
    strengths = rng.normal(0, 200, 10)
    first, second = pairs(rng, 10, 30)
    data = results(10, first, second, rng.random(30) < win(strengths[first] - strengths[second]))
    one_sided = {
        int(row.policy) for row in standings(data).rows if (row.rating.low is None) != (row.rating.high is None)
    }
    return rated(data, strengths, np.isin(np.arange(10), list(one_sided)))


def told_apart(rng: np.random.Generator, *, size: int, growth: float = 1.0) -> Iterator[Trial]:
    """Ranks of equals, at one look or at ten while the results grow: one established above another is a mistake."""
    least, most = 25 * size, int(25 * size * growth)
    first, second = pairs(rng, size, most)
    data = results(size, first, second, rng.random(most) < 0.5)
    looks = np.unique(np.geomspace(least, most, 1 if growth == 1 else 10).astype(int))
    shown = (standings(data.select(np.arange(games)), growth=growth).rows for games in looks)
    yield Trial(not any(row.best_rank > 1 for rows in shown for row in rows))


def default_run(rng: np.random.Generator) -> Iterator[Trial]:
    """Two equals play batches of four deals until the default rule fires, and one batch more, which is in flight then."""
    rule = StopRule()
    state, outcomes, is_over = rule.begin(("00", "01")), list[Outcome](), False
    while True:
        batch = []
        for number in range(len(outcomes), len(outcomes) + 8):
            names = ("00", "01") if number % 2 else ("01", "00")
            reward = float(rng.choice((-1, 1)))
            state.schedule(names)
            seats = (SeatOutcome(names[0], reward), SeatOutcome(names[1], -reward))
            batch.append(Outcome("pool", number, number // 2, FINISHED, seats))
        outcomes += batch
        if is_over:
            break
        state.add(batch)
        is_over = bool(state.reason())
    shown = standings(compare(outcomes), growth=rule.growth)
    yield Trial(shown.rows[0].worst_rank > 1)


def copied(rng: np.random.Generator, *, copies: int) -> Iterator[Trial]:
    """The lower bound of a policy that won all of 15 deals, each result recorded several times."""
    while True:
        strengths = np.append(rng.normal(0, 150, 5), rng.normal(0, 400))
        rival = rng.integers(5, size=15)
        if np.all(rng.random(15) < win(strengths[5] - strengths[rival])):
            break
    first, second = pairs(rng, 5, 200)
    score = np.append((rng.random(200) < win(strengths[first] - strengths[second])).astype(float), np.ones(15 * copies))
    first, second = np.append(first, np.full(15 * copies, 5)), np.append(second, np.repeat(rival, copies))
    cluster = np.append(np.arange(200), 200 + np.repeat(np.arange(15), copies))
    return rated(results(6, first, second, score, cluster=cluster), strengths, np.arange(6) == 5)


def few_deals(rng: np.random.Generator, *, deals: int, size: int) -> Iterator[Trial]:
    """Every pair plays every deal from both seats, and a deal suits each policy more or less (by an sd of 100 Elo)."""
    strengths, suits = rng.normal(0, 200, size), rng.normal(0, 100, (deals, size))
    every = np.array([pair for pair in np.ndindex(size, size) if pair[0] != pair[1]])
    deal, (first, second) = np.repeat(np.arange(deals), len(every)), np.tile(every, (deals, 1)).T
    chance = win(strengths[first] - strengths[second] + suits[deal, first] - suits[deal, second])
    score = rng.random(len(chance)) < chance
    node, share = np.polynomial.hermite_e.hermegauss(20)
    expected = win(strengths[:, None, None] - strengths[:, None] + node * np.sqrt(2) * 100) @ share / share.sum()
    return rated(results(size, first, second, score, cluster=deal), endless(expected))


def adaptive(rng: np.random.Generator, *, skills: str, games: int, under_way: int = 0) -> Iterator[Trial]:
    """Pairs chosen by results. Equals are the hardest case: a policy with early luck looks settled and keeps its luck."""
    size, sd = SKILLS.get(skills, (0, 0.0))
    strengths = rng.normal(0, sd, size) if size else POOLS[skills]
    first, second, score = play_adaptively(rng, strengths, games, under_way=under_way)
    return rated(results(len(strengths), first, second, score, cluster=np.arange(games) // 2), strengths)


def rated(
    played: Comparisons, strengths: NDArray[np.float64], chosen: NDArray[np.bool_] | None = None
) -> Iterator[Trial]:
    """Compares printed intervals of ratings with the strengths, whose mean over the anchors is taken away.

    Args:
        played: results of policies whose names are their indices.
        strengths: in Elo, shape (n,).
        chosen: policies whose intervals are tried, shape (n,); all by default.
    """
    shown = standings(played)
    mean = strengths[[int(row.policy) for row in shown.rows if row.is_anchor]].mean()
    for row in shown.rows:
        if chosen is None or chosen[int(row.policy)]:
            yield trial(row.rating.low, row.rating.high, 1000 + strengths[int(row.policy)] - mean)


def pairs(rng: np.random.Generator, size: int, games: int) -> tuple[Integers, Integers]:
    """Returns random pairs of different policies."""
    first = rng.integers(size, size=games)
    return first, (first + rng.integers(1, size, size=games)) % size


def endless(expected: Floats) -> Floats:
    """Returns the limit of the ratings when all pairs meet equally often, given the win probabilities of the row's policy."""
    games = np.full(expected.shape, ENDLESS)
    np.fill_diagonal(games, 0)
    names = [f"{index:02}" for index in range(len(games))]
    return fit_totals(names, expected * games, games, BradleyTerryOptions(prior_sd=None, seat_term=False)).ratings


def results(
    size: int,
    first: Integers,
    second: Integers,
    score: NDArray[np.bool_] | Floats,
    *,
    cluster: Integers | None = None,
) -> Comparisons:
    """Returns results of policies whose names sort as their numbers; each is a deal of its own by default."""
    names = tuple(f"{index:02}" for index in range(size))
    cluster = np.arange(len(first)) if cluster is None else cluster
    return Comparisons(names, first, second, np.asarray(score, dtype=float), cluster)
