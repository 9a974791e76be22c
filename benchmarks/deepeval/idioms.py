"""Win rates and hits at idiom solitaire, early player by late player (DeepEval, arXiv 2309.04369, Tables 1 and 2).

Every ordered pair of policies plays once from each of the same starts: thirty in the paper; here numbered starts, one per deal.
The early player of a row moves first. No match is left out: a player without a valid idiom has lost.

A player's hits are its valid idioms. The players alternate and the player that fails loses, so in every decided match the early
player's hits minus the late player's are 1 if the early one has won and 0 if not. This identity is checked for every match and
for the published tables.
"""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from benchmarks.deepeval.pool import SCRIPTED
from benchmarks.experiments.comparisons import PlayerComparison, comparison_table
from benchmarks.experiments.pictures import estimates
from benchmarks.experiments.pool import plan_run
from benchmarks.experiments.precision import rate_precision
from benchmarks.experiments.published import Published, load_published
from benchmarks.experiments.row import Result, Row, RowOptions
from benchmarks.experiments.runs import PlayedRun
from benchmarks.experiments.seats import check_two_seats, statistic, unfinished
from benchmarks.experiments.tables import MEASURED, PUBLISHED, Cell, Cells, Column, Table, beside, paired_columns
from benchmarks.options import option
from llmarena_envs.core.options import check_int
from llmarena_envs.idiom_solitaire.game import End
from rating.config.run_file import RunConfig
from rating.config.run_tables import EnvironmentConfig
from rating.errors import RunError
from rating.schemes import formatting
from rating.stats.estimates import Estimate, bounded_mean, mean_estimate, rate_estimate
from rating.stats.results import finished
from rating.store.records import Outcome, SeatOutcome

GAME = "idiom_solitaire_v0"
RUN = "pairs"
LOST_BY: Mapping[int, str] = {
    End.WRONG_LINK: "wrong character",
    End.REPEATED: "repeated idiom",
    End.NOT_LISTED: "not in the list",
    End.REJECTED: "ruled out by the judge",
    End.NO_RULING: "no ruling of the judge",
    End.DEAD_END_GIVEN: "forbidden dead end",
    End.RESIGNED: "gave up",
    End.DEAD_END_WON: "dead end of the other",
    End.FORFEIT: "forfeit",
}
ROUNDING = 0.0151
"""Maximum difference between printed hits and a printed rate that three roundings explain."""


@dataclass(frozen=True, kw_only=True)
class Options(RowOptions):
    """Options of the row.

    Raises:
        OptionError: if an option has no valid value.
    """

    starts: int = option(30, "first idioms, from each of which every ordered pair plays once, 1 to 1000", smoke=4)
    idioms: str = option("", "path of a list of idioms of your own, one a line")
    language: str = option("zh", "language of the texts, zh or en; the idioms are Chinese in either")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_int("starts", self.starts, 1, 1000)


class Chain(NamedTuple):
    """A match.

    Attributes:
        outcome: outcome of the match.
        early: the seat that moved first.
        late: the other seat.
        start: the start of the chain; matches with the same start are not independent.
    """

    outcome: Outcome
    early: SeatOutcome
    late: SeatOutcome
    start: int

    @property
    def early_hits(self) -> float:
        """Idioms of the early player."""
        return statistic(self.early, "hits")

    @property
    def late_hits(self) -> float:
        """Idioms of the late player."""
        return statistic(self.late, "hits")

    @property
    def early_won(self) -> bool:
        """Whether the early player won."""
        return self.early.reward > self.late.reward

    @property
    def late_won(self) -> bool:
        """Whether the late player won."""
        return self.late.reward > self.early.reward

    @property
    def keeps_identity(self) -> bool:
        """Whether the hits agree with the winner."""
        return self.early_hits - self.late_hits == (1 if self.early_won else 0)


Pairs = Mapping[tuple[str, str], Sequence[Chain]]


class Measure(NamedTuple):
    """A metric of the early and the late player of a match.

    Attributes:
        name: for tables.
        title: the metric with its unit.
        early: value of the early player.
        late: value of the late player.
        estimate: the mean of some values, by the start of each.
        decimals: in tables.
    """

    name: str
    title: str
    early: Callable[[Chain], float]
    late: Callable[[Chain], float]
    estimate: Callable[[Sequence[float], Sequence[int]], Estimate | None]
    decimals: int


