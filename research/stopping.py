"""Stop rules: number of matches of the default relative to the least sufficient number, and whether its promises hold.

    python -m research.stopping

Pools are drawn from a normal distribution of a given standard deviation. They play matches of the Bradley-Terry model, two
on every deal, with the seats swapped; a fixed share of the matches are ties. The default is played as a run
plays it: the adaptive schedule (two policies: the only pair), batches of its size, one of them in flight when the rule fires.

"least" is the smallest number of matches after which the mean true Spearman correlation of the ratings reaches .95, under the
better of round robin and the adaptive schedule. It is known in hindsight only: it needs the truth. Where it is more than the
limit of the run, or there is no order, "least" is the mean number of matches until the promise of the rule holds (order known,
or policies alike): asked after every batch, from the first one on, with nothing in flight.

"right" is the share of unresolved pairs that are truly within the band, over runs that ended as alike. Ties bring expected
scores together: differences are differences of expected scores. The last table is of the rule ``top=3``.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from benchmarks.options import option, parse
from rating.schemes.conditions import ALIKE_LEVEL, ORDER_LEVEL, TOP_LEVEL
from rating.schemes.stopping import ALIKE_ELO, LEAST_RATED
from rating.stats.bradley_terry import ELO_PER_NAT, BradleyTerryOptions, Floats, Integers
from rating.stats.bradley_terry.model import differences, inverse_curvature, maximise, precision, probability
from rating.stats.bradley_terry.ranking import dispersion, draw, expected_spearman, is_open, set_is_known, share_alike
from rating.stats.design import Design
from research.pools import play, round_robin, spearman

ADAPTIVE, ROUND_ROBIN = "adaptive", "round robin"
ORDER, TOP, ALIKE, CAP = "order", "top", "alike", "cap"
GOAL = 1.1
"""Matches of the default over the least that would do."""

LEAST_TABLES = 8
"""Deals in a batch of few policies, as of the adaptive schedule."""

TOP_POLICIES = 3
"""Number of policies that the rule ``top`` asks for."""

PRICE = 0.01
"""Cost of a match."""

DRAWS = 300
"""Draws from the posterior."""

SMOOTH = 3
"""Looks over which the mean true correlation is averaged."""


@dataclass(frozen=True)
class Options:
    """Options of the study."""

    policies: tuple[str, ...] = option(("2", "4", "8", "16", "40"), "sizes of pools", smoke=("2", "4"))
    spreads: tuple[str, ...] = option(("0", "30", "100", "200", "400"), "standard deviations of pools", smoke=("200",))
    ties: tuple[str, ...] = option(("0", "0.5", "1"), "shares of ties", smoke=("0",))
    work: int = option(200, "runs of each line times policies; 6 runs at least", smoke=16)
    most: int = option(400, "matches of each policy after which a run ends", smoke=40)
    seed: int = option(20261125, "of pools and matches")
    smoke: bool = option(False, "the smallest size, which only shows that everything runs")


@dataclass(frozen=True)
class Ending:
    """How a rule ended a run.

    Attributes:
        reason: ``order``, ``top``, ``alike`` or ``cap``.
        known: matches that the rule knew.
        matches: played until then, those in flight included.
        spearman: true rank correlation.
        is_right: whether the set of the best is right.
        near: share of the unresolved pairs that are within the band.
    """

    reason: str
    known: int
    matches: int
    spearman: float
    is_right: bool
    near: float


@dataclass(frozen=True)
class Cell:
    """Everything of a kind of pool.

    Attributes:
        size: number of policies.
        spread: standard deviation of the pool.
        ties: share of ties.
        endings: of the default.
        earliest: matches until its promise held first, by run.
        least: matches after which the mean true correlation is high enough, by schedule; only where it comes to that.
        top: endings of the rule ``top``.
    """

    size: int
    spread: float
    ties: float
    endings: list[Ending]
    earliest: list[int]
    least: dict[str, int]
    top: list[Ending]

    @property
    def matches(self) -> float:
        """Mean number of matches by the default."""
        return float(np.mean([ending.matches for ending in self.endings]))

    def cheapest(self) -> tuple[float, str]:
        """Returns the least number of matches that would do, and how."""
        if self.least:
            return min((matches, schedule) for schedule, matches in self.least.items())
        return float(np.mean(self.earliest)), "promise"


@dataclass
class Games:
    """Pools of one kind side by side: their results, and sums over them.

    Attributes:
        strengths: in Elo, shape (runs, n).
        ties: share of ties.
        rng: of the results.
    """

    strengths: Floats
    ties: float
    rng: np.random.Generator
    matches: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        runs, size = self.strengths.shape
        self.wins, self.games, self.deals, self.sums, self.squares = np.zeros((5, runs, size, size))
        self._x = np.zeros((runs, size + 1))

    def play(self, first: Integers, second: Integers) -> Floats:
        """Plays a deal from both sides; returns the scores of ``first`` on either seat, shape (2, runs)."""
        row = np.arange(len(self.strengths))
        lead = self.strengths[row, first] - self.strengths[row, second]
        return play(self.rng, np.stack((lead, lead)), self.ties)

    def add(self, first: Integers, second: Integers, scores: Floats) -> None:
        """Takes the results of a deal."""
        row = np.arange(len(self.strengths))
        self.wins[row, first, second] += scores[0]
        self.wins[row, second, first] += 1 - scores[1]
        self.games[row, first, second] += 1
        self.games[row, second, first] += 1
        for one, other, score in ((first, second, scores.sum(axis=0)), (second, first, 2 - scores.sum(axis=0))):
            self.deals[row, one, other] += 1
            self.sums[row, one, other] += score
            self.squares[row, one, other] += score**2
        self.matches += 2

    def ratings(self) -> Floats:
        """Returns the ratings, in Elo, shape (runs, n)."""
        self._x = maximise(self.wins, self.games, BradleyTerryOptions(), self._x)
        return self._x[:, :-1] * ELO_PER_NAT

    def drawn(self, runs: Integers, draws: int) -> Floats:
        """Returns draws from the posterior of the ratings of some runs; after ``ratings``."""
        model, robust, prior_sd = self._covariances(runs)
        deals = self.deals[runs].sum(axis=(-2, -1)) / 2
        factor = dispersion(model, robust, prior_sd, deals)
        return draw(self.wins[runs], self.games[runs], factor, deals, draws=draws)

    def _covariances(self, runs: Integers) -> tuple[Floats, Floats, float]:
        """Returns the covariance by the model, the one clustered by deal (CR3), and the prior that both have."""
        options, size, x = BradleyTerryOptions(), self.strengths.shape[1], self._x[runs]
        assert isinstance(options.prior_sd, float)
        inverse = np.stack(
            [inverse_curvature(own, games, options) for own, games in zip(x, self.games[runs], strict=True)]
        )[:, :-1, :-1]
        p = probability(differences(x))
        expected, information = p + 1 - np.swapaxes(p, -1, -2), self.games[runs] * p * (1 - p)
        count = self.deals[runs]
        residual = self.squares[runs] - 2 * expected * self.sums[runs] + count * expected**2
        information = (information + np.swapaxes(information, -1, -2)) / np.maximum(count, 1)
        diagonal = np.diagonal(inverse, axis1=-2, axis2=-1)
        leverage = information * (diagonal[..., :, None] + diagonal[..., None, :] - 2 * inverse)
        scatter = np.maximum(residual, 0) / (1 - np.minimum(leverage, 0.99)) ** 2
        meat = -(scatter + np.swapaxes(scatter, -1, -2)) / 2
        index, deals = np.arange(size), count.sum(axis=(-2, -1), keepdims=True) / 2
        meat[:, index, index] -= meat.sum(axis=-1)
        prior = np.diag(precision(size, options)[:-1])
        robust = inverse @ (meat * (1 - 1 / np.maximum(deals, 1)) + prior) @ inverse
        return inverse * ELO_PER_NAT**2, robust * ELO_PER_NAT**2, options.prior_sd


def run(options: Options) -> Iterator[Cell]:
    """Simulates every line of the table; ties alone are the same in every pool."""
    kinds = itertools.product(map(int, options.policies), map(float, options.spreads), map(float, options.ties))
    return (simulate(size, spread, ties, options) for size, spread, ties in kinds if ties < 1 or not spread)


def simulate(size: int, spread: float, ties: float, options: Options) -> Cell:
    """Simulates one kind of pool."""
    cell = Cell(size, spread, ties, [], [], {}, [])
    has_order = spread > 0 and ties < 1
    for schedule in (ADAPTIVE, ROUND_ROBIN) if has_order and size > 2 else (ADAPTIVE if size > 2 else ROUND_ROBIN,):
        rng = np.random.default_rng([options.seed, size, int(spread), int(10 * ties)])
        strengths = spread * rng.standard_normal((max(6, options.work // size), size))
        games, curve = Games(strengths, ties, rng), []
        judge = _Judge(cell, len(strengths)) if schedule == ADAPTIVE or size == 2 else None
        for in_flight in _batches(schedule, games, options):
            ratings = games.ratings()
            if judge:
                judge.look(games, ratings, in_flight)
            curve.append((games.matches, float(spearman(ratings, strengths).mean())))
            recent = np.mean([true for _, true in curve[-SMOOTH:]])
            if has_order and schedule not in cell.least and len(curve) >= SMOOTH and recent >= ORDER_LEVEL:
                cell.least[schedule] = curve[-SMOOTH // 2][0]
            if (not judge or judge.is_over) and (not has_order or schedule in cell.least):
                break
        if judge:
            judge.end(games)
    return cell


def _batches(schedule: str, games: Games, options: Options) -> Iterator[int]:
    """Plays batches, one ahead; yields the number of matches in flight after the results of each."""
    runs, size = games.strengths.shape
    tables, row = max(size, LEAST_TABLES) if size > 2 else LEAST_RATED // 2, np.arange(runs)
    design = Design(size, seed=options.seed, shape=(runs,)) if schedule == ADAPTIVE else None
    upper = np.triu_indices(size, 1)
    opening = [(index, (index + 1) % size) for index in range(size)] if design else []
    pairs, in_flight = itertools.chain(opening, () if design else itertools.cycle(round_robin(size))), []
    while games.matches < options.most * size // 2:
        batch = []
        for _ in range(tables):
            pair = next(pairs, None)
            if pair is not None:
                first, second = (np.full(runs, index) for index in pair)
            else:
                assert design
                best = design.draw()[:, *upper].argmax(axis=1)
                first, second = upper[0][best], upper[1][best]
            if design:
                design.enter(_symmetric(runs, size, row, first, second, 2.0))
            batch.append((first, second, games.play(first, second)))
        in_flight.append(batch)
        if len(in_flight) < 2:
            continue
        for first, second, scores in in_flight.pop(0):
            games.add(first, second, scores)
            if design:
                wins = np.zeros((runs, size, size))
                wins[row, first, second], wins[row, second, first] = scores[0], 1 - scores[1]
                design.enter(_symmetric(runs, size, row, first, second, -2.0))
                design.add(wins, _symmetric(runs, size, row, first, second, 1.0))
        yield 2 * tables


def _symmetric(runs: int, size: int, row: Integers, first: Integers, second: Integers, value: float) -> Floats:
    table = np.zeros((runs, size, size))
    table[row, first, second] = table[row, second, first] = value
    return table


class _Judge:
    """The rules, asked after every batch."""

    def __init__(self, cell: Cell, runs: int) -> None:
        self._cell, self._runs = cell, runs
        self._ended: dict[str, dict[int, Ending]] = {ORDER: {}, TOP: {}}
        self._earliest: dict[int, int] = {}
        self._last: dict[str, tuple[Floats, NDArray[np.bool_]]] = {}

    @property
    def is_over(self) -> bool:
        """Whether both rules have ended all runs."""
        return all(len(ended) == self._runs for ended in self._ended.values())

    def look(self, games: Games, ratings: Floats, in_flight: int) -> None:
        """Asks the rules of the runs that they have not ended."""
        size, top = ratings.shape[1], TOP_POLICIES
        if top >= size:
            self._ended[TOP] = self._ended[ORDER]
        waiting = np.array(
            [run for run in range(self._runs) if any(run not in ended for ended in self._ended.values())]
        )
        if not len(waiting):
            return
        drawn, own = games.drawn(waiting, DRAWS), ratings[waiting]
        true = _scale(games)[waiting]
        least = (games.games[waiting].sum(axis=-1) + games.games[waiting].sum(axis=-2)).min(axis=-1)
        one, other = np.triu_indices(size, 1)
        inside = np.argsort(np.argsort(own)) >= size - top
        right = np.sort(np.argsort(own)[:, -top:]) == np.sort(np.argsort(true)[:, -top:])
        correlation = spearman(own, true)
        asked: dict[str, tuple[Floats, float]] = {ORDER: (expected_spearman(own, drawn), ORDER_LEVEL)}
        if top < size:
            asked[TOP] = (set_is_known(own, drawn, top), TOP_LEVEL)
        for rule, (value, level) in asked.items():
            for index, run in enumerate(waiting):
                if run in self._ended[rule]:
                    continue
                crosses = inside[index, one] != inside[index, other]
                pairs = np.array([one, other])[:, crosses if rule == TOP else slice(None)]
                alike = float(share_alike(own[index], drawn[index], pairs, ALIKE_ELO))
                if value[index] < level and alike < ALIKE_LEVEL:
                    continue
                if rule == ORDER:
                    self._earliest.setdefault(run, games.matches)
                if least[index] >= LEAST_RATED:
                    reason = rule if value[index] >= level else ALIKE
                    near = _near(own[index], drawn[index], true[index], pairs) if reason == ALIKE else np.nan
                    self._ended[rule][run] = Ending(
                        reason,
                        games.matches,
                        games.matches + in_flight,
                        float(correlation[index]),
                        bool(right[index].all()),
                        near,
                    )

    def end(self, games: Games) -> None:
        """Ends the runs that no rule has ended, and keeps how all ended."""
        ratings, true, top = games.ratings(), _scale(games), TOP_POLICIES
        correlation = spearman(ratings, true)
        right = np.sort(np.argsort(ratings)[:, -top:]) == np.sort(np.argsort(true)[:, -top:])
        for ended in self._ended.values():
            for run in range(self._runs):
                last = Ending(
                    CAP, games.matches, games.matches, float(correlation[run]), bool(right[run].all()), np.nan
                )
                ended.setdefault(run, last)
        self._cell.endings.extend(self._ended[ORDER].values())
        self._cell.earliest.extend(self._earliest.get(run, games.matches) for run in range(self._runs))
        if top < self._cell.size:
            self._cell.top.extend(self._ended[TOP].values())


def _scale(games: Games) -> Floats:
    """Returns the strengths on the scale of expected scores, on which ties bring policies together, in Elo."""
    return games.strengths if games.ties == 0 else (1 - games.ties) * games.strengths


def _near(ratings: Floats, drawn: Floats, true: Floats, pairs: Integers) -> float:
    """Returns the share of the unresolved pairs that are within the band; ``nan`` if all are resolved."""
    found = is_open(ratings, drawn, pairs)
    return float(np.mean(np.abs(true[pairs[0]] - true[pairs[1]])[found] < ALIKE_ELO)) if found.any() else np.nan


HEADER = "| policies | sd | ties | matches | cost | least | by | ratio | Spearman | order | alike | cap | right |"
TOP_HEADER = "| policies | sd | ties | matches | matches of order | known | of these right | alike | cap |"


def line(cell: Cell) -> str:
    """Returns the default beside the least that would do, as a row of a Markdown table."""
    least, way = cell.cheapest()
    ratio = cell.matches / least
    has_order = cell.spread > 0 and cell.ties < 1
    true = f"{np.mean([ending.spearman for ending in cell.endings]):.3f}" if has_order else "none"
    near = [ending.near for ending in cell.endings if ending.near == ending.near]
    return (
        f"| {cell.size} | {cell.spread:g} | {cell.ties:g} | {cell.matches:.0f} | ${PRICE * cell.matches:.2f} |"
        f" {least:.0f} | {way} | {f'{ratio:.2f}' if ratio <= GOAL else f'**{ratio:.2f}**'} | {true} |"
        f" {_shares(cell.endings, ORDER, ALIKE, CAP)} | {f'{np.mean(near):.2f}' if near else ''} |"
    )


def top_line(cell: Cell) -> str:
    """Returns how the rule of the best policies ends, as a row of a Markdown table."""
    right = [ending.is_right for ending in cell.top if ending.reason == TOP]
    return (
        f"| {cell.size} | {cell.spread:g} | {cell.ties:g} | {np.mean([ending.matches for ending in cell.top]):.0f} |"
        f" {cell.matches:.0f} | {_shares(cell.top, TOP)} | {f'{np.mean(right):.3f} of {len(right)}' if right else ''} |"
        f" {_shares(cell.top, ALIKE, CAP)} |"
    )


def _shares(endings: Sequence[Ending], *reasons: str) -> str:
    return " | ".join(f"{np.mean([ending.reason == reason for ending in endings]):.2f}" for reason in reasons)


def main() -> None:
    """Simulates and prints the tables."""
    options = parse(Options, __doc__)
    print(f"{HEADER}\n|{'---:|' * 6}---|{'---:|' * 6}", flush=True)
    top_lines = []
    for cell in run(options):
        print(line(cell), flush=True)
        if cell.top and cell.spread:
            top_lines.append(top_line(cell))
    print("\n".join(["", f"Rule top={TOP_POLICIES}:", "", TOP_HEADER, "|" + "---:|" * 9, *top_lines]))


if __name__ == "__main__":
    main()
