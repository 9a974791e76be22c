"""Blame with planted blunders and lies: how often the planted turn is found first, and how often a clean match is blamed.

    python -m research.blame

Scripted policies play matches with one blunder or one lie, and matches without any. Each match is analysed by continuations
against ``self``: the policy without blunders replies again. A planted turn is found if it is the blamed one. A clean match is
falsely blamed if any turn is.
"""

import asyncio
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from statistics import fmean
from typing import Any, ClassVar

import numpy as np

from agents.baselines.bargain import offered_value
from agents.baselines.connect_four import CELLS, WIN, best_columns, completing, discs, landing, search
from agents.baselines.holdem import chen_points, first_legal, fold_or_check, win_probability
from agents.baselines.undercover import Similarity, attributes
from agents.models.service import ModelService
from agents.play import play
from agents.policy import ScriptedPolicy
from agents.registry import make_policy
from benchmarks.options import option, parse
from llmarena_envs.bargain.game import BargainView, Deal, Offer
from llmarena_envs.bargain.grammar import write_action
from llmarena_envs.bargain.scenarios import plans, worth
from llmarena_envs.catalogue import make_environment
from llmarena_envs.core.board import BoardView, other_mark
from llmarena_envs.holdem.betting import Action
from llmarena_envs.holdem.game import HoldemView
from llmarena_envs.holdem.ranks import hand_rank
from llmarena_envs.undercover.game import CLUE, UndercoverView
from rating.blame.analysis import Analysis
from rating.blame.continuing import Continuer
from rating.blame.estimate import FEWEST
from rating.blame.pairs import SCREEN, Pairs
from rating.blame.question import SELF, Game, Hidden, Question, Spec, candidates
from rating.blame.results import Blame
from rating.stats.estimates import Z_95, wilson_interval
from rating.store.records import Match, Record, outcome_of
from research.tables import print_table


@dataclass(frozen=True)
class Options:
    """Options of the study."""

    matches: int = option(100, "matches with a plant, and without one, of each game", smoke=1)
    seed: int = option(1, "of everything drawn; 0 was used to choose the other options")
    only: str = option("", "one game")
    picture: str = option("", "path of a picture of one match, without its ending")
    smoke: bool = option(False, "the smallest size, which only shows that everything runs")


Plant = Callable[[Any, np.random.Generator], Any]
"""Returns a blunder in a view, or ``None`` without one."""

_LOST = -(WIN - CELLS)
_WORST_RANK = 7462
_DEPTH = 5
_MIXED = 0.05
_CHECKED, _CONFIRMED = 40, 100
_CLAIM = "I have the word of the others"
_BELIEVED, _CAREFUL = 0.95, 0.4


def losing_column(view: BoardView, rng: np.random.Generator) -> int | None:
    """Returns a column that gives the opponent a win in three or five plies, if the player is not behind."""
    mine, theirs = discs(view.board, view.mark), discs(view.board, other_mark(view.mark))
    filled = mine | theirs
    if best_columns(mine, theirs, _DEPTH)[0] < 0:
        return None
    found = []
    for column in view.legal:
        cell = landing(filled) & (0x3F << 7 * column)
        if completing(mine, filled) & cell:
            continue
        soon, later = (-search(theirs, mine | cell, depth, -WIN, WIN, {}) for depth in (1, 5))
        if later <= _LOST < soon:
            found.append(int(column))
    return found[int(rng.integers(len(found)))] if found else None


@lru_cache(maxsize=1_000_000)
def _best(mine: int, theirs: int) -> tuple[int, ...]:
    return tuple(best_columns(mine, theirs, _DEPTH)[1])


class Columns(ScriptedPolicy):
    """Plays a best column within its search depth: mostly the most central one, sometimes any."""

    def __call__(self, view: BoardView) -> int:
        """Returns a best column."""
        best = _best(discs(view.board, view.mark), discs(view.board, other_mark(view.mark)))
        return int(self.choose(best) if self.rng.random() < _MIXED else best[0])


class Bettor(ScriptedPolicy):
    """Bets by the rank of its hand, before the flop by its cards alone; sometimes calls in place of a raise."""

    def __call__(self, view: HoldemView) -> int:
        """Returns the action."""
        worth = (chen_points(view.hole) + 2) / 22
        if view.board:
            worth = 1 - hand_rank([*view.hole, *view.board]) / _WORST_RANK
        if worth > 0.5 and self.rng.random() < 0.8:
            return first_legal(view, Action.RAISE_HALF_POT, Action.RAISE_FULL_POT, Action.ALL_IN)
        return fold_or_check(view) if worth < 0.15 else int(Action.CHECK_CALL)


def bad_bet(view: HoldemView, rng: np.random.Generator) -> int | None:
    """Folds a strong hand in a large pot, or moves all-in with a weak one."""
    chance = win_probability(view.hole, view.board, 1, 200, rng)
    if chance >= 0.85 and view.to_call and view.table.pot >= 60:
        return int(Action.FOLD)
    if chance <= 0.25 and Action.ALL_IN in view.legal and view.table.stacks[view.seat] >= 80:
        return int(Action.ALL_IN)
    return None


