"""Games of the self-play training, with a token for each seat, fact and move."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from agents.policy import ScriptedPolicy
from agents.registry import make_policy
from llmarena_envs.bid.game import BidView
from llmarena_envs.catalogue import make_environment
from llmarena_envs.core.board import BoardView
from llmarena_envs.core.game import Game
from llmarena_envs.core.options import OptionError
from llmarena_envs.openspiel.game import SpielView

SEATS = 2
PAD, START, FIRST_SEAT = 0, 1, 2
FIRST_FACT = FIRST_SEAT + SEATS
"""Tokens: padding, start of a game, seats, then facts (own information) and moves."""


@dataclass(frozen=True, eq=False)
class Setting:
    """A game and its tokenizer: the sequence of a seat is start, seat, own information, moves.

    Attributes:
        name: the environment.
        ladder: scripted policies to imitate, to train against and to be rated with.
        read: returns own information and known moves of a view, each numbered from 0.
        facts: texts of the facts.
        moves: texts of the actions.
        length: maximum number of tokens before a decision.
        lowest: lowest reward of a match.
        highest: highest reward of a match.
        options: constructor options; ``None`` for those of rated matches.
    """

    name: str
    ladder: tuple[str, ...]
    read: Callable[[Any], tuple[Sequence[int], Sequence[int]]]
    facts: tuple[str, ...]
    moves: tuple[str, ...]
    length: int
    lowest: float = -1.0
    highest: float = 1.0
    options: Mapping[str, Any] | None = None

    @cached_property
    def game(self) -> Game[Any, Any]:
        """A game to copy."""
        game: Game[Any, Any] = make_environment(self.name, self.options).unwrapped.game
        return game

    @cached_property
    def scripted(self) -> dict[str, ScriptedPolicy]:
        """The policies of the ladder, to copy."""
        return {spec: make_policy(spec, self.name) for spec in self.ladder}  # type: ignore[misc]

    @property
    def actions(self) -> int:
        """Number of actions."""
        return len(self.moves)

    @property
    def vocabulary(self) -> int:
        """Number of tokens."""
        return self.first_move + self.actions

    @property
    def first_move(self) -> int:
        """Token of the first action."""
        return FIRST_FACT + len(self.facts)

    def tokens(self, view: Any) -> list[int]:
        """Returns the sequence that a seat knows.

        Raises:
            OptionError: if the view is one of another game or of other options.
        """
        try:
            facts, moves = self.read(view)
            sequence = [START, FIRST_SEAT + self.game.agents.index(view.agent), *(FIRST_FACT + fact for fact in facts)]
            sequence += [self.first_move + move for move in moves]
        except (AttributeError, ValueError):
            sequence = []
        if not START < len(sequence) <= self.length or max(sequence) >= self.vocabulary:
            raise OptionError(f"checkpoint: expected a position of {self.name} {self.options or ''}, got {view!r:.200}")
        return sequence

    def score(self, reward: float) -> float:
        """Returns a reward as a score from 0 to 1."""
        return (reward - self.lowest) / (self.highest - self.lowest)


def _read_board(view: BoardView, cells: int) -> tuple[Sequence[int], Sequence[int]]:
    if len(view.board) != cells:
        raise ValueError
    return (), view.moves


def _read_kuhn(view: SpielView) -> tuple[Sequence[int], Sequence[int]]:
    return [int(view.information[0])], ["pb".index(bet) for bet in view.information[1:]]


def _read_bid(view: BidView, units: int) -> tuple[Sequence[int], Sequence[int]]:
    if view.rounds > 1 or view.valuation > units:
        raise ValueError
    return [view.valuation - 1], ()


BOARD_LADDER = ("random", "first_legal", "greedy")
KUHN_LADDER = ("random", "first_legal", "mcts:simulations=50")
BID_LADDER = ("random", "first_legal", "truthful", "equilibrium")
GRID = {"grid": 0.5}
CELLS = tuple(f"({row}, {column})" for row in (1, 2, 3) for column in (1, 2, 3))
COLUMNS = tuple(f"column {number}" for number in range(1, 8))
CARDS = tuple(f"Your card: {card}" for card in ("jack", "queen", "king"))
VALUATIONS = tuple(f"Your valuation: ${units / 2:.2f}" for units in range(1, 21))
BIDS = tuple(f"${units / 2:.2f}" for units in range(20))
_SETTINGS = (
    Setting("tictactoe_v0", (*BOARD_LADDER, "minimax"), partial(_read_board, cells=9), (), CELLS, 10),
    Setting("connect_four_v0", (*BOARD_LADDER, "minimax:depth=2"), partial(_read_board, cells=42), (), COLUMNS, 43),
    Setting("openspiel/kuhn_poker", KUHN_LADDER, _read_kuhn, CARDS, ("Pass", "Bet"), 5, lowest=-2.0, highest=2.0),
    Setting("bid_v0", BID_LADDER, partial(_read_bid, units=20), VALUATIONS, BIDS, 3, 0.0, 10.0, options=GRID),
)
SETTINGS = {setting.name: setting for setting in _SETTINGS}
