"""What ratings cost beside named peers in one run.

    python -m benchmarks.performance.rating

Results are drawn from the Bradley-Terry model. Contestants take turns in one process, on one thread; seconds are of processor
time, the median over the rounds, a ratio is the median over the rounds of ours over theirs. A fit gets arrays of integers
and scores, so counting is part of it; the peers get their input formats, ready made. All fit the likelihood alone, to the last
digits; ours and lean numpy also give the covariance of the ratings.
"""

# ruff: noqa: E402

import os

# One thread for all contestants; must be set before numpy is loaded.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import json
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import choix
import evalica
import numpy as np
import trueskill

from benchmarks.experiments.bootstrap import bootstrap
from benchmarks.options import option, parse
from rating.schemes.duels import skill_leaderboard
from rating.stats.bradley_terry import ELO_PER_NAT, BradleyTerryOptions, Comparisons, Floats, Integers, fit, standings
from rating.stats.design import Design
from rating.stats.transitivity import diagnose
from rating.stats.trueskill import BETA, DRAW_PROBABILITY, MU, SIGMA, TAU, rate
from rating.store.records import FINISHED, Outcome, SeatOutcome

CHOICES = 200
"""Pairs that are chosen, one after the result of another."""

LIKELIHOOD = BradleyTerryOptions(prior_sd=None, seat_term=False)


@dataclass(frozen=True)
class Options:
    """Options of the benchmark."""

    games: int = option(1_000_000, "games of the fit", smoke=20_000)
    policies: int = option(200, "policies of the fit", smoke=20)
    matches: int = option(20_000, "matches of the leaderboard, among 14 policies", smoke=400)
    resamples: int = option(1000, "of the bootstrap", smoke=20)
    rounds: int = option(5, "rounds of all contestants", smoke=1)
    seed: int = option(0, "of the results")
    json: str = option("", "file to write the result to, as JSON")
    smoke: bool = option(False, "the smallest size, which only shows that everything runs")


@dataclass(frozen=True)
class Line:
    """One measurement.

    Attributes:
        job: the measured job.
        who: the contestant.
        seconds: of processor time, median over the rounds.
        ratio: our seconds over its, median over the rounds; ``None`` without a peer.
        difference: greatest difference of a strength from ours, in nats; ``None`` without strengths to compare.
        goal: our target, in words; empty for none.
    """

    job: str
    who: str
    seconds: float
    ratio: float | None = None
    difference: float | None = None
    goal: str = ""


@dataclass(frozen=True)
class Contestant:
    """A contestant for a job; its return value is compared if it is an array of strengths in nats."""

    who: str
    work: Callable[[], Any]
    goal: str = ""


def measure(options: Options) -> list[Line]:
    """Measures everything."""
    rng = np.random.default_rng(options.seed)
    large = drawn(rng, options.policies, options.games)
    few = drawn(rng, 20, options.games)
    outcomes = as_outcomes(drawn(rng, 14, options.matches))
    small = drawn(rng, 14, options.matches)
    size = f"{options.games:,} games of {options.policies} policies"
    resamples = f"{options.resamples:,} resamples"
    jobs = [
        (f"Bradley-Terry, {size}", fits(large), options.rounds),
        (f"standings, {size}", [Contestant("rating", lambda: standings(large))], 1),
        (f"bootstrap, {size}, {resamples}", [_resampling(large, options, "at most 20 s")], 1),
        (f"bootstrap, {options.games:,} games of 20 policies, {resamples}", [_resampling(few, options)], 1),
        (f"adaptive schedule, {CHOICES} pairs of 14 policies", [_choices(options)], options.rounds),
        (f"leaderboard of {options.matches:,} matches", [_leaderboard(outcomes)], options.rounds),
        (f"transitivity, {options.matches:,} matches", [Contestant("rating", lambda: diagnose(small))], options.rounds),
        (f"TrueSkill, {options.matches:,} matches", _trueskill(outcomes), options.rounds),
    ]
    return [line for job, contestants, rounds in jobs for line in race(job, contestants, rounds)]


def race(job: str, contestants: Sequence[Contestant], rounds: int) -> list[Line]:
    """Lets contestants take turns; the first of them is us."""
    seconds: dict[str, list[float]] = {contestant.who: [] for contestant in contestants}
    results: dict[str, Any] = {}
    for number in range(rounds):
        for contestant in contestants if number % 2 else contestants[::-1]:
            start = time.process_time()
            results[contestant.who] = contestant.work()
            seconds[contestant.who].append(time.process_time() - start)
    ours = contestants[0].who
    lines = []
    for contestant in contestants:
        who, ratio, difference = contestant.who, None, None
        if who != ours:
            ratio = statistics.median(a / b for a, b in zip(seconds[ours], seconds[who], strict=True))
            if isinstance(results[who], np.ndarray):
                difference = float(np.abs(results[ours] - results[who]).max())
        lines.append(Line(job, who, statistics.median(seconds[who]), ratio, difference, contestant.goal))
    return lines


def fits(results: Comparisons) -> list[Contestant]:
    """Returns those who fit strengths; all return them in nats with mean 0."""
    first, second, score, size = results.first, results.second, results.score, len(results.policies)
    xs, ys = first.tolist(), second.tolist()
    winners = [evalica.Winner.X if won else evalica.Winner.Y for won in score]

    def ours() -> Floats:
        fitted = fit(results, LIKELIHOOD).ratings / ELO_PER_NAT
        return fitted - fitted.mean()

    def by_evalica() -> Floats:
        found = evalica.bradley_terry(xs, ys, winners, tolerance=1e-15, limit=10_000)
        strengths = np.log(found.scores.sort_index().to_numpy())
        return strengths - strengths.mean()

    def by_choix() -> Floats:
        counts = np.bincount(first * size + second, score, size * size).astype(np.float64)
        counts += np.bincount(second * size + first, 1 - score, size * size)
        return choix.ilsr_pairwise_dense(counts.reshape(size, size), tol=1e-12)

    return [
        Contestant("rating", ours),
        Contestant("lean numpy", lambda: lean_fit(first, second, score, size)[0], "ratio at most 1.1"),
        Contestant(f"choix {version('choix')}, dense", by_choix),
        Contestant(f"evalica {version('evalica')}", by_evalica, "ratio at most 0.1, difference at most 1e-9"),
    ]


