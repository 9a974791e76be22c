"""Strategic rewards at connect four in battles among the policies (LLMArena, arXiv 2402.16499, Figure 2).

Every policy meets every other on both seats until the 95 % interval of every mean reward is narrow enough; the paper plays until
the mean rewards converge and does not define convergence. With ``--opponent`` every policy meets this opponent only. Against a
human a fixed number of matches is played, in the paper five.

The paper's formula is ambiguous: the baseline of a move, and whether a row of four contains two rows of three as well. The
stopping rule uses one reading; rewards under all readings are computed from the recorded moves
(``llmarena_envs.connect_four.strategy``).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.experiments.field import Case, field_cases, field_opponent
from benchmarks.experiments.pictures import COLOURS, axes, estimates, plain
from benchmarks.experiments.pool import plan_run
from benchmarks.experiments.published import load_published
from benchmarks.experiments.replays import begun
from benchmarks.experiments.row import Result, Row, RowOptions
from benchmarks.experiments.runs import PlayedRun
from benchmarks.experiments.tables import MEASURED, PUBLISHED, Cells, Column, Table, percent
from benchmarks.llmarena.pool import SCRIPTED
from benchmarks.options import option
from llmarena_envs.connect_four.strategy import COUNTS, REWARD_MODES, match_reward, values_of
from llmarena_envs.core.options import OptionError, check_int
from rating.config.run_file import PERSON, RunConfig
from rating.config.run_tables import EnvironmentConfig
from rating.errors import RunError
from rating.schemes.field import Field
from rating.schemes.rewards import MeanReward
from rating.schemes.stopping import LEAST_MATCHES
from rating.stats.estimates import FEWEST_CLUSTERS, Estimate, RunningMean, bounded_mean, mean_estimate
from rating.store.records import Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GAME = "connect_four_v0"
BATTLES = "battles"
MATCHES_WITH_A_PERSON = 5

Valued = tuple[float, int]
"""The reward of a match and the seed of its deal."""


class Reading(NamedTuple):
    """A reading of the reward: the baseline of a move, and the counting of rows of discs."""

    mode: str
    counting: str

    def __str__(self) -> str:
        return f"{self.mode.replace('_', ' ')}, {self.counting}"


READINGS = [Reading(mode, counting) for mode, counting in product(REWARD_MODES, COUNTS)]


@dataclass(frozen=True, kw_only=True)
class Options(RowOptions):
    """Options of the row."""

    opponent: str = option(
        "", "the only opponent of every policy, e.g. random or human; by default policies play each other"
    )
    matches: int = option(
        0,
        "matches of each policy, or a few more for equally many on both seats; 0: until they converge, with a person"
        f" {MATCHES_WITH_A_PERSON}",
    )
    half_width: float = option(2.5, "rewards have converged when every mean is known to so much on either side")
    min_matches: int = option(50, "matches of each policy before play may stop", smoke=4)
    max_matches: int = option(400, "matches of each policy after which play stops in any case", smoke=4)
    preset: str = option("llmarena", "treatment of bad replies: llmarena, the paper's, or standard")

    def fixed(self) -> int:
        """Returns the minimum number of matches of each policy, an even one; 0 to play until rewards converge."""
        asked = self.matches or (MATCHES_WITH_A_PERSON if self.opponent == PERSON else 0)
        return asked + asked % 2


def plan(options: Options) -> dict[str, RunConfig]:
    """Returns the run of battles: among the policies, or against the opponent."""
    check_int("matches", options.matches, 0, 1_000_000)
    fixed = options.fixed()
    stop = (
        {"matches": fixed}
        if fixed
        else {
            "half_width": options.half_width,
            "min_matches": options.min_matches,
            "max_matches": options.max_matches,
        }
    )
    game = EnvironmentConfig(
        name=GAME,
        scheme=Field.name if options.opponent else MeanReward.name,
        opponent=options.opponent,
        value="strategic_reward",
        options={"reward_mode": READINGS[0].mode, "random_opening": 0, "language": options.language},
    )
    return {BATTLES: plan_run(options, [game], scripted=SCRIPTED, stop=stop, preset=options.preset)}


def measure(runs: Mapping[str, PlayedRun], options: Options) -> Result:
    """Returns the mean reward under every reading, the endings of the matches, and the convergence of the means."""
    run = runs[BATTLES]
    cases = battle_cases(run)
    against = opponents(run)
    played = played_reading(run)
    rewards = all_rewards(run, cases)
    means = {
        policy: {
            reading: mean_estimate(
                [each[reading] for each in own], [case.outcome.seed for case in ended(cases[policy])]
            )
            for reading in READINGS
        }
        for policy, own in rewards.items()
    }
    values = {
        policy: [(each[played], case.outcome.seed) for each, case in zip(own, ended(cases[policy]), strict=True)]
        for policy, own in rewards.items()
    }
    return Result(
        [
            reward_table(means, against, played),
            rank_table(means, played),
            match_table(cases, values, run),
            published_table(),
        ],
        {
            "rewards": estimates(
                {policy: own[played] for policy, own in means.items()},
                f"strategic reward per match against {plain(against, 24)} ({played}), with 95 % interval",
            ),
            "running": running_picture(values, f"against {plain(against, 24)} ({played})"),
        },
    )


def battle_cases(run: PlayedRun) -> dict[str, list[Case]]:
    """Returns the matches of every policy in match-number order, void ones included, each with the policy's seat.

    Raises:
        OptionError: if the policies have played neither each other nor one opponent.
        RunError: if no match has ended.
    """
    scheme = run.run.scheme(GAME)
    if isinstance(scheme, Field):
        return field_cases(run, GAME)
    if not isinstance(scheme, MeanReward):
        raise OptionError(f"{run.directory}: {GAME}: expected scheme = 'mean_reward' or 'field', got {scheme.name!r}")
    cases: dict[str, list[Case]] = {policy: [] for policy in scheme.setting.pool.policies}
    for outcome in sorted(run.outcomes(GAME), key=lambda outcome: outcome.number):
        for seat in outcome.seats:
            cases[seat.policy].append(Case(outcome, seat))
    if not any(cases.values()):
        raise RunError(f"{run.directory}: expected matches of {GAME}, but none has ended yet")
    return cases


def opponents(run: PlayedRun) -> str:
    """Names the opponents of every policy."""
    one = run.config.find_environment(GAME).scheme == Field.name
    return field_opponent(run, GAME) if one else "the other policies"


def played_reading(run: PlayedRun) -> Reading:
    """Returns the reading that the game reported, used by the stopping rule."""
    options = run.config.options(GAME)
    return Reading(options["reward_mode"], options.get("count", COUNTS[0]))


def all_rewards(run: PlayedRun, cases: Mapping[str, Sequence[Case]]) -> dict[str, list[dict[Reading, int]]]:
    """Returns the reward of every finished match under every reading, by policy, in match-number order."""
    finished = {case.outcome.number for own in cases.values() for case in ended(own)}
    rewards = {
        record.match.number: match_rewards(record) for record in run.records(GAME) if record.match.number in finished
    }
    return {
        policy: [rewards[case.outcome.number][case.seat.agent] for case in ended(own)] for policy, own in cases.items()
    }


def match_rewards(record: Record) -> dict[str, dict[Reading, int]]:
    """Returns the reward of every agent in a match under every reading, from the recorded moves.

    Raises:
        RunError: if the moves are illegal.
    """
    game = begun(record.match).game
    opening = len(game.moves)
    actions = [turn.action for turn in record.turns if turn.action is not None]  # without forfeits
    try:
        values = {count: values_of([*game.moves, *map(int, actions)], count) for count in COUNTS}
    except (ValueError, TypeError) as error:
        raise RunError(f"match {record.match.id} is damaged: {error}") from error
    return {
        agent: {reading: match_reward(values[reading.counting], seat, opening, reading.mode) for reading in READINGS}
        for seat, agent in enumerate(game.agents)
    }


def ended(cases: Sequence[Case]) -> list[Case]:
    """Returns the finished matches."""
    return [case for case in cases if case.is_finished]


def reward_table(means: Mapping[str, Mapping[Reading, Estimate | None]], against: str, played: Reading) -> Table:
    """Returns the mean reward of every policy under every reading."""
    notes = [
        f"the game reported, and play waited for: {played}; the others are computed from the recorded moves",
        "intervals: Student's over deals, 95 %",
    ]
    return Table.of(
        "rewards",
        f"mean strategic reward per match against {against}, by what a move is compared with and how rows are counted",
        [
            {Column("player"): policy, **{Column(str(reading), MEASURED): own[reading] for reading in READINGS}}
            for policy, own in means.items()
        ],
        notes,
    )


def rank_table(means: Mapping[str, Mapping[Reading, Estimate | None]], played: Reading) -> Table:
    """Returns the rank of every policy under every reading: 1 for the greatest mean; equal means share a rank."""
    columns = {reading: ranks({policy: own[reading] for policy, own in means.items()}) for reading in READINGS}
    others = [str(reading) for reading in READINGS if columns[reading] != columns[played]]
    return Table.of(
        "ranks",
        "rank by mean reward: is the order the same under every reading?",
        [
            {
                Column("player"): policy,
                **{Column(str(reading), MEASURED): columns[reading][policy] for reading in READINGS},
            }
            for policy in means
        ],
        [
            f"another order than under {played}: {'; '.join(others)}"
            if others
            else "the order is the same under every reading",
            "ranks are of the means; where the intervals of two players overlap, their order may be chance",
        ],
    )


def ranks(means: Mapping[str, Estimate | None]) -> dict[str, int | None]:
    """Returns the rank of each name, 1 for the greatest mean; equal means share a rank, missing ones have none."""
    known = [mean.value for mean in means.values() if mean is not None]
    return {
        name: None if mean is None else 1 + sum(other > mean.value for other in known) for name, mean in means.items()
    }


def match_table(cases: Mapping[str, Sequence[Case]], values: Mapping[str, Sequence[Valued]], run: PlayedRun) -> Table:
    """Returns the endings of the matches and the precision of the mean rewards."""
    wanted = run.config.stop.half_width
    rows: list[Cells] = []
    for policy, own in cases.items():
        finished = ended(own)
        _, halves = running_means(values[policy])
        endings, deals = [ending(case) for case in finished], [case.outcome.seed for case in finished]
        known = halves[-1] if halves else math.inf
        rows.append(
            {
                Column("player"): policy,
                **{
                    Column(f"{name}, %", MEASURED, 1): percent(bounded_mean([one == name for one in endings], deals))
                    for name in ENDINGS
                },
                Column("void matches"): len(own) - len(finished),
                Column("mean known to, on either side", MEASURED): known if math.isfinite(known) else None,
                Column("matches until the mean was known closely enough", MEASURED): settled_after(
                    halves, wanted, run.config.stop.min_matches or LEAST_MATCHES
                )
                if wanted
                else None,
            }
        )
    return Table.of(
        "matches",
        f"how the matches against {opponents(run)} ended, and how closely the mean reward is known",
        rows,
        [
            "won, drawn and lost are matches that nobody forfeited",
            f"closely enough: to {wanted:g} on either side" if wanted else "a fixed number of matches was played",
            f"why play stopped: {why_stopped(run)}",
        ],
    )


ENDINGS = ("won", "drawn", "lost", "forfeited", "forfeited by the opponent")


def ending(case: Case) -> str:
    """Returns the entry of ``ENDINGS`` for the player under test."""
    if case.seat.forfeit:
        return "forfeited"
    if case.other_forfeited:
        return "forfeited by the opponent"
    return "won" if case.seat.reward > 0 else "lost" if case.seat.reward < 0 else "drawn"


def why_stopped(run: PlayedRun) -> str:
    """Returns the reason for the stop."""
    stop = run.config.stop
    reasons = {
        "settled": "every mean was known closely enough",
        "cap": f"a player had been scheduled for {stop.max_matches} matches, the most allowed",
        "count": f"every player had been scheduled for {stop.matches} matches, as planned",
    }
    reason = run.stop_reason(GAME)
    return reasons.get(reason, reason) or "it has not stopped: the run is unfinished"


def running_means(values: Sequence[Valued]) -> tuple[list[float], list[float]]:
    """Returns the mean of the first 1, 2, ... values, and half the width of its 95 % interval, infinite for few deals."""
    means, halves = [], []
    mean = RunningMean()
    for value, deal in values:
        mean.add(value, deal)
        means.append(mean.mean)
        halves.append(mean.half_width() if mean.deals >= FEWEST_CLUSTERS else math.inf)
    return means, halves


def settled_after(halves: Sequence[float], wanted: float, least: int) -> int | None:
    """Returns the number of matches, at least ``least``, after which the interval was narrow enough; ``None`` if it never was."""
    return next((n for n, half in enumerate(halves, start=1) if n >= least and half <= wanted), None)


def running_picture(values: Mapping[str, Sequence[Valued]], title: str) -> "Figure":
    """Draws every policy's running mean reward, with its interval as a band."""
    from matplotlib.ticker import MaxNLocator

    with axes(3.6) as (figure, (field,)):
        lowest, highest = [], []
        for index, (policy, own) in enumerate(values.items()):
            if not own:
                continue
            means, halves = running_means(own)
            counts = range(1, len(own) + 1)
            colour, style = COLOURS[index % len(COLOURS)], ("-", "--", ":")[index // len(COLOURS) % 3]
            field.plot(
                counts,
                means,
                color=colour,
                linestyle=style,
                marker="o",
                markevery=[-1],
                markersize=4,
                label=plain(policy, 24),
            )
            known = next((index for index, half in enumerate(halves) if math.isfinite(half)), len(halves))
            low = [mean - half for mean, half in zip(means[known:], halves[known:], strict=True)]
            high = [mean + half for mean, half in zip(means[known:], halves[known:], strict=True)]
            field.fill_between(counts[known:], low, high, color=colour, alpha=0.12, linewidth=0)
            late = max(0, len(own) // 10 - known)  # the wide bands of the first few matches are cut off
            lowest += means + low[late:]
            highest += means + high[late:]
        if lowest:
            margin = 0.05 * (max(highest) - min(lowest)) or 1.0
            field.set_ylim(min(lowest) - margin, max(highest) + margin)
            field.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False, title="band: 95 % interval")
        field.set_xlim(left=0)
        field.set_xlabel("matches of the player")
        field.xaxis.set_major_locator(MaxNLocator(integer=True))
        field.set_ylabel("mean strategic reward so far")
        field.set_title(title, fontsize="medium")
        field.grid(alpha=0.3)
    return figure


def published_table() -> Table:
    """Returns the labels of the published figure in order."""
    published = load_published("benchmarks.llmarena")["fig2_random_battles"]
    return Table(
        "published",
        "labels of the published bars, in order",
        [Column("bar"), Column("strategic reward", PUBLISHED)],
        [[bar, *numbers] for bar, numbers in published.rows.items()],
        [published.source, *published.notes],
    )


def precision(options: Options) -> str:
    """Returns the planned number of cases."""
    fixed = options.fixed()
    if fixed:
        return (
            f"n = {fixed} matches of each policy or a few more; how closely its mean reward is known depends on how much"
            " matches differ"
        )
    least, most = options.min_matches, max(options.min_matches, options.max_matches)
    return (
        f"n = {least if least == most else f'{least} to {most}'} matches of each policy, until every mean has a 95 % interval of"
        f" {options.half_width:g} to either side"
    )


ROW = Row(
    title="strategic rewards at connect four in battles among the policies until they converge, or against one opponent",
    source="LLMArena, Figure 2",
    options=Options,
    plan=plan,
    measure=measure,
    precision=precision,
    shows=(
        "It shows how much better a player's rows of discs become over a match than its opponents', and how sure"
        " that is."
    ),
    does_not_show=(
        "It does not show strength: whoever wins early collects less than whoever wins late, and a player who loses may have"
        " collected a lot. The scale depends on how the paper's formula is read; compare the order only."
    ),
)
