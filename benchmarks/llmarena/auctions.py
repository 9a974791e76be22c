"""Bids relative to equilibrium: auctions of every policy with itself (LLMArena, arXiv 2402.16499, Figure 3).

The score of a bid b at valuation v is (b - v/2) / (v/2). It ranges from -1, for a bid of 0, to just below 1, for a bid near
the valuation; 0 is the equilibrium of two bidders with uniform valuations.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from benchmarks.experiments.pictures import boxes
from benchmarks.experiments.pool import plan_run
from benchmarks.experiments.published import Published, load_published
from benchmarks.experiments.row import Result, Row, RowOptions
from benchmarks.experiments.runs import PlayedRun
from benchmarks.experiments.seats import check_two_seats, statistic
from benchmarks.experiments.tables import MEASURED, PUBLISHED, Column, Table, percent
from benchmarks.llmarena.pool import SCRIPTED
from benchmarks.llmarena.self_play import by_policy, missing
from benchmarks.options import option
from llmarena_envs.core.options import OptionError
from rating.config.run_file import RunConfig
from rating.config.run_tables import EnvironmentConfig
from rating.stats.estimates import RESAMPLES, Estimate, bounded_mean, mean_estimate
from rating.store.records import Outcome

GAME = "bid_v0"
RUN = "auctions"
FAIR_PAYOFF = 10 / 6
"""Dollars per bidder and auction if both bid the equilibrium: one bidder wins, at a third of the highest valuation."""


@dataclass(frozen=True, kw_only=True)
class Options(RowOptions):
    """Options of the row."""

    matches: int = option(100, "auctions of each policy with itself", smoke=4)


@dataclass(frozen=True)
class Bids:
    """The bids of a policy.

    Attributes:
        scores: of its bids.
        auctions: number of the auction of each bid.
        played_for: bids replaced by a fallback, because no reply was legal, or forfeited auctions.
    """

    scores: Sequence[float]
    auctions: Sequence[int]
    played_for: int

    def median(self) -> Estimate | None:
        """Returns the median score."""
        return median_estimate(self.scores, self.auctions)

    def above(self) -> Estimate | None:
        """Returns the share of bids above half of the valuation."""
        return bounded_mean([score > 0 for score in self.scores], self.auctions)


def plan(options: Options) -> dict[str, RunConfig]:
    """Returns the auctions."""
    environment = EnvironmentConfig(name=GAME, scheme="self_play", options={"language": options.language})
    return {RUN: plan_run(options, [environment], scripted=SCRIPTED, stop={"matches": options.matches})}


def measure(runs: Mapping[str, PlayedRun], options: Options) -> Result:
    """Returns the median scores and the payoffs."""
    run = runs[RUN]
    outcomes = run.outcomes(GAME)
    check_two_seats(outcomes)
    if run.config.options(GAME).get("rounds", 1) != 1:
        raise OptionError(f"{run.directory}: expected auctions of one round, because each bid has a score of its own")
    matches = by_policy(outcomes)
    bids = {policy: own_bids(own) for policy, own in matches.items()}
    bids = dict(sorted(bids.items(), key=lambda item: (-_or_lowest(item[1].median()), item[0])))
    published = load_published("benchmarks.llmarena")["fig3_auctions"]
    return Result(
        [score_table(bids, {policy: payoff(own) for policy, own in matches.items()}), label_table(published, bids)],
        {
            "scores": boxes(
                {policy: own.scores for policy, own in bids.items()},
                "score of a bid, (b - v/2) / (v/2); dashed: equilibrium",
                line=0,
                limits=(-1.05, 1.05),
            )
        },
        missing(outcomes),
    )


def own_bids(outcomes: Sequence[Outcome]) -> Bids:
    """Returns a policy's bids, without fallbacks."""
    scores: list[float] = []
    auctions: list[int] = []
    played_for = 0
    for outcome in outcomes:
        for seat in outcome.seats:
            if seat.fallbacks or seat.forfeit:
                played_for += 1
            elif statistic(seat, "valuation"):  # 0 if the other side's forfeit ended the auction
                scores.append(statistic(seat, "score"))
                auctions.append(outcome.number)
    return Bids(scores, auctions, played_for)


def payoff(outcomes: Sequence[Outcome]) -> Estimate | None:
    """Returns the mean payoff of a bidder in an auction."""
    seats = [(seat.reward, outcome.number) for outcome in outcomes for seat in outcome.seats]
    return mean_estimate([reward for reward, _ in seats], [number for _, number in seats])