def rate(values: Sequence[float], starts: Sequence[int]) -> Estimate | None:
    """Returns a win rate: with Wilson's interval for matches from different starts, else clustered by start."""
    if len(set(starts)) == len(starts):
        return rate_estimate(sum(values), len(values))
    return bounded_mean([bool(value) for value in values], starts)


def mean(values: Sequence[float], starts: Sequence[int]) -> Estimate | None:
    """Returns a mean number of hits, clustered by start."""
    return mean_estimate(values, starts, scale=(0, math.inf))


WINS = Measure("wins", "win rate", lambda chain: chain.early_won, lambda chain: chain.late_won, rate, 2)
HITS = Measure("hits", "hits in a match", lambda chain: chain.early_hits, lambda chain: chain.late_hits, mean, 2)


def plan(options: Options) -> dict[str, RunConfig]:
    """Returns a run with one match of every ordered pair from each start."""
    settings = {"n_starts": options.starts, "language": options.language}
    if options.idioms:
        settings["idioms"] = options.idioms
    environment = EnvironmentConfig(
        name=GAME, scheme="mean_reward", options=settings, by_deal={"start": list(range(options.starts))}
    )

    def planned(matches: int) -> RunConfig:
        return plan_run(options, [environment], scripted=SCRIPTED, stop={"matches": matches})

    others = len(planned(1).pool(GAME)) - 1
    return {RUN: planned(max(1, 2 * others * options.starts))}


def measure(runs: Mapping[str, PlayedRun], options: Options) -> Result:
    """Returns win rates and hits by pair and by player, their differences, and their consistency.

    Raises:
        OptionError: if a match had more than two players.
        RunError: if no match has ended, or its statistics are missing.
    """
    run = runs[RUN]
    outcomes = run.outcomes(GAME)
    chains = [chain(outcome) for outcome in checked(outcomes)]
    pairs = by_pair(chains)
    if not pairs:
        raise RunError(f"{run.directory}: expected matches of {GAME} between two policies, but none has ended yet")
    published = load_published("benchmarks.deepeval")
    tables: list[Table] = []
    figures = {}
    for item, key in ((WINS, "T1_idiom_wins"), (HITS, "T2_idiom_hits")):
        tables += [
            matrix_table(item, pairs),
            pair_table(item, pairs, published[key], options.published_as()),
            mean_table(item, pairs, published[f"{key}_means"], options.published_as()),
        ]
        figures[item.name] = estimates(
            {
                f"{policy}, {place}": value
                for policy in policies_of(pairs)
                for place, value in zip(("early", "late"), own_means(item, pairs, policy), strict=True)
            },
            f"{item.title} against the others, with 95 % interval",
        )
    tables += [
        comparison_table(
            comparisons(pairs),
            "share of the points of their matches",
            "start",
            scale=(-1, 1),
            notes=["the paper tests none"],
        ),
        end_table(chains),
        identity_table(pairs),
        contradiction_table(published["T1_idiom_wins"], published["T2_idiom_hits"]),
    ]
    return Result(tables, figures, [*identity_notes(chains), *unfinished(outcomes)])


