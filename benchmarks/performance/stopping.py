"""Stop rules: how many games they ask for, and whether the order is as well known as they say.

    python -m benchmarks.performance.stopping

Pools of known strength (``benchmarks.performance.pools``) play games drawn from the Bradley-Terry model, two on every deal, with
the seats swapped. Rules are asked again and again, and the ratings at the stop of each are compared with the truth. All look
at the same games; those of the adaptive schedule are chosen one pair at a time.

Spearman is the mean rank correlation with the truth at the stop, which a rule that asks for an expected correlation must reach.
The order is wrong if any two policies are exchanged; the best is wrong if another is rated first.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from benchmarks.options import option, parse
from benchmarks.performance.pools import ELO_PER_NAT, pool
from rating.records.outcome import FINISHED, Outcome, SeatOutcome
from rating.schedules.round_robin import circle
from rating.schemes.stopping import StopRule
from rating.schemes.stopping.conditions import Condition
from rating.schemes.stopping.evidence import Evidence
from rating.statistics.design import Design

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SCHEDULES = ("round robin", "adaptive")

GOAL = "spearman=0.99"
"""The rule that must reach what it asks for, and with the adaptive schedule need at most ``GOAL_SHARE`` of the games."""

GOAL_SHARE = 0.6

LOOK = 4
"""Games of each policy, on the average, after which rules are asked again."""

RARE = 4
"""Looks after which those are asked that rate every match in many orders, which takes long."""


@dataclass(frozen=True)
class Options:
    """Options of the benchmark."""

    pools: tuple[str, ...] = option(("A", "B", "D", "C"), "pools", smoke=("B",))
    rules: tuple[str, ...] = option(("trueskill", "trueskill+order", "spearman=0.95", GOAL), "stop rules")
    runs: int = option(60, "runs of each line", smoke=2)
    least: int = option(8, "games of each policy before a rule is asked")
    most: int = option(600, "games of each policy, on the average, after which a run ends", smoke=30)
    ties: float = option(0.0, "share of ties")
    seed: int = option(20261122, "of the games")
    smoke: bool = option(False, "the smallest size, which only shows that everything runs")


@dataclass(frozen=True)
class Ending:
    """How a run ended.

    Attributes:
        games: played until then.
        is_capped: whether the rule had not fired by the greatest number of games.
        spearman: of the ratings with the truth.
        best_is_right: whether the best policy is rated first.
    """

    games: int
    is_capped: bool
    spearman: float
    best_is_right: bool


@dataclass(frozen=True)
class Line:
    """How the runs of a rule ended, by pool and schedule."""

    pool: str
    schedule: str
    rule: str
    endings: list[Ending]

    @property
    def games(self) -> float:
        """Mean number of games."""
        return float(np.mean([ending.games for ending in self.endings]))

    @property
    def spearman(self) -> float:
        """Mean rank correlation with the truth."""
        return float(np.mean([ending.spearman for ending in self.endings]))

    def share(self, least: float) -> float:
        """Returns the share of runs with a rank correlation of ``least`` or more."""
        return float(np.mean([ending.spearman >= least - 1e-9 for ending in self.endings]))

    @property
    def best_wrong(self) -> float:
        """Share of runs in which another policy is rated first."""
        return float(np.mean([not ending.best_is_right for ending in self.endings]))

    @property
    def capped(self) -> float:
        """Share of runs that the rule did not end."""
        return float(np.mean([ending.is_capped for ending in self.endings]))


@dataclass
class Pool:
    """Runs of one schedule side by side.

    Attributes:
        strengths: in Elo, shape (runs, n).
        ties: share of ties.
        rng: of the results.
        deal: number of the next.
    """

    strengths: Floats
    ties: float
    rng: np.random.Generator
    deal: int = field(default=0, init=False)

    def play(self, first: Integers, second: Integers) -> Floats:
        """Plays a deal from both sides; returns the scores of ``first`` on either seat, shape (2, runs)."""
        row = np.arange(len(self.strengths))
        lead = (self.strengths[row, first] - self.strengths[row, second]) / ELO_PER_NAT
        scores = (self.rng.random((2, len(row))) < 1 / (1 + np.exp(-lead))).astype(float)
        scores[self.rng.random((2, len(row))) < self.ties] = 0.5
        self.deal += 1
        return scores


def run(options: Options) -> list[Line]:
    """Simulates every line of the table."""
    lines = []
    for name, schedule in itertools.product(options.pools, SCHEDULES):
        ended = simulate(name, schedule, options)
        lines += [Line(name, schedule, rule, ended[rule]) for rule in options.rules]
    return lines


def simulate(name: str, schedule: str, options: Options) -> dict[str, list[Ending]]:
    """Plays the runs of one schedule until every rule has ended each; returns how, by rule."""
    strengths = np.stack([pool(name, index) for index in range(options.runs)])
    size = strengths.shape[1]
    names = [f"p{index:02d}" for index in range(size)]
    players = Pool(strengths, options.ties, np.random.default_rng([options.seed, SCHEDULES.index(schedule)]))
    evidence = [Evidence(names, StopRule().trueskill) for _ in range(options.runs)]
    rules = {rule: StopRule(rule=rule).conditions() for rule in options.rules}
    waiting = [dict(rules) for _ in range(options.runs)]
    ended: dict[str, list[Ending]] = {rule: [] for rule in rules}
    played = np.zeros((options.runs, size))
    news: list[list[Outcome]] = [[] for _ in range(options.runs)]
    most = options.most * size // 2
    row = np.arange(options.runs)
    for games, (first, second, scores) in zip(itertools.count(2, 2), _games(schedule, players), strict=False):
        played[row, first] += 2
        played[row, second] += 2
        for index in np.flatnonzero([bool(left) for left in waiting]):
            news[index] += _outcomes(players.deal, names[first[index]], names[second[index]], scores[:, index])
        if games % (LOOK * size // 2) and games < most:
            continue
        is_rare = not games % (RARE * LOOK * size // 2)
        for index, left in enumerate(waiting):
            if not left or (games < most and played[index].min() < options.least):
                continue
            evidence[index].add(news[index])
            news[index] = []
            asked = {rule: left[rule] for rule in left if is_rare or not rule.startswith("trueskill+")}
            for rule in _fired(asked, evidence[index]) if games < most else list(left):
                del left[rule]
                ended[rule].append(_ending(games, games >= most, evidence[index], strengths[index]))
        if games >= most or not any(waiting):
            return ended
    raise AssertionError


def _games(schedule: str, players: Pool) -> Iterator[tuple[Integers, Integers, Floats]]:
    """Yields who plays in each run, and the scores of the first of them on either seat."""
    runs, size = players.strengths.shape
    if schedule == "round robin":
        rounds = circle([str(index) for index in range(size)])
        for one, other in itertools.cycle([(int(one), int(other)) for pairs in rounds for one, other in pairs]):
            first, second = np.full(runs, one), np.full(runs, other)
            yield first, second, players.play(first, second)
    design = Design(size, seed=0, shape=(runs,))
    upper, row = np.triu_indices(size, 1), np.arange(runs)
    while True:
        chosen = design.draw()[:, *upper].argmax(axis=1)
        first, second = upper[0][chosen], upper[1][chosen]
        scores = players.play(first, second)
        wins, met = np.zeros((2, runs, size, size))
        wins[row, first, second], wins[row, second, first] = scores[0], 1 - scores[1]
        met[row, first, second] = met[row, second, first] = 1.0
        design.add(wins, met)
        yield first, second, scores


def _outcomes(deal: int, one: str, other: str, scores: Floats) -> list[Outcome]:
    """Returns the two matches of a deal, in the second of which the seats are swapped."""
    rewards = (2 * scores - 1).tolist()
    pairs = (
        (SeatOutcome(one, rewards[0]), SeatOutcome(other, -rewards[0])),
        (SeatOutcome(other, -rewards[1]), SeatOutcome(one, rewards[1])),
    )
    return [Outcome("pool", 2 * deal + seat, deal, FINISHED, seats) for seat, seats in enumerate(pairs)]


def _fired(rules: dict[str, tuple[Condition, ...]], evidence: Evidence) -> list[str]:
    return [rule for rule, conditions in rules.items() if all(condition.holds(evidence) for condition in conditions)]


def _ending(games: int, is_capped: bool, evidence: Evidence, strengths: Floats) -> Ending:
    ratings, size = evidence.posterior().ratings, len(strengths)
    distance = np.argsort(np.argsort(ratings)) - np.argsort(np.argsort(strengths))
    spearman = float(1 - 6 * (distance**2).sum() / (size * (size**2 - 1)))
    return Ending(games, is_capped, spearman, int(ratings.argmax()) == int(strengths.argmax()))


def table(lines: Sequence[Line]) -> str:
    """Returns the lines as a Markdown table."""
    header = "| pool | schedule | rule | games | Spearman | >= .99 | order wrong | best wrong | not ended |"
    rows = [header, "|---|---|---|" + "---:|" * 6]
    rows += [
        f"| {line.pool} | {line.schedule} | {line.rule} | {line.games:.0f} | {line.spearman:.3f} | {line.share(0.99):.2f} |"
        f" {1 - line.share(1.0):.2f} | {line.best_wrong:.2f} | {line.capped:.2f} |"
        for line in lines
    ]
    return "\n".join(rows)


def goals(lines: Sequence[Line]) -> list[str]:
    """Says of each pool whether the rule of the goal keeps what it promises, and how many games the schedule saves."""
    found = {(line.pool, line.schedule): line for line in lines if line.rule == GOAL}
    said = []
    for name in dict.fromkeys(line.pool for line in lines):
        if all((name, schedule) in found for schedule in SCHEDULES):
            plain, adaptive = (found[name, schedule] for schedule in SCHEDULES)
            said.append(
                f"{GOAL}, pool {name}: true mean {adaptive.spearman:.4f} (goal .99 or more), games"
                f" {adaptive.games / plain.games:.0%} of those of round robin (goal {GOAL_SHARE:.0%} or less)"
            )
    return said


def main() -> None:
    """Simulates and prints the table."""
    lines = run(parse(Options, __doc__))
    print("\n".join([table(lines), "", *goals(lines)]))


if __name__ == "__main__":
    main()
