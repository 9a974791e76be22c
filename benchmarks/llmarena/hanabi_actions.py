"""Actions at Hanabi: shares of plays, hints and discards in self-play (LLMArena, arXiv 2402.16499, Figure 5).

The risk rank of an action is 10 for a play, which can cost the last life and with it all points, 5 for a discard, which can lose
a needed card, and 0 for a hint, which is safe.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from benchmarks.experiments.pictures import COLOURS, axes, name_rows
from benchmarks.experiments.pool import plan_run
from benchmarks.experiments.precision import rate_precision
from benchmarks.experiments.row import Result, Row, RowOptions
from benchmarks.experiments.runs import PlayedRun
from benchmarks.experiments.seats import statistic
from benchmarks.experiments.tables import MEASURED, Column, Table, percent
from benchmarks.llmarena.pool import SCRIPTED
from benchmarks.llmarena.self_play import missing
from benchmarks.options import option
from llmarena_envs.hanabi.actions import Kind
from rating.config.run_file import RunConfig
from rating.config.run_tables import EnvironmentConfig
from rating.errors import RunError
from rating.stats.estimates import Estimate, bounded_mean, mean_estimate
from rating.store.environments import make_environment
from rating.store.records import Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GAME = "hanabi_v0"
RUN = "hanabi"
ACTIONS = {Kind.PLAY: "play", Kind.REVEAL_COLOR: "reveal", Kind.REVEAL_RANK: "reveal", Kind.DISCARD: "discard"}
HIGHEST_SCORE = 10
"""Two colours of five cards."""

RISK = {"play": 10, "reveal": 0, "discard": 5}
NARROWEST = 0.06
"""Minimum share for a number inside a bar."""


@dataclass(frozen=True, kw_only=True)
class Options(RowOptions):
    """Options of the row."""

    matches: int = option(100, "matches of each policy with itself", smoke=4)


@dataclass
class Actions:
    """Actions of a policy, without fallbacks.

    Attributes:
        names: of its actions, from ``RISK``.
        matches: number of the match of each action.
        scores: of the matches.
        played_for: actions replaced by a fallback, because no reply was legal; or matches forfeited for that reason.
    """

    names: list[str] = field(default_factory=list)
    matches: list[int] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    played_for: int = 0

    def add(self, record: Record, names: Sequence[str]) -> None:
        """Adds a match.

        Args:
            record: record of the match.
            names: name of each action number.

        Raises:
            RunError: if the record is not a match of Hanabi.
        """
        number = record.match.number
        if record.outcome is None:
            raise RunError(f"match {number}: expected a finished match")
        self.scores.append(statistic(record.outcome.seats[0], "score"))
        for turn in record.turns:
            if turn.fallback:
                self.played_for += 1
            elif isinstance(turn.action, int) and 0 <= turn.action < len(names):
                self.names.append(names[turn.action])
                self.matches.append(number)
            else:
                raise RunError(f"match {number}: expected actions below {len(names)}, got {turn.action!r:.80}")

    def share(self, name: str) -> Estimate | None:
        """Returns the share of an action."""
        return bounded_mean([own == name for own in self.names], self.matches)

    def risk(self) -> Estimate | None:
        """Returns the mean risk rank."""
        return mean_estimate([RISK[name] for name in self.names], self.matches, scale=(0, max(RISK.values())))

    def score(self) -> Estimate | None:
        """Returns the mean score of a match."""
        return mean_estimate(self.scores, scale=(0, HIGHEST_SCORE))


def plan(options: Options) -> dict[str, RunConfig]:
    """Returns the matches."""
    environment = EnvironmentConfig(name=GAME, scheme="self_play", options={"language": options.language})
    return {RUN: plan_run(options, [environment], scripted=SCRIPTED, stop={"matches": options.matches})}


def measure(runs: Mapping[str, PlayedRun], options: Options) -> Result:
    """Returns the shares of the actions, scores and risk ranks."""
    run = runs[RUN]
    actions = actions_by_policy(run)
    return Result([action_table(actions)], {"actions": stacked_bars(actions)}, missing(run.outcomes(GAME)))


def actions_by_policy(run: PlayedRun) -> dict[str, Actions]:
    """Returns the actions of every policy on all seats of its matches with itself."""
    env = make_environment(GAME, run.config.options(GAME))
    names = [ACTIONS[action.kind] for action in env.unwrapped.game.variant.actions]
    table: dict[str, Actions] = {}
    for record in run.records(GAME):
        table.setdefault(record.match.policies[0], Actions()).add(record, names)
    return dict(sorted(table.items()))


def action_table(actions: Mapping[str, Actions]) -> Table:
    """Returns the shares of the actions, scores and risk ranks."""
    return Table.of(
        "actions",
        "shares of the actions of Hanabi, mean scores and mean risk ranks",
        [
            {
                Column("player"): policy,
                Column("matches"): len(own.scores),
                Column("actions"): len(own.names),
                **{Column(f"{title}, % of actions", MEASURED, 1): percent(own.share(title)) for title in RISK},
                Column("mean score of a match", MEASURED, 2): own.score(),
                Column("mean risk rank", MEASURED, 2): own.risk(),
                Column("actions chosen for the player, or none"): own.played_for,
            }
            for policy, own in actions.items()
        ],
        [
            "the paper shows these shares as a figure without numbers, so no published values stand here; its mean scores are in"
            " Table 4",
            "risk rank: reveal 0, discard 5, play 10",
            "intervals are clustered by match; those of means are left out where all are alike",
            "an action that had to be chosen for a player, because no reply was a legal one, is in none of the shares; the"
            " scores are those of the matches with it",
        ],
    )


def stacked_bars(actions: Mapping[str, Actions]) -> "Figure":
    """Draws a stacked bar of action shares for each player."""
    shown = {policy: own for policy, own in actions.items() if own.names}
    with axes(1.1 + 0.36 * max(1, len(shown))) as (figure, (bars,)):
        for index, name in enumerate(RISK):
            for height, own in enumerate(shown.values()):
                before = sum(100 * _share(own, other) for other in list(RISK)[:index])
                width = 100 * _share(own, name)
                bars.barh(height, width, 0.7, before, color=COLOURS[index], label=name if not height else None)
                if width >= 100 * NARROWEST:
                    bars.text(
                        before + width / 2, height, f"{width:.0f}", ha="center", va="center", color="white",
                        fontsize="small",
                    )  # fmt: skip
        for height, own in enumerate(shown.values()):
            bars.text(101, height, f"n = {len(own.names)}", ha="left", va="center", fontsize="small")
        name_rows(bars, list(shown), "share of all actions, %")
        bars.set_xlim(0, 100)
        bars.set_axisbelow(True)
        if shown:
            figure.legend(loc="outside upper center", ncols=len(RISK), frameon=False)
    return figure


def _share(own: Actions, name: str) -> float:
    return own.names.count(name) / len(own.names)


def precision(options: Options) -> str:
    """Returns the planned number of cases."""
    return (
        f"n = {options.matches} matches of each policy with itself; actions of one match are alike; at most, with one"
        f" case a match, {rate_precision(options.matches)}"
    )


ROW = Row(
    title="what players of Hanabi do: shares of plays, hints and discards, by self-play",
    source="LLMArena, Figure 5",
    options=Options,
    plan=plan,
    measure=measure,
    precision=precision,
    shows="It shows how a player divides its actions between plays, hints and discards, and what score that brings.",
    does_not_show=(
        "It does not show whether an action was good: a play of a card known to fit risks nothing, one of an unknown card"
        " everything. Nor does it show co-operation with anybody else: both seats are the same player."
    ),
)
