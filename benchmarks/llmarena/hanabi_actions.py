"""What players of Hanabi do: shares of plays, hints and discards in self-play (LLMArena, arXiv 2402.16499, Figure 5).

The risk rank of an action is 10 for a play, which may cost the life and with it all points, 5 for a discard, which may lose a
card that is needed, and 0 for a hint, which loses nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from typing import TYPE_CHECKING

from benchmarks.experiments.pictures import COLOURS, axes, name_rows
from benchmarks.experiments.precision import rate_precision
from benchmarks.experiments.row import Result, Row, RowOptions
from benchmarks.experiments.runs import PlayedRun
from benchmarks.experiments.tables import MEASURED, Column, Table, percent
from benchmarks.llmarena.pool import plan_run
from benchmarks.llmarena.self_play import by_policy, cautious, missing, share, statistic
from benchmarks.options import option
from rating.records.outcome import Outcome
from rating.running.run_file import EnvironmentConfig, RunConfig
from rating.statistics.estimates import Estimate, mean_estimate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GAME = "hanabi_v0"
RUN = "hanabi"
ACTIONS = {"plays": "play", "reveals": "reveal", "discards": "discard"}
"""Statistics of the game, and what the paper calls the actions that they count."""
RISK = {"plays": 10, "reveals": 0, "discards": 5}
NARROWEST = 0.06
"""Share below which a part of a bar has no room for its number."""


@dataclass(frozen=True, kw_only=True)
class Options(RowOptions):
    """Options of the row."""

    matches: int = option(100, "matches of each policy with itself", smoke=4)


@dataclass(frozen=True)
class Actions:
    """What a policy did.

    Attributes:
        kinds: a key of ``ACTIONS`` for each action.
        matches: for each of them the number of its match.
        scores: of the matches.
        played_for: actions that were chosen for it, because no reply was a legal one.
        forfeits: matches that it ended by a bad reply.
    """

    kinds: Sequence[str]
    matches: Sequence[int]
    scores: Sequence[float]
    played_for: int
    forfeits: int

    def share(self, kind: str) -> Estimate | None:
        """Returns the share of one kind."""
        return share([own == kind for own in self.kinds], self.matches)

    def risk(self) -> Estimate | None:
        """Returns the mean risk rank."""
        return cautious(mean_estimate([RISK[kind] for kind in self.kinds], self.matches))

    def score(self) -> Estimate | None:
        """Returns the mean score of a match."""
        return cautious(mean_estimate(self.scores))


def plan(options: Options) -> dict[str, RunConfig]:
    """Returns the matches."""
    environment = EnvironmentConfig(name=GAME, scheme="self_play", options={"language": options.language})
    return {RUN: plan_run(options, [environment], stop={"matches": options.matches})}


def measure(runs: Mapping[str, PlayedRun], options: Options) -> Result:
    """Returns the shares of the actions, scores and risk ranks."""
    outcomes = runs[RUN].outcomes(GAME)
    actions = {policy: own_actions(matches) for policy, matches in by_policy(outcomes).items()}
    return Result([action_table(actions)], {"actions": stacked_bars(actions)}, missing(outcomes))


def own_actions(outcomes: Sequence[Outcome]) -> Actions:
    """Returns what a policy did on all seats of its matches."""
    kinds: list[str] = []
    matches: list[int] = []
    for outcome in outcomes:
        for seat in outcome.seats:
            own = list(chain.from_iterable(repeat(kind, int(statistic(seat, kind))) for kind in ACTIONS))
            kinds += own
            matches += [outcome.number] * len(own)
    return Actions(
        kinds,
        matches,
        [statistic(outcome.seats[0], "score") for outcome in outcomes],
        sum(seat.fallbacks for outcome in outcomes for seat in outcome.seats if not seat.forfeit),
        sum(any(seat.forfeit for seat in outcome.seats) for outcome in outcomes),
    )


def action_table(actions: Mapping[str, Actions]) -> Table:
    """Returns the shares of the actions, scores and risk ranks."""
    return Table(
        "actions",
        "shares of the actions of Hanabi, mean scores and mean risk ranks",
        [
            Column("player"),
            Column("matches"),
            Column("actions"),
            *(Column(f"{title}, % of actions", MEASURED, 1) for title in ACTIONS.values()),
            Column("mean score of a match", MEASURED, 2),
            Column("mean risk rank", MEASURED, 2),
            Column("actions chosen for the player"),
            Column("matches forfeited"),
        ],
        [
            [
                policy,
                len(own.scores),
                len(own.kinds),
                *(percent(own.share(kind)) for kind in ACTIONS),
                own.score(),
                own.risk(),
                own.played_for,
                own.forfeits,
            ]
            for policy, own in actions.items()
        ],
        [
            "the paper shows these shares as a figure without numbers, so no published values stand here; its mean scores are in"
            " Table 4",
            "risk rank: reveal 0, discard 5, play 10",
            "intervals are resampled by match, and left out where there are fewer than six or all are alike",
            "the shares hold the actions chosen for a player, because no reply was a legal one",
        ],
    )


def stacked_bars(actions: Mapping[str, Actions]) -> "Figure":
    """Draws a bar for each player, parted by what it did."""
    shown = {policy: own for policy, own in actions.items() if own.kinds}
    with axes(1.1 + 0.36 * max(1, len(shown))) as (figure, (field,)):
        for index, (kind, title) in enumerate(ACTIONS.items()):
            for height, own in enumerate(shown.values()):
                before = sum(100 * _share(own, other) for other in list(ACTIONS)[:index])
                width = 100 * _share(own, kind)
                field.barh(height, width, 0.7, before, color=COLOURS[index], label=title if not height else None)
                if width >= 100 * NARROWEST:
                    field.text(
                        before + width / 2, height, f"{width:.0f}", ha="center", va="center", color="white",
                        fontsize="small",
                    )  # fmt: skip
        for height, own in enumerate(shown.values()):
            field.text(101, height, f"n = {len(own.kinds)}", ha="left", va="center", fontsize="small")
        name_rows(field, list(shown), "share of all actions, %")
        field.set_xlim(0, 100)
        field.set_axisbelow(True)
        if shown:
            figure.legend(loc="outside upper center", ncols=len(ACTIONS), frameon=False)
    return figure


def _share(own: Actions, kind: str) -> float:
    return own.kinds.count(kind) / len(own.kinds)


def precision(options: Options) -> str:
    """Says how many cases there are."""
    return (
        f"n = {options.matches} matches of each policy with itself; actions of one match are alike, and with one case"
        f" a match {rate_precision(options.matches)} at most"
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