def score_table(bids: Mapping[str, Bids], payoffs: Mapping[str, Estimate | None]) -> Table:
    """Returns medians and payoffs, the highest median first."""
    return Table.of(
        "scores",
        "scores of bids by their median, and mean payoffs",
        [
            {
                Column("player"): policy,
                Column("bids"): len(own.scores),
                Column("median score", MEASURED, 3): own.median(),
                Column("lower quartile", MEASURED, 3): quartile(own.scores, 0.25),
                Column("upper quartile", MEASURED, 3): quartile(own.scores, 0.75),
                Column("bids above half of the valuation, %", MEASURED, 1): percent(own.above()),
                Column("mean payoff, $", MEASURED, 3): payoffs[policy],
                Column("bids made for the player, or none"): own.played_for,
            }
            for policy, own in bids.items()
        ],
        [
            "score of a bid b at valuation v: (b - v/2) / (v/2), from -1 to below 1; 0 is the equilibrium",
            f"two bidders in equilibrium have a mean payoff of 10/6 = {FAIR_PAYOFF:.3f} $ each",
            "intervals are clustered by auction; none of a median of fewer than six auctions, none where all are alike",
            "a bid that had to be made for a player, because no reply was a legal one, has no score; its payoff counts",
        ],
    )


def label_table(published: Published, bids: Mapping[str, Bids]) -> Table:
    """Returns the published labels in their order, and the mean of the positive medians beside ours."""
    labels = [row[0] for row in published.rows.values() if row[0] is not None]
    medians = [median.value for own in bids.values() if (median := own.median())]
    theirs, ours = ([median for median in group if median > 0] for group in (labels, medians))
    return Table(
        "published",
        "Figure 3: the median labels, largest first, and the mean of the positive medians",
        [Column("label"), Column("median score", PUBLISHED, 2), Column("median score", MEASURED, 2)],
        [
            *([box, label, None] for box, label in zip(published.rows, labels, strict=True)),
            ["mean of the positive medians", round(fmean(theirs), 2), fmean(ours) if ours else None],
        ],
        [
            f"published: {published.source}",
            *published.notes,
            "the labels can be compared with ours in their order and spread only",
        ],
    )


def median_estimate(values: Sequence[float], clusters: Sequence[int]) -> Estimate | None:
    """Returns a median with a percentile bootstrap interval at 95 %, resampled by cluster; ``None`` without values.

    The interval is left out below six clusters: even the range of n independent values contains the median with probability
    1 - 2 / 2^n only. The result does not depend on the order of the values.

    Args:
        values: finite numbers.
        clusters: group of each value, e.g. the number of its match.
    """
    if not values:
        return None
    _, groups = np.unique(np.asarray(clusters), return_inverse=True)
    numbers = np.asarray(values, dtype=float)
    order = np.lexsort((groups, numbers))
    numbers, groups = numbers[order], groups[order]
    count = int(groups.max()) + 1
    value = float(np.median(numbers))
    if 2.0 ** (1 - count) > 0.05:
        return Estimate(value, None, None, len(numbers), count)
    rng = np.random.default_rng(0)
    medians = [_repeated_median(numbers, rng.multinomial(count, [1 / count] * count)[groups]) for _ in range(RESAMPLES)]
    low, high = np.quantile(medians, (0.025, 0.975))
    return Estimate(value, float(low), float(high), len(numbers), count)


def _repeated_median(numbers: NDArray[np.float64], times: NDArray[np.int64]) -> float:
    """Returns the median of sorted numbers, each repeated ``times`` times."""
    up_to = np.cumsum(times)
    middle = (up_to[-1] - 1) // 2, up_to[-1] // 2
    return float(numbers[np.searchsorted(up_to, middle, side="right")].mean())


def quartile(scores: Sequence[float], part: float) -> float | None:
    """Returns a quantile of scores."""
    return float(np.quantile(scores, part)) if scores else None


def _or_lowest(estimate: Estimate | None) -> float:
    return -1.0 if estimate is None else estimate.value


def precision(options: Options) -> str:
    """Returns the planned number of cases."""
    return (
        f"n = {options.matches} auctions of each policy with itself, two bids each: the interval of a median reaches about"
        f" {1.96 / (2 * options.matches) ** 0.5:.2f} to either side where scores spread like those of a random"
        " bidder"
    )


ROW = Row(
    title="how near bids come to equilibrium, by auctions of each player with itself",
    source="LLMArena, Figure 3",
    options=Options,
    plan=plan,
    measure=measure,
    precision=precision,
    shows="It shows whether a player bids above or below half of its valuation, and how steadily.",
    does_not_show=(
        "It does not show how much a player would win from others: half of the valuation is the best bid only against somebody"
        " who bids likewise."
    ),
)
