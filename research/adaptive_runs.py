"""Adaptive runs beside round robin: the scripted policies of every game, played until the order is known.

    python -m research.adaptive_runs

Every environment whose policies are compared by duels is run with all its scripted policies under both schedules, as
``llmarena run --schedule adaptive --stop spearman=0.99`` does it. So are tables of three and more whose mean
rewards are compared; they end with a fixed number of matches of each policy, so there the adaptive schedule can only choose
better company.

Two runs agree if for every policy there is a rank that both leave open to it: exchanging two policies that neither run tells
apart is no contradiction, exchanging two that one of them does is.
"""

import asyncio
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import tomlkit

from agents.registry import baselines
from benchmarks.options import option, parse
from llmarena_envs.catalogue import NAMES, load_environment
from rating.play import run_directory
from rating.play.runner import Runner
from rating.play.session import Session
from rating.stats import bradley_terry
from rating.stats.bradley_terry import Standings
from rating.stats.results import finished
from rating.store.records import Outcome

SCHEDULES = ("round_robin", "adaptive")

TABLES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("public_goods_v0", {}),
    ("bid_v0", {"n_bidders": 3}),
    ("holdem_v0", {"players": 3}),
)
"""Environments and options of tables of three and more."""

UNSUITED = {"idiom_solitaire_v0": {"solver"}}
"""Policies that need other options than the standard ones."""

RULE = "spearman=0.99"
"""The stop rule."""


@dataclass(frozen=True)
class Options:
    """Options of the study."""

    environments: tuple[str, ...] = option((), "of duels and of tables; by default all", smoke=("tictactoe_v0",))
    min_matches: int = option(50, "of each policy", smoke=4)
    max_matches: int = option(400, "of each policy, the cap", smoke=20)
    matches: int = option(100, "of each policy at tables of three and more", smoke=8)
    smoke: bool = option(False, "the smallest size, which only shows that everything runs")


@dataclass(frozen=True)
class Played:
    """A run.

    Attributes:
        games: finished.
        stop_reason: why it ended.
        spearman: expected correlation of the order of the ratings with the true one.
        standings: of the policies, best first.
    """

    games: int
    stop_reason: str
    spearman: float
    standings: Standings

    @property
    def order(self) -> list[str]:
        """The policies, best first."""
        return [row.policy for row in self.standings.rows]


@dataclass(frozen=True)
class Line:
    """Runs of one environment that differ in their schedule only.

    Attributes:
        environment: its name and options.
        runs: by schedule.
    """

    environment: str
    runs: dict[str, Played]

    @property
    def is_same(self) -> bool:
        """Whether both runs end with the same order."""
        return len({tuple(run.order) for run in self.runs.values()}) == 1

    @property
    def agrees(self) -> bool:
        """Whether every policy has a rank that both leave open to it."""
        return not disagreements(*(run.standings for run in self.runs.values()))


def disagreements(one: Standings, other: Standings) -> list[str]:
    """Returns the policies without a rank that both leave open to them."""
    ranks = {row.policy: row for row in other.rows}
    return [
        row.policy
        for row in one.rows
        if row.best_rank > ranks[row.policy].worst_rank or ranks[row.policy].best_rank > row.worst_rank
    ]


def contests(options: Options) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields name and options of every environment that is asked for."""
    duels = [name for name in NAMES if load_environment(name).declaration.scheme == "duels"]
    for name, own in [*((name, {}) for name in duels), *TABLES]:
        if not options.environments or name in options.environments:
            yield name, own


def run(options: Options) -> list[Line]:
    """Plays every line of the table."""
    return [
        Line(
            " ".join([name, *(f"{key}={value}" for key, value in own.items())]),
            {schedule: play(_run_file(name, own, schedule, options)) for schedule in SCHEDULES},
        )
        for name, own in contests(options)
    ]


def play(text: str) -> Played:
    """Plays a run of one environment in a directory that is deleted.

    Args:
        text: the run file.
    """
    with tempfile.TemporaryDirectory() as directory:
        run, store = run_directory.create(Path(directory) / "run", text, "the run file of the benchmark")
        with closing(store):
            asyncio.run(Runner(run, store, Session(quiet=True)).run())
            outcomes = [record.outcome for record in store.records() if record.outcome]
            board = run.leaderboard(run.config.environment[0].name, outcomes, run_directory.read_state(store))
    return judge(outcomes, board.stop_reason)


def judge(outcomes: Sequence[Outcome], stop_reason: str) -> Played:
    """Computes the claims of a run from its outcomes; compares tables of three and more in pairs, without a seat term."""
    ended = list(finished(outcomes))
    comparisons = bradley_terry.compare(ended)
    if len(ended[0].seats) > 2:
        comparisons = replace(comparisons, seated=False)
    standings = bradley_terry.standings(comparisons)
    fitted = bradley_terry.fit(comparisons)
    drawn = bradley_terry.drawn_ratings(fitted, comparisons, draws=1000)
    return Played(len(ended), stop_reason, float(bradley_terry.expected_spearman(fitted.ratings, drawn)), standings)


def _run_file(name: str, own: dict[str, Any], schedule: str, options: Options) -> str:
    stop = {
        "rule": RULE,
        "min_matches": options.min_matches,
        "max_matches": options.max_matches,
        "matches": options.matches,
    }
    return tomlkit.dumps(
        {
            "seed": 0,
            "schedule": schedule,
            "executor": "asyncio",
            "stop": stop,
            "environment": [{"name": name, "options": own, "scheme": "mean_reward" if own else ""}],
            "policy": [{"spec": spec} for spec in baselines(name) if spec not in UNSUITED.get(name, ())],
        }
    )


def table(lines: Sequence[Line]) -> str:
    """Returns the lines as a Markdown table, games and expected correlation by round robin first."""
    rows = [
        "| environment | games | adaptive | expected Spearman | adaptive | order by round robin | adaptive | agree |",
        "|---|---:|---:|---:|---:|---|---|---|",
    ]
    for line in lines:
        plain, adaptive = (line.runs[schedule] for schedule in SCHEDULES)
        rows.append(
            f"| {line.environment} | {_games(plain)} | {_games(adaptive)} | {plain.spearman:.3f} |"
            f" {adaptive.spearman:.3f} | {', '.join(plain.order)} | {'the same' if line.is_same else ', '.join(adaptive.order)} |"
            f" {'yes' if line.agrees else 'no'} |"
        )
    return "\n".join(rows)


def _games(run: Played) -> str:
    return f"{run.games} ({run.stop_reason})" if run.stop_reason == "cap" else str(run.games)


def main() -> None:
    """Plays and prints the table."""
    print(table(run(parse(Options, __doc__))))


if __name__ == "__main__":
    main()
