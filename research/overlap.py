"""Overlapping batches: duration of a run relative to the shortest time that its matches need on the slots.

    python -m research.overlap

The schedule, its stop rule, the loop over batches and the slots are the real ones. Matches are not played: a match takes the
sum of its replies' latencies, which are lognormal, on a clock that does not wait, and its result is drawn from the strengths of
its players. Both depend on the match alone, so with another lag the same matches take as long and end alike.

The bound is the work (the sum of the latencies of all matches played) divided by the slots. A lag of 1 is a barrier after every
batch. The cost of running ahead is the number of matches played beyond those with a lag of 1.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean

import numpy as np

from benchmarks.options import option, parse
from rating.play.batches import play_batches
from rating.play.executors.executor import Slots
from rating.schedules.batches import Contest, Schedule
from rating.schedules.round_robin import round_robin
from rating.schedules.until import Until
from rating.schemes.conditions import TRUESKILL
from rating.schemes.stopping import StopRule
from rating.store.records import FINISHED, Match, Outcome, SeatOutcome
from research import virtual_time


@dataclass(frozen=True)
class Options:
    """Options of the study."""

    policies: int = option(8, "players, a hundred points of Elo apart", smoke=3)
    slots: int = option(64, "matches under way at once")
    seeds: int = option(5, "runs of each line", smoke=1)
    smoke: bool = option(False, "the smallest size, which only shows that everything runs")


ENVIRONMENTS = ("tictactoe_v0", "connect_four_v0", "holdem_v0")
BATCHES = (10, 20, 30, 50)
LAGS = (1, 2, 3)

REPLIES = 8
"""Replies of a match."""

SPREAD = 1.0
"""Standard deviation of the logarithm of a reply's latency."""


@dataclass(frozen=True)
class Line:
    """One line of the table, means over the seeds.

    Attributes:
        environments: number of environments.
        batch: least number of matches of each policy in a batch.
        lag: of the schedule.
        seconds: the run's time.
        time: the run's time over the bound.
        worst: the same, in the worst of the runs.
        matches: played in a run.
        ahead: matches that a lag of 1 would not have played.
    """

    environments: int
    batch: int
    lag: int
    seconds: float
    time: float
    worst: float
    matches: float
    ahead: float


@dataclass(frozen=True)
class Run:
    """A simulated run: seconds on the clock, seconds of work and the number of matches."""

    seconds: float
    work: float
    matches: int


def run(options: Options) -> list[Line]:
    """Simulates every line of the table."""
    lines = []
    for environments in (ENVIRONMENTS[:1], ENVIRONMENTS):
        for batch in BATCHES[:1] if options.smoke else BATCHES:
            barrier: list[Run] = []
            for lag in LAGS:
                runs = [simulate(options, environments, batch, lag, seed) for seed in range(options.seeds)]
                barrier = barrier or runs
                times = [run.seconds / (run.work / options.slots) for run in runs]
                lines.append(
                    Line(
                        environments=len(environments),
                        batch=batch,
                        lag=lag,
                        seconds=mean(run.seconds for run in runs),
                        time=mean(times),
                        worst=max(times),
                        matches=mean(run.matches for run in runs),
                        ahead=mean(run.matches - least.matches for run, least in zip(runs, barrier, strict=True)),
                    )
                )
    return lines


def simulate(options: Options, environments: Sequence[str], batch: int, lag: int, seed: int) -> Run:
    """Simulates one run."""
    policies = [f"policy_{index}" for index in range(options.policies)]
    slots = Slots(options.slots, environments)
    latencies: list[float] = []

    async def play(match: Match) -> Outcome:
        async with slots.hold(match.environment):
            rng = np.random.default_rng([seed, environments.index(match.environment), match.number])
            latencies.append(float(rng.lognormal(0.0, SPREAD, REPLIES).sum()))
            await asyncio.sleep(latencies[-1])
        return _outcome(match, rng)

    async def everything() -> float:
        async with asyncio.TaskGroup() as group:
            for environment in environments:
                group.create_task(play_batches(_schedule(environment, policies, batch, lag, seed), play))
        return asyncio.get_running_loop().time()

    return Run(virtual_time.run(everything()), sum(latencies), len(latencies))


def _schedule(environment: str, policies: list[str], batch: int, lag: int, seed: int) -> Schedule:
    contest = Contest(environment, tuple(policies), seed=seed, batch=batch)
    return Until(contest, round_robin(contest), StopRule(rule=TRUESKILL).begin(policies), lag)


def _outcome(match: Match, rng: np.random.Generator) -> Outcome:
    """Draws a result: 400 points of Elo are ten wins to one loss."""
    first, second = (int(name.removeprefix("policy_")) for name in match.policies)
    reward = 1.0 if rng.random() < 1 / (1 + 10 ** ((second - first) / 4)) else -1.0
    seats = tuple(SeatOutcome(name, value) for name, value in zip(match.policies, (reward, -reward), strict=True))
    return Outcome(match.environment, match.number, match.seed, FINISHED, seats)


def table(lines: Sequence[Line]) -> str:
    """Returns the lines as a Markdown table."""
    rows = ["| environments | batch | lag | time | time / bound | worst | matches | ahead |", "|---" * 8 + "|"]
    rows += [
        f"| {line.environments} | {line.batch} | {line.lag} | {line.seconds:.0f} | {line.time:.2f} | {line.worst:.2f} |"
        f" {line.matches:.0f} | {line.ahead:.0f} |"
        for line in lines
    ]
    return "\n".join(rows)


def main() -> None:
    """Simulates and prints the table."""
    print(table(run(parse(Options, __doc__))))


if __name__ == "__main__":
    main()
