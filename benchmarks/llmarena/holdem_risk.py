"""Hand strength by action (fold, call, raise) in static states of hold'em (LLMArena, arXiv 2402.16499, Figure 4).

Every policy decides once in each of the same states: two hole cards and three community cards after a called blind, and, by
default, a bet of half the pot to match, which makes fold legal. The win rate of a state is the probability that its hole cards
win against a random hand after all community cards are dealt, a tie counting one half; it is sampled, with a seed from the
state.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from agents.baselines.holdem import win_probability
from benchmarks.experiments.pictures import COLOURS, axes, name_rows
from benchmarks.experiments.pool import plan_run
from benchmarks.experiments.replays import begun
from benchmarks.experiments.row import Result, Row, RowOptions
from benchmarks.experiments.runs import PlayedRun
from benchmarks.experiments.tables import MEASURED, Column, Table, percent
from benchmarks.llmarena.pool import SCRIPTED
from benchmarks.llmarena.self_play import missing
from benchmarks.options import option
from llmarena_envs.core.options import check_int
from llmarena_envs.holdem.betting import Action
from llmarena_envs.holdem.decision import DECIDER, FACING_BET
from llmarena_envs.holdem.replies import ACTION_NAMES
from rating.config.run_file import RunConfig
from rating.config.run_tables import EnvironmentConfig
from rating.errors import RunError
from rating.stats.estimates import Estimate, mean_estimate
from rating.store.records import Match, Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GAME = "holdem_v0"
RUN = "states"
SAMPLING = 3
"""Key of the random stream for sampling win rates; ``agents.play.Streams`` uses 0 to 2."""
MAX_SAMPLES = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Options(RowOptions):
    """Options of the row."""

    states: int = option(100, "states in each of which every policy decides once", smoke=4)
    samples: int = option(10_000, "random deals from which the win rate of a state is estimated", smoke=200)
    decision: str = option(FACING_BET, "facing_bet for a bet of half the pot to match, open for none (no fold then)")


@dataclass(frozen=True)
class Decision:
    """Action of a policy in a state.

    Attributes:
        action: the action; ``None`` if no reply was a legal action.
        state: seed of the state.
        win_rate: of the state, 0 to 1.
    """

    action: Action | None
    state: int
    win_rate: float


def plan(options: Options) -> dict[str, RunConfig]:
    """Returns the decisions, each a match."""
    check_int("samples", options.samples, 1, MAX_SAMPLES)
    environment = EnvironmentConfig(
        name=GAME, scheme="self_play", options={"decision": options.decision, "language": options.language}
    )
    return {RUN: plan_run(options, [environment], scripted=SCRIPTED, stop={"matches": options.states})}


def measure(runs: Mapping[str, PlayedRun], options: Options) -> Result:
    """Returns the mean win rates by policy and action."""
    run = runs[RUN]
    decisions = decisions_of(run, options.samples)
    return Result([action_table(decisions, options)], {"win-rates": picture(decisions)}, missing(run.outcomes(GAME)))


def decisions_of(run: PlayedRun, samples: int) -> dict[str, list[Decision]]:
    """Returns the decisions of every policy; the win rate of a shared state is sampled once."""
    win_rates: dict[int, float] = {}
    table: dict[str, list[Decision]] = {}
    for record in run.records(GAME):
        match = record.match
        if match.seed not in win_rates:
            win_rates[match.seed] = win_rate(match, samples)
        decision = Decision(action_of(record), match.seed, win_rates[match.seed])
        table.setdefault(match.policies[DECIDER], []).append(decision)
    return dict(sorted(table.items()))


def action_of(record: Record) -> Action | None:
    """Returns the action of a decision, ``None`` if no reply was a legal action.

    Raises:
        RunError: if the record is not a decision.
    """
    turn = record.turns[0] if len(record.turns) == 1 else None
    if turn and turn.fallback:
        return None
    if turn and isinstance(turn.action, int) and turn.action in set(Action):
        return Action(turn.action)
    raise RunError(f"match {record.match.number}: expected one turn with one of {len(Action)} actions")


def win_rate(match: Match, samples: int) -> float:
    """Returns the win rate of the state of a match, 0 to 1."""
    game = begun(match).game
    rng = np.random.default_rng(np.random.SeedSequence(match.seed, spawn_key=(SAMPLING,)))
    return win_probability(game.hole(DECIDER), game.board, 1, samples, rng)


def mean_win_rate(decisions: Sequence[Decision]) -> Estimate | None:
    """Returns the mean win rate of the states of the decisions."""
    states = [decision.state for decision in decisions]
    return mean_estimate([decision.win_rate for decision in decisions], states, scale=(0, 1))


def taken(decisions: Sequence[Decision], action: Action) -> list[Decision]:
    """Returns the decisions for an action."""
    return [decision for decision in decisions if decision.action == action]


def action_table(decisions: Mapping[str, Sequence[Decision]], options: Options) -> Table:
    """Returns the mean win rate by policy and action."""
    return Table.of(
        "win-rates",
        f"mean win rate in %, of the states in which an action was taken, with its interval and (the number of states)"
        f" ({options.decision})",
        [
            {
                Column("player"): policy,
                Column("states"): len(own),
                **{
                    Column(ACTION_NAMES[action], MEASURED, 1): percent(mean_win_rate(taken(own, action)))
                    for action in Action
                },
                Column("all states", MEASURED, 1): percent(mean_win_rate(own)),
                Column("no legal action stated"): sum(decision.action is None for decision in own),
            }
            for policy, own in decisions.items()
        ],
        [
            "the paper shows a figure only, without numbers or states, so no published values stand here",
            "win rate: probability to win against a random hand when the turn and the river are dealt, a tie counting one half;"
            f" estimated from {options.samples} random deals a state",
            "the states are the same for all players; an action never taken has an empty cell",
            "intervals are clustered by state, and left out where all are alike",
            "where no reply was a legal action, what was played for the player is no decision of its own",
        ],
    )


def picture(decisions: Mapping[str, Sequence[Decision]]) -> "Figure":
    """Draws for each player the mean win rate of each action with its interval and the number of states."""
    with axes(1.2 + 0.75 * max(1, len(decisions))) as (figure, (field,)):
        for height, own in enumerate(decisions.values()):
            for action in Action:
                lane = height + 0.16 * (action - 2)
                mean = percent(mean_win_rate(taken(own, action)))
                if mean is None:
                    continue
                low = mean.value if mean.low is None else mean.low
                high = mean.value if mean.high is None else mean.high
                field.errorbar(
                    [mean.value], [lane], xerr=[[mean.value - low], [high - mean.value]], fmt="o", capsize=2,
                    color=COLOURS[action], markersize=4,
                )  # fmt: skip
                field.annotate(
                    f"{mean.n}", (high, lane), (5, 0), textcoords="offset points", va="center", fontsize="x-small"
                )
            if height:
                field.axhline(height - 0.5, color="#d0d7de", linewidth=0.8)
        for colour, name in zip(COLOURS, ACTION_NAMES, strict=False):
            field.plot([], [], "o", color=colour, markersize=4, label=name)
        name_rows(field, list(decisions), "mean win rate of the states, %, with 95 % interval; number: states")
        field.set_xlim(0, 100)
        figure.legend(loc="outside upper center", ncols=len(ACTION_NAMES), frameon=False, fontsize="small")
    return figure


def precision(options: Options) -> str:
    """Returns the planned number of cases."""
    return (
        f"n = {options.states} states, the same for each policy, divided among its actions: the interval of a mean win rate"
        " reaches about 8 points to either side with 25 states, 4 with 100"
    )


ROW = Row(
    title="with how good a hand players fold, call and raise, in static states of hold'em",
    source="LLMArena, Figure 4",
    options=Options,
    plan=plan,
    measure=measure,
    precision=precision,
    shows="It shows whether a player takes more risk with better hands: its win rates should rise from fold to all-in.",
    does_not_show=(
        "It does not show who wins more: the win rate is against a random hand, the bet tells nothing of the other's cards, and"
        " a good player also bluffs."
    ),
)