def bad_deal(view: BargainView, rng: np.random.Generator) -> str:
    """Accepts an offer worth at most 2 of 10, else gives everything of value away."""
    if 0 <= offered_value(view) <= 2:
        return write_action(view.agent, Deal())
    least = min(plans(view.counts), key=lambda plan: (worth(plan, view.values), plan))
    return write_action(view.agent, Offer(least))


def claim(view: UndercoverView, rng: np.random.Generator) -> str | None:
    """Claims to be an ordinary player."""
    return f"{view.agent}: {_CLAIM}" if view.stage == CLUE else None


class Talker(Similarity):
    """Names two attributes of its word, and votes by similarity or at random, but hardly for a player with a claim."""

    def clue(self, view: UndercoverView) -> str:
        """Returns the same clue in every round."""
        return ", ".join(attributes(view.word)[:2])

    def target(self, view: UndercoverView) -> str:
        """Returns the player to vote for."""
        chosen = (
            super().target(view) if self.rng.random() < _CAREFUL else self.draw([vote.target for vote in view.legal])
        )
        claimed = {clue.sender for clue in view.clues if clue.text == _CLAIM}
        others = [vote.target for vote in view.legal if vote.target not in claimed]
        believes = self.rng.random() < _BELIEVED
        return self.draw(others) if believes and others and chosen in claimed else chosen


class Planter(ScriptedPolicy):
    """Replies like a policy, except for one blunder.

    Args:
        base: the policy.
        plant: the blunder.
        first: number of its first turn that can have the blunder, from 0.

    Attributes:
        planted: number of the turn with the blunder; ``None`` before it.
    """

    reads: ClassVar[str] = "view"

    def __init__(self, base: ScriptedPolicy, plant: Plant, first: int) -> None:
        self._base, self._plant, self._first = base, plant, first
        self._turn = -1
        self.planted: int | None = None

    def reset(self, agent: str, seed: int) -> None:
        """Starts a match."""
        super().reset(agent, seed)
        self._base.reset(agent, seed)

    def __call__(self, view: Any) -> Any:
        """Returns the reply."""
        self._turn += 1
        reply = self._base(view)
        if self.planted is None and self._turn >= self._first:
            blunder = self._plant(view, self.rng)
            if blunder is not None:
                self.planted = self._turn
                return blunder
        return reply


@dataclass(frozen=True)
class Setup:
    """A game with a plant.

    Attributes:
        environment: its name.
        options: its options.
        policy: spec of the policy on all seats.
        plant: the blunder of ``player_0``.
        rewarded: seat whose reward counts.
        hidden: information hidden from ``player_0``.
        firsts: numbers of turns from which the blunder can be, drawn uniformly.
        least: smallest cost that counts.
        most: maximum reward of a clean match, to analyse lost ones.
        pairs: pairs of continuations for each turn in the final.
    """

    environment: str
    options: dict[str, Any]
    policy: str
    plant: Plant
    rewarded: str
    hidden: Hidden
    firsts: range
    least: float
    most: float
    pairs: int = 40


_UNDERCOVER = {"seat": 0, "n_players": 6, "max_rounds": 3, "clue_check": False}

SETUPS = {
    "connect four, losing move": Setup(
        "connect_four_v0",
        {"random_opening": 4},
        "research.blame:Columns",
        losing_column,
        "player_0",
        "fixed",
        range(2, 9),
        least=0.5,
        most=-1,
    ),
    "hold'em, bad fold or all-in": Setup(
        "holdem_v0",
        {"hands": 3},
        "research.blame:Bettor",
        bad_bet,
        "player_0",
        "redrawn",
        range(6),
        least=15,
        most=-1,
        pairs=150,
    ),
    "bargain, bad split": Setup(
        "bargain_v0", {}, "concession", bad_deal, "player_0", "redrawn", range(2, 5), least=1, most=10
    ),
    "undercover, convincing lie": Setup(
        "undercover_v0",
        _UNDERCOVER,
        "research.blame:Talker",
        claim,
        "player_1",
        "fixed",
        range(3),
        least=0.5,
        most=-1,
    ),
}
"""Games by name."""


@dataclass(frozen=True)
class Trial:
    """An analysed match.

    Attributes:
        planted: index of the turn with the plant; ``None`` in a clean match.
        result: the result.
        turns: number of turns in question.
        seconds: duration of the analysis.
        cost: cost of the blamed turn of a clean match in pairs of their own.
    """

    planted: int | None
    result: Blame
    turns: int
    seconds: float
    cost: float = 0.0