def checked(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Returns the matches with a result, without judges.

    Raises:
        OptionError: if a match had more than two players.
    """
    ended = finished(outcomes)
    check_two_seats(ended)
    return ended


def chain(outcome: Outcome) -> Chain:
    """Returns a match with its seats ordered by first move."""
    early, late = sorted(outcome.seats, key=lambda seat: statistic(seat, "place"))
    start = int(statistic(early, "start"))
    # A start from a custom list has no number; such matches are distinguished by the seed, which is never negative.
    return Chain(outcome, early, late, start if start >= 0 else -1 - outcome.seed)


def by_pair(chains: Sequence[Chain]) -> dict[tuple[str, str], list[Chain]]:
    """Returns the matches of every ordered pair of different policies: early, then late."""
    pairs: dict[tuple[str, str], list[Chain]] = {}
    for each in chains:
        if each.early.policy != each.late.policy:
            pairs.setdefault((each.early.policy, each.late.policy), []).append(each)
    return dict(sorted(pairs.items()))


def policies_of(pairs: Pairs) -> list[str]:
    """Returns the policies, the one with the most wins first."""
    won = Counter[str]()
    for (early, late), chains in pairs.items():
        won[early] += sum(each.early_won for each in chains)
        won[late] += sum(each.late_won for each in chains)
    return sorted(won, key=lambda policy: (-won[policy], policy))


def own_means(item: Measure, pairs: Pairs, policy: str) -> tuple[Estimate | None, Estimate | None]:
    """Returns the means of a policy as the early and as the late player against all others."""
    early = [each for pair, chains in pairs.items() if pair[0] == policy for each in chains]
    late = [each for pair, chains in pairs.items() if pair[1] == policy for each in chains]
    return (
        item.estimate([item.early(each) for each in early], [each.start for each in early]),
        item.estimate([item.late(each) for each in late], [each.start for each in late]),
    )


def matrix_table(item: Measure, pairs: Pairs) -> Table:
    """Returns early players by late players, as printed in the paper."""
    names = policies_of(pairs)
    means = {policy: own_means(item, pairs, policy) for policy in names}

    def cell(early: str, late: str) -> str | None:
        chains = pairs.get((early, late))
        if not chains:
            return None
        numbers = (sum(map(side, chains)) / len(chains) for side in (item.early, item.late))
        return f"{' / '.join(formatting.number(number, item.decimals) for number in numbers)} ({len(chains)})"

    rows: list[list[Cell]] = [[early, *(cell(early, late) for late in names), means[early][0]] for early in names]
    rows.append(["mean of the late player", *(means[late][1] for late in names), None])
    return Table(
        f"{item.name}-matrix",
        f"{item.title}: early player (rows) by late player (columns)",
        [
            Column("early player"),
            *(Column(f"late: {late}", MEASURED, item.decimals) for late in names),
            Column("mean of the early player", MEASURED, item.decimals),
        ],
        rows,
        [
            "a cell: the early player / the late player (matches)",
            "means are over the matches with all others, with their 95 % interval; a player's matches with itself are left out",
        ],
    )


def pair_table(item: Measure, pairs: Pairs, published: Published, same: Mapping[str, str]) -> Table:
    """Returns every cell of the matrix with its interval, beside the published figures."""
    measured = {
        pair_name(*pair): [
            item.estimate([side(each) for each in chains], [each.start for each in chains])
            for side in (item.early, item.late)
        ]
        for pair, chains in pairs.items()
    }
    models = {pair: pair_name(*(same.get(model, "") for model in pair.split(" | "))) for pair in published.rows}
    _, *columns = paired_columns([f"{item.title}, early player", f"{item.title}, late player"], item.decimals)
    return Table(
        item.name,
        f"{item.title} of every pair",
        [Column("early | late"), *columns],
        beside(published.rows, measured, {model: pair for model, pair in models.items() if pair in measured}),
        [
            "with 95 % interval and matches: Wilson's for rates, Student's clustered by start for hits",
            f"published: {published.source}",
            *published.notes[1:],
        ],
    )


def mean_table(item: Measure, pairs: Pairs, published: Published, same: Mapping[str, str]) -> Table:
    """Returns every player's means as the early and as the late player, beside the published figures."""
    measured = {policy: own_means(item, pairs, policy) for policy in policies_of(pairs)}
    return Table(
        f"{item.name}-means",
        f"{item.title} of every player",
        paired_columns([f"{item.title}, as early player", f"{item.title}, as late player"], item.decimals),
        beside(published.rows, measured, same),
        [f"published: {published.source}", *published.notes],
    )


def pair_name(early: str, late: str) -> str:
    """Returns the table name of an ordered pair."""
    return f"{early} | {late}"


def comparisons(pairs: Pairs) -> list[PlayerComparison]:
    """Returns the points of every two policies in their matches with each other, in both orders; a draw is half a point."""
    found = []
    for one, other in itertools.combinations(policies_of(pairs), 2):
        values, starts = [], []
        for order in ((one, other), (other, one)):
            for each in pairs.get(order, ()):
                early = 0.5 + 0.5 * (each.early_won - each.late_won)
                values.append((early, 1 - early) if order == (one, other) else (1 - early, early))
                starts.append(each.start)
        found.append(PlayerComparison(one, other, values, starts))
    return found


def end_table(chains: Sequence[Chain]) -> Table:
    """Returns the causes of every player's losses."""
    lost: dict[str, Counter[str]] = {}
    for each in chains:
        for seat, won in ((each.early, each.late_won), (each.late, each.early_won)):
            own = lost.setdefault(seat.policy, Counter())
            own["matches"] += 1
            if won:
                own[LOST_BY.get(int(statistic(seat, "end")), "otherwise")] += 1
            elif not each.early_won and not each.late_won:
                own["draws"] += 1
    kinds = [kind for kind in (*LOST_BY.values(), "otherwise") if any(own[kind] for own in lost.values())]
    return Table.of(
        "ends",
        "by what players lost",
        [
            {
                Column("player"): policy,
                **{Column(title, MEASURED): own[title] for title in ("matches", *kinds, "draws")},
            }
            for policy, own in sorted(lost.items())
        ],
    )


def identity_table(pairs: Pairs) -> Table:
    """Returns for every pair whether hits and wins agree, match by match."""
    rows: list[Cells] = []
    for pair, chains in pairs.items():
        decided = [each for each in chains if each.early_won or each.late_won]
        rows.append(
            {
                Column("early | late"): pair_name(*pair),
                Column("matches", MEASURED): len(chains),
                Column("draws", MEASURED): len(chains) - len(decided),
                Column("decided matches whose hits say who won", MEASURED): sum(
                    each.keeps_identity for each in decided
                ),
                Column("hits of the early less the late player", MEASURED, 3): sum(
                    each.early_hits - each.late_hits for each in decided
                )
                / len(decided)
                if decided
                else None,
                Column("win rate of the early player", MEASURED, 3): sum(each.early_won for each in decided)
                / len(decided)
                if decided
                else None,
            }
        )
    return Table.of(
        "identity",
        "hits and wins of the same matches",
        rows,
        ["the last two columns are of the decided matches; they are the same number where both are counted rightly"],
    )


def identity_notes(chains: Sequence[Chain]) -> list[str]:
    """Returns notes on whether the hits of every decided match agree with its winner."""
    decided = [each for each in chains if each.early_won or each.late_won]
    broken = [each.outcome.number for each in decided if not each.keeps_identity]
    if not broken:
        return [f"hits and wins fit in all {len(decided)} decided matches"]
    return [
        f"hits and wins do not fit in {len(broken)} of {len(decided)} decided matches:"
        f" {', '.join(map(str, broken[:10]))}{' and others' if len(broken) > 10 else ''}"
    ]


def contradiction_table(wins: Published, hits: Published) -> Table:
    """Returns the contradictions between the published tables."""
    rows: list[list[Cell]] = []
    for pair, (early, _) in wins.rows.items():
        early_hits, late_hits = hits.rows[pair]
        assert early is not None and early_hits is not None and late_hits is not None
        difference = early_hits - late_hits
        rows.append(
            [pair, early, early_hits, late_hits, difference, "no" if abs(difference - early) > ROUNDING else "yes"]
        )
    broken = sum(row[-1] == "no" for row in rows)
    return Table(
        "contradictions",
        "the published tables held against each other",
        [
            Column("early | late"),
            Column("win rate of the early player", PUBLISHED),
            Column("hits of the early player", PUBLISHED),
            Column("hits of the late player", PUBLISHED),
            Column("difference of the hits"),
            Column("possible"),
        ],
        rows,
        [
            "the difference of the hits must be the win rate of the early player, since players move in turn and whoever fails"
            " has lost: if it is the late one, the early one is an idiom ahead, if it is the early one they are level",
            f"that fails in {broken} of {len(rows)} cells",
            "nor is one model the lowest everywhere: as late player Claude 2 has 0.96 hits and GPT-4 0.88",
        ],
    )


def precision(options: Options) -> str:
    """Returns the planned number of cases."""
    return f"n = {options.starts} matches of each ordered pair, one from each start: {rate_precision(options.starts)}"


ROW = Row(
    title="idiom solitaire: win rates and hits of every ordered pair, early player by late player",
    source="DeepEval, Tables 1 and 2",
    options=Options,
    plan=plan,
    measure=measure,
    precision=precision,
    shows=(
        "It shows who knows the idioms that go on, whether moving first helps, and by what players lose. Wins and hits are of the"
        " same matches, so both tables are one row."
    ),
    does_not_show=(
        "It does not show how many idioms a player knows: a match is over after a few, and whoever gives a dead end wins"
        " without knowing more. Who is right about an idiom is the list."
    ),
    any_manner=True,
)
