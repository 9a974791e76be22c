"""Pay-offs at public goods, four players at one table (DeepEval, arXiv 2309.04369, Figure 4).

The paper plays each of its two modes ten times with four models at one table, and draws a box for each model; it prints no
numbers. Here every player has every seat equally often, which takes a multiple of four matches. With more than four players
every combination of four plays.

A match ended by an illegal reply has no comparable pay-offs: it is counted and left out.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median, stdev

import numpy as np

from benchmarks.deepeval.pool import SCRIPTED
from benchmarks.experiments.comparisons import PlayerComparison, comparison_table
from benchmarks.experiments.pictures import boxes
from benchmarks.experiments.pool import plan_run
from benchmarks.experiments.published import Published, load_published
from benchmarks.experiments.row import Result, Row, RowOptions
from benchmarks.experiments.runs import PlayedRun
from benchmarks.experiments.seats import statistic, unfinished
from benchmarks.experiments.tables import MEASURED, PUBLISHED, Column, Table
from benchmarks.options import option
from llmarena_envs.core.options import OptionError
from llmarena_envs.public_goods.game import PublicGoods
from rating.config.run_file import RunConfig
from rating.config.run_tables import EnvironmentConfig
from rating.errors import RunError
from rating.schemes.rewards import MeanReward
from rating.stats.estimates import mean_estimate
from rating.stats.results import finished
from rating.store.records import Outcome, SeatOutcome

GAME = "public_goods_v0"
RUN = "tables"
PUBLISHED_CASE = "fig6_investments"

ENDOWMENT = 10
"""Default coins of a player per round."""


@dataclass(frozen=True, kw_only=True)
class Options(RowOptions):
    """Options of the row."""

    matches: int = option(
        10,
        "matches of each policy, four at a table, or a few more, so that each sits on every seat equally often",
        smoke=4,
    )
    rounds: int = option(5, "rounds of a match")
    alpha: float = option(1.2, "what the pool is multiplied by; the paper does not say")


def plan(options: Options, mode: int) -> dict[str, RunConfig]:
    """Returns matches of four policies at a table."""
    settings = {"mode": mode, "rounds": options.rounds, "alpha": options.alpha, "language": options.language}
    environment = EnvironmentConfig(name=GAME, scheme="mean_reward", options=settings)
    return {RUN: plan_run(options, [environment], scripted=SCRIPTED, stop={"matches": options.matches})}


def measure(runs: Mapping[str, PlayedRun], options: Options, mode: int) -> Result:
    """Returns the pay-offs of every policy, and how they differ.

    Raises:
        OptionError: if the run has another mode, or does not include all combinations of players.
        RunError: if no match has pay-offs.
    """
    run = runs[RUN]
    scheme = run.run.scheme(GAME)
    if not isinstance(scheme, MeanReward):
        raise OptionError(f"{run.directory}: {GAME}: expected scheme = 'mean_reward', got {scheme.name!r}")
    played_mode = run.config.options(GAME).get("mode", 1)
    if played_mode != mode:
        raise OptionError(f"{run.directory}: {GAME}: expected a run with mode = {mode}, got {played_mode!r}")
    outcomes = run.outcomes(GAME)
    whole = [outcome for outcome in finished(outcomes) if not any(seat.forfeit for seat in outcome.seats)]
    if not whole:
        raise RunError(f"{run.directory}: expected matches of {GAME} with pay-offs, but there is none yet")
    forfeits = {
        policy: sum(
            bool(seat.forfeit) for outcome in finished(outcomes) for seat in outcome.seats if seat.policy == policy
        )
        for policy in scheme.setting.pool.policies
    }
    seats = by_policy(whole)
    equilibrium = scheme.setting.environment.references.get("equilibrium")
    title = f"public goods, mode {mode}"
    tables = [
        pay_off_table(title, seats, forfeits, equilibrium),
        comparison_table(
            comparisons(whole, list(seats)), "pay-off of a match, coins", "match", notes=["the paper tests none"]
        ),
    ]
    if mode == 2:
        tables.append(replay_table(load_published("benchmarks.deepeval")[PUBLISHED_CASE]))
    label = "coins at the end of a match"
    figure = boxes(
        {policy: [seat.reward for seat in own] for policy, own in seats.items()},
        label if equilibrium is None else f"{label}; dashed: {equilibrium:g}, if nobody invests",
        line=equilibrium,
        decimals=1,
    )
    return Result(tables, {"pay-offs": figure}, [*unfinished(outcomes), *forfeited(outcomes, whole)])


def by_policy(outcomes: Sequence[Outcome]) -> dict[str, list[SeatOutcome]]:
    """Returns the seats of every policy, the policy with the highest mean pay-off first."""
    seats: dict[str, list[SeatOutcome]] = {}
    for outcome in outcomes:
        for seat in outcome.seats:
            seats.setdefault(seat.policy, []).append(seat)
    return dict(sorted(seats.items(), key=lambda item: (-fmean(seat.reward for seat in item[1]), item[0])))


def forfeited(outcomes: Sequence[Outcome], whole: Sequence[Outcome]) -> list[str]:
    """Returns a note that counts the matches ended by an illegal reply; empty for none."""
    ended = len(finished(outcomes)) - len(whole)
    return [f"{ended} of {len(outcomes)} matches were ended by a forfeit and are left out"] if ended else []


def pay_off_table(
    title: str, seats: Mapping[str, Sequence[SeatOutcome]], forfeits: Mapping[str, int], equilibrium: float | None
) -> Table:
    """Returns the pay-offs of every policy, the highest mean first."""
    return Table.of(
        "pay-offs",
        f"{title}: coins at the end of a match",
        [
            {
                Column("player"): policy,
                Column("mean", MEASURED): mean_estimate([seat.reward for seat in own], scale=(0, math.inf)),
                Column("sd", MEASURED): stdev(seat.reward for seat in own) if len(own) > 1 else None,
                Column("lowest", MEASURED, 1): min(seat.reward for seat in own),
                Column("median", MEASURED, 1): median(seat.reward for seat in own),
                Column("highest", MEASURED, 1): max(seat.reward for seat in own),
                Column("investment in a round", MEASURED): mean_estimate(
                    [statistic(seat, "investment") for seat in own], scale=(0, ENDOWMENT)
                ),
                Column("investments made for the player", MEASURED): sum(seat.fallbacks for seat in own),
                Column("forfeits", MEASURED): forfeits.get(policy, 0),
            }
            for policy, own in seats.items()
        ],
        [
            *([f"equilibrium: {equilibrium:g} coins each, if nobody ever invests"] if equilibrium is not None else []),
            "intervals are Student's by match, since nothing is dealt in this game; none if all matches were the same",
            "an investment is made for a player that gives no readable or no legal amount: a random one",
            "Figure 4 prints no numbers to stand beside",
        ],
    )


def comparisons(outcomes: Sequence[Outcome], policies: Sequence[str]) -> list[PlayerComparison]:
    """Returns the pay-offs of every two policies in their common matches, in the order of ``policies``."""
    rank = {policy: place for place, policy in enumerate(policies)}
    pairs: dict[tuple[str, str], list[tuple[float, float]]] = {pair: [] for pair in itertools.combinations(policies, 2)}
    for outcome in outcomes:
        for one, other in itertools.combinations(sorted(outcome.seats, key=lambda seat: rank[seat.policy]), 2):
            pairs[one.policy, other.policy].append((one.reward, other.reward))
    return [PlayerComparison(*pair, values, range(len(values))) for pair, values in pairs.items()]


def replay_table(published: Published) -> Table:
    """Returns the published five rounds with the pay-offs computed by the rules of the game."""
    invested = [[int(amount) for amount in row if amount is not None] for row in published.rows.values()]
    game = PublicGoods(n_players=len(invested), rounds=len(published.columns), mode=2)
    game.reset(np.random.default_rng(0))
    for investments in zip(*invested, strict=True):
        game.apply(investments)
    return Table(
        "figure-6",
        "the published five rounds, played again by the rules",
        [
            Column("player"),
            *(Column(title, PUBLISHED, 0) for title in published.columns),
            Column("coins at the end, by the rules of the game", decimals=1),
        ],
        [
            [model, *amounts, game.coins(agent)]
            for (model, amounts), agent in zip(published.rows.items(), game.agents, strict=True)
        ],
        [f"published: {published.source}", *published.notes],
    )


def make_row(mode: int, told: str, figure: str) -> Row[Options]:
    """Returns the row of a mode.

    Args:
        mode: 1 or 2.
        told: information of the players after a round.
        figure: of the paper.
    """
    return Row(
        title=f"public goods, mode {mode}, four players at one table: what each earns when {told}",
        source=f"DeepEval, {figure}",
        options=Options,
        plan=lambda options: plan(options, mode),
        measure=lambda runs, options: measure(runs, options, mode),
        precision=precision,
        shows=(
            "It shows who earns most in a group of different players, who invests, and which differences are larger than"
            " chance makes them."
        ),
        does_not_show=(
            "It does not show who is good for a group: whoever invests less than the others earns more than they do,"
            " whatever is invested. It depends on who else sits at the table."
        ),
        any_manner=True,
    )


def precision(options: Options) -> str:
    """Returns the planned number of cases."""
    n = options.matches
    return (
        f"n = {n} matches of each policy, or a few more so that each sits on every seat equally often: the smallest p of a"
        f" difference is {2 / 2 ** min(n, 40):.1g}"
    )


PRIVATE = make_row(1, "each is told its own income only", "Figure 4 (a)")
PUBLIC = make_row(2, "all are told the sorted list of investments", "Figure 4 (b)")