def trials(setup: Setup, options: Options, *, planted: bool) -> Iterator[Trial]:
    """Yields analysed matches, planted or clean. A plant costs at least twice the least cost, in pairs of their own."""
    number = found = 0
    while found < options.matches:
        number += 1
        rng = np.random.default_rng([options.seed, number, planted])
        record, turn = played(setup, rng, planted=planted)
        seeds = [int(seed) for seed in rng.integers(2**62, size=2)]
        if planted:
            is_used = turn is not None and true_cost(setup, record, turn, seeds[0], _CHECKED) >= 2 * setup.least
        else:
            is_used = sum(each.rewards[setup.rewarded] for each in record.turns) <= setup.most
        if is_used:
            found += 1
            trial = analysed(setup, record, turn, seeds[1], smoke=options.smoke)
            blamed = trial.result.blamed
            if not planted and blamed is not None:
                trial = replace(trial, cost=true_cost(setup, record, blamed, seeds[0], _CONFIRMED))
            yield trial


def true_cost(setup: Setup, record: Record, turn: int, seed: int, size: int) -> float:
    """Returns the mean cost of a turn in pairs of their own."""
    game, question = asked(setup, record, seed)
    candidate = next(each for each in candidates(game, question) if each.turn == turn)

    async def cost() -> float:
        continuer = Continuer(game, question, ModelService())
        pairs = [await continuer.pair(candidate, (turn, SCREEN, number)) for number in range(size)]
        return fmean(pair.effect for pair in pairs if pair is not None)

    return asyncio.run(cost())


def played(setup: Setup, rng: np.random.Generator, *, planted: bool) -> tuple[Record, int | None]:
    """Returns the record of a match and the turn of its blunder, if there is one."""
    env = make_environment(setup.environment, setup.options)
    agents = env.unwrapped.possible_agents
    seats: dict[str, Any] = {agent: make_policy(setup.policy, setup.environment) for agent in agents}
    first = int(rng.choice(setup.firsts))
    if planted:
        seats["player_0"] = Planter(seats["player_0"], setup.plant, first)
    match = Match(setup.environment, 0, (setup.policy,) * len(agents), int(rng.integers(2**62)), setup.options)
    episode = play(env, seats, match.seed)
    record = Record(match, outcome_of(match, agents, episode), episode.turns, episode.digest, 1, "")
    own = [turn.index for turn in episode.turns if turn.agent == "player_0"]
    number = seats["player_0"].planted if planted else None
    return record, None if number is None else own[number]


def asked(setup: Setup, record: Record, seed: int) -> tuple[Game, Question]:
    """Returns a match with its question."""
    spec = Spec(setup.policy, {})
    game = Game(record, {seat.agent: spec for seat in record.outcome.seats} if record.outcome else {})
    return game, Question(record.match.id, "player_0", setup.rewarded, SELF, None, setup.hidden, seed)


def analysed(setup: Setup, record: Record, planted: int | None, seed: int, *, smoke: bool = False) -> Trial:
    """Analyses a match."""
    game, question = asked(setup, record, seed)
    found = candidates(game, question)
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder, Pairs(Path(folder), question) as pairs:
        size = FEWEST if smoke else setup.pairs
        analysis = Analysis(game, question, found, pairs, ModelService(), size=size, least=setup.least)
        result = asyncio.run(analysis.run())
    return Trial(planted, result, len(found), time.perf_counter() - start)


def share(hits: int, n: int) -> str:
    """Returns a share with Wilson's interval."""
    low, high = wilson_interval(hits / n, n, Z_95)
    return f"{hits / n:.2f} ({low:.2f} to {high:.2f})"


def row(name: str, setup: Setup, options: Options) -> list[str]:
    """Returns the row of a game."""
    with_plant, clean = (list(trials(setup, options, planted=planted)) for planted in (True, False))
    found = sum(trial.result.blamed == trial.planted for trial in with_plant)
    other = sum(trial.result.blamed not in (None, trial.planted) for trial in with_plant)
    false = sum(trial.result.blamed is not None for trial in clean)
    every = [*with_plant, *clean]
    costs = [f"{fmean(trial.result.continuations for trial in each):,.0f}" for each in (with_plant, clean)]
    turns, seconds = fmean(trial.turns for trial in every), fmean(trial.seconds for trial in every)
    size = len(with_plant)
    last = sum(trial.result.turns[-1].turn == trial.planted for trial in with_plant)
    wrong = sum(trial.result.blamed is not None and trial.cost <= setup.least for trial in clean)
    rates = [share(found, size), share(other, size), share(false, len(clean)), str(wrong), f"{last / size:.2f}"]
    return [name, str(size), *rates, f"{turns:.1f}", *costs, f"{seconds:.1f} s"]


HEADER = (
    "game, plant | matches | found first | another turn | clean blamed | not confirmed | last turn | turns | continuations"
    " | clean | time per match"
)


def main(options: Options) -> None:
    """Prints the table."""
    chosen = {name: setup for name, setup in SETUPS.items() if options.only in ("", name.partition(",")[0])}
    print_table(HEADER, (row(name, setup, options) for name, setup in chosen.items()))


if __name__ == "__main__":
    main(parse(Options, __doc__))