def lean_fit(first: Integers, second: Integers, score: Floats, size: int) -> tuple[Floats, Floats]:
    """Returns strengths in nats with mean 0, shape (n,), and their covariance, by nothing but counting and Newton's method."""
    wins = np.bincount(first * size + second, score, size * size).reshape(size, size)
    games = np.bincount(first * size + second, minlength=size * size).reshape(size, size)
    wins, games = wins + (games - wins).T, games + games.T
    x = np.zeros(size)
    for _ in range(100):
        p = 1 / (1 + np.exp(x[None, :] - x[:, None]))
        gradient = (wins - games * p).sum(axis=1)
        weight = games * p * (1 - p)
        curvature = np.diag(weight.sum(axis=1)) - weight + 1 / size
        step = np.linalg.solve(curvature, gradient)
        x = x + step
        if np.abs(step).max() < 1e-8:  # the error that is left is about the square of it
            break
    return x - x.mean(), np.linalg.inv(curvature).astype(np.float64)


def _resampling(results: Comparisons, options: Options, goal: str = "") -> Contestant:
    def work() -> Floats:
        return bootstrap(results, LIKELIHOOD, resamples=options.resamples, by_cluster=False)

    return Contestant("rating", work, goal)


def _choices(options: Options) -> Contestant:
    def work() -> None:
        rng = np.random.default_rng(options.seed)
        strengths, design = rng.normal(0, 200, 14), Design(14)
        for _ in range(CHOICES):
            first, second = np.unravel_index(int(design.draw().argmax()), (14, 14))
            wins, games = np.zeros((2, 14, 14))
            for one, other in ((first, second), (second, first)):
                wins[one, other] = play(rng, strengths, np.array([one]), np.array([other]))[0]
                games[one, other] = 1
            design.add(wins, games)

    return Contestant("rating", work, f"at most {CHOICES / 1000:g} s")


def play(rng: np.random.Generator, strengths: Floats, first: Integers, second: Integers) -> Floats:
    """Draws the scores of the first players, 1 or 0, from strengths in Elo, shape (m,)."""
    lead = (strengths[first] - strengths[second]) / ELO_PER_NAT
    return (rng.random(len(first)) < 1 / (1 + np.exp(-lead))).astype(np.float64)


def _leaderboard(outcomes: Sequence[Outcome]) -> Contestant:
    return Contestant("rating", lambda: skill_leaderboard(outcomes), "at most 1 s")


def _trueskill(outcomes: Sequence[Outcome]) -> list[Contestant]:
    def library() -> dict[str, Any]:
        environment = trueskill.TrueSkill(MU, SIGMA, BETA, TAU, DRAW_PROBABILITY)
        ratings: dict[str, Any] = {}
        for outcome in outcomes:
            (a, won), (b, _) = ((seat.policy, seat.reward > 0) for seat in outcome.seats)
            one, other = (ratings.get(name, environment.create_rating()) for name in (a, b))
            if won:
                ratings[a], ratings[b] = trueskill.rate_1vs1(one, other, env=environment)
            else:
                ratings[b], ratings[a] = trueskill.rate_1vs1(other, one, env=environment)
        return ratings

    return [
        Contestant("rating", lambda: rate(outcomes)),
        Contestant(f"trueskill {version('trueskill')}", library),
    ]


def drawn(rng: np.random.Generator, policies: int, games: int) -> Comparisons:
    """Draws games between random pairs of policies whose strengths have an sd of 200 Elo."""
    first = rng.integers(0, policies, games)
    second = (first + rng.integers(1, policies, games)) % policies
    strengths = rng.normal(0, 200, policies)
    names = tuple(f"policy {index:03d}" for index in range(policies))
    return Comparisons(names, first, second, play(rng, strengths, first, second), np.arange(games), None, False)


def as_outcomes(results: Comparisons) -> list[Outcome]:
    """Returns games as matches, two matches a deal."""
    columns = zip(results.first, results.second, results.score, strict=True)
    return [
        Outcome(
            "game_v0",
            number,
            number // 2,
            FINISHED,
            (
                SeatOutcome(results.policies[first], float(2 * score - 1)),
                SeatOutcome(results.policies[second], float(1 - 2 * score)),
            ),
        )
        for number, (first, second, score) in enumerate(columns)
    ]


def table(lines: Sequence[Line]) -> str:
    """Returns the measurements as a table in Markdown."""
    rows = ["| job | by | seconds | ours over it | difference, nats | goal |", "|---|---|---|---|---|---|"]
    for line in lines:
        ratio = "" if line.ratio is None else f"{line.ratio:.2f}"
        difference = "" if line.difference is None else f"{line.difference:.0e}"
        rows.append(f"| {line.job} | {line.who} | {line.seconds:.3g} | {ratio} | {difference} | {line.goal} |")
    return "\n".join(rows)


def main(options: Options) -> list[Line]:
    """Measures everything and prints the table."""
    lines = measure(options)
    print(table(lines))
    if options.json:
        Path(options.json).write_text(json.dumps([asdict(line) for line in lines], indent=2), encoding="utf-8")
    return lines


if __name__ == "__main__":
    main(parse(Options, __doc__))
