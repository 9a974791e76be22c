"""Missed chances at the board games: immediate wins and blocks, and solved play (LLMArena, arXiv 2402.16499).

Every move of tic-tac-toe and connect four is compared with the chances in its position: an immediate win, or a threat to block;
and with solved play, which is exact at tic-tac-toe and looks some plies ahead at connect four.

The paper plays both games and has no such table. The matches of any run of the two games can be counted with
``--run``, e.g. the run of the main table.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from agents.baselines.solved import LOST, SLOWER, WON, Solved, SolvedConnectFour, SolvedTicTacToe
from benchmarks.experiments.pictures import estimates
from benchmarks.experiments.pool import plan_run
from benchmarks.experiments.precision import rate_precision
from benchmarks.experiments.row import Result, Row, RowOptions
from benchmarks.experiments.runs import PlayedRun
from benchmarks.experiments.tables import MEASURED, Cells, Column, Table, percent
from benchmarks.llmarena.boards import ABREAST, Position, draw, to_text
from benchmarks.llmarena.pool import SCRIPTED
from benchmarks.llmarena.positions import positions
from benchmarks.options import option
from llmarena_envs.core.board import MARKS, BoardView
from llmarena_envs.core.failures import Failure
from llmarena_envs.core.options import check_int
from rating.config.run_file import RunConfig
from rating.config.run_tables import EnvironmentConfig
from rating.errors import RunError
from rating.stats.estimates import Estimate, bounded_mean
from rating.store.records import VOID

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GAMES = {"tictactoe_v0": "tic-tac-toe", "connect_four_v0": "connect four"}
RUN = "games"


class Kind(StrEnum):
    """Kinds of missed chances, the simplest first."""

    WIN = "missed win"
    BLOCK = "missed block"
    GIVEN_AWAY = "won position given away"
    LOST = "position lost that was not lost before"


@dataclass(frozen=True, kw_only=True)
class Options(RowOptions):
    """Options of the row."""

    matches: int = option(200, "matches of each policy in each game, at least; play ends with a whole batch", smoke=8)
    depth: int = option(8, "plies that connect four is looked ahead, 2 to 42", smoke=5)
    shown: int = option(5, "positions of each policy and kind in the file of positions", smoke=2)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_int("matches", self.matches, 1, 1_000_000)
        check_int("depth", self.depth, 2, 42)
        check_int("shown", self.shown, 0, 1_000_000)


@dataclass
class Tally:
    """Counts of a policy in one game.

    Attributes:
        turns: turns it took.
        moves: turns with a move of its own.
        illegal: parsed but illegal replies.
        unstoppable: moves in positions without a sufficient block.
        undecided: moves that solved play cannot evaluate.
        cases: for each kind and each move with a chance: whether it was missed, and the number of the match.
        positions: the first positions with a missed chance.
    """

    turns: int = 0
    moves: int = 0
    illegal: int = 0
    unstoppable: int = 0
    undecided: int = 0
    cases: dict[Kind, list[tuple[bool, int]]] = field(default_factory=lambda: {kind: [] for kind in Kind})
    positions: dict[Kind, list[Position]] = field(default_factory=lambda: {kind: [] for kind in Kind})

    def possible(self, kind: Kind) -> int:
        """Returns the number of chances."""
        return len(self.cases[kind])

    def missed(self, kind: Kind) -> int:
        """Returns the number of missed chances."""
        return sum(hit for hit, _ in self.cases[kind])

    def rate(self, kind: Kind) -> Estimate | None:
        """Returns the share of missed chances in per cent, clustered by match."""
        return percent(bounded_mean([hit for hit, _ in self.cases[kind]], [match for _, match in self.cases[kind]]))


def plan(options: Options) -> dict[str, RunConfig]:
    """Returns a round robin with a fixed number of matches."""
    return {
        RUN: plan_run(
            options,
            [EnvironmentConfig(name=game, options={"language": options.language}) for game in GAMES],
            scripted=SCRIPTED,
            stop={"min_matches": options.matches, "max_matches": options.matches},
        )
    }


def measure(runs: Mapping[str, PlayedRun], options: Options) -> Result:
    """Returns the missed chances with their positions.

    Raises:
        RunError: if no match has ended, or a recorded match is invalid.
    """
    run = runs[RUN]
    tables: list[Table] = []
    figures: dict[str, Figure] = {}
    notes, texts = [], []
    for game, title in GAMES.items():
        if game not in run.environments():
            continue
        solved = SolvedTicTacToe() if game == "tictactoe_v0" else SolvedConnectFour(options.depth)
        tallies = count(run, game, solved, options.shown)
        void = sum(outcome.status == VOID for outcome in run.outcomes(game))
        if void:
            notes.append(f"{title}: {void} void {'match is' if void == 1 else 'matches are'} not counted")
        if not tallies:
            notes.append(f"{title}: no match has ended")
            continue
        tables += [at_hand(game, title, tallies), by_solved_play(game, title, tallies, options)]
        figures |= pictures(game, title, tallies)
        texts.append(listing(title, tallies, options.shown))
    if not tables:
        raise RunError(f"{run.directory}: expected matches of {' or '.join(GAMES)}, but none has ended yet")
    notes.append("the paper has no such table: nothing here is published")
    return Result(tables, figures, notes, {"positions.md": "\n\n".join(texts) + "\n"})


def count(run: PlayedRun, game: str, solved: Solved, shown: int) -> dict[str, Tally]:
    """Returns the counts of every policy, by name."""
    tallies = {policy: Tally() for policy in run.config.pool(game)}
    for record in run.records(game):
        for turn, view in positions(record):
            policy = record.match.policies[MARKS.index(view.mark)]
            tally = tallies.setdefault(policy, Tally())
            tally.turns += 1
            tally.illegal += sum(attempt.kind is Failure.ILLEGAL for attempt in turn.attempts)
            if turn.fallback:
                continue
            assert isinstance(turn.action, int)
            kind = add_move(tally, solved, view, turn.action, record.match.number)
            if kind and len(tally.positions[kind]) < shown:
                better = tuple(solved.cell(view.board, action) for action in better_moves(solved, view, kind))
                played = solved.cell(view.board, turn.action)
                tally.positions[kind].append(
                    Position(
                        policy,
                        record.match.id,
                        record.match.number,
                        turn.index,
                        view.mark,
                        view.board,
                        solved.columns,
                        played,
                        better,
                    )
                )
    return {policy: tally for policy, tally in tallies.items() if tally.turns}


def add_move(tally: Tally, solved: Solved, view: BoardView, action: int, match: int) -> Kind | None:
    """Counts a move, and returns the simplest kind of chance that it missed."""
    chances = solved.chances(view.board, view.mark)
    change = solved.change(view.board, view.mark, action)
    tally.moves += 1
    tally.unstoppable += chances.unstoppable
    tally.undecided += change.before is None
    found = {}
    if chances.wins:
        found[Kind.WIN] = action not in chances.wins
    if chances.block is not None:
        found[Kind.BLOCK] = action != chances.block
    if change.before == WON:
        found[Kind.GIVEN_AWAY] = change.gives_away
    if change.before != LOST:
        found[Kind.LOST] = change.loses
    for kind, missed in found.items():
        tally.cases[kind].append((missed, match))
    return next((kind for kind in Kind if found.get(kind)), None)


def better_moves(solved: Solved, view: BoardView, kind: Kind) -> list[int]:
    """Returns the actions that take the chance of a kind."""
    chances = solved.chances(view.board, view.mark)
    if kind is Kind.WIN:
        return list(chances.wins)
    if kind is Kind.BLOCK:
        return list(chances.threats)
    after = {action: solved.change(view.board, view.mark, action).after for action in view.legal}
    return [
        action for action in view.legal if (after[action] == WON if kind is Kind.GIVEN_AWAY else after[action] != LOST)
    ]


def at_hand(game: str, title: str, tallies: Mapping[str, Tally]) -> Table:
    """Returns the numbers of immediate wins and blocks, and of missed ones."""
    return Table.of(
        f"{game}-at-hand",
        f"{title}: wins and blocks at hand",
        [
            {
                Column("player"): policy,
                Column("turns", MEASURED): tally.turns,
                **_missed(tally, Kind.WIN, "wins at hand", "missed wins"),
                **_missed(tally, Kind.BLOCK, "blocks needed", "missed blocks"),
                Column("no block possible", MEASURED): tally.unstoppable,
                Column("illegal replies", MEASURED): tally.illegal,
                Column("turns without a move of its own", MEASURED): tally.turns - tally.moves,
            }
            for policy, tally in tallies.items()
        ],
        [
            "win at hand: a move completes a line; block needed: no win at hand, the opponent completes a line with its next move"
            " unless one cell is taken, and cannot do so elsewhere or above it then",
            "no block possible: whatever is played, the opponent completes a line with its next move; nothing is missed there",
            "illegal replies are no missed chances; nor are turns in which a move was made for the player, or it forfeited",
            "intervals of 95 % are clustered by match",
        ],
    )


def by_solved_play(game: str, title: str, tallies: Mapping[str, Tally], options: Options) -> Table:
    """Returns how often a move worsened the game-theoretic value of a position."""
    exact = ["solved to the end: won, drawn or lost with best play of both sides"]
    bounded = [
        f"looked ahead {options.depth} plies: a position is won or lost if that is proved within them, drawn if no more are left;"
        " undecided ones count as not lost",
        f"a win is given away if none is proved after the move, though it may come {SLOWER} plies later than the one that was"
        " seen; a still slower one would not be noticed",
    ]
    return Table.of(
        f"{game}-solved",
        f"{title}: moves against solved play",
        [
            {
                Column("player"): policy,
                Column("moves", MEASURED): tally.moves,
                **_missed(tally, Kind.GIVEN_AWAY, "in won positions", "wins given away"),
                **_missed(tally, Kind.LOST, "in positions not lost", "losing moves"),
                Column("in undecided positions", MEASURED): tally.undecided,
            }
            for policy, tally in tallies.items()
        ],
        [
            *(exact if game == "tictactoe_v0" else bounded),
            "a losing move is one after which the position is lost, while it was not before; one that gives away a win and loses"
            " the game at once counts as both",
        ],
    )


def _missed(tally: Tally, kind: Kind, possible: str, missed: str) -> Cells:
    return {
        Column(possible, MEASURED): tally.possible(kind),
        Column(missed, MEASURED): tally.missed(kind) if tally.possible(kind) else None,
        Column(f"{missed}, %", MEASURED, 1): tally.rate(kind),
    }


def pictures(game: str, title: str, tallies: Mapping[str, Tally]) -> "dict[str, Figure]":
    """Draws the rates with their intervals, and boards."""
    figures = {}
    for name, label, kinds in (
        ("at-hand", "missed, % of those at hand", {Kind.WIN: "wins", Kind.BLOCK: "blocks"}),
        (
            "solved",
            "% of moves that could have been one",
            {Kind.GIVEN_AWAY: "wins given away", Kind.LOST: "losing moves"},
        ),
    ):
        rates = {
            f"{policy}, {what}": tally.rate(kind) for policy, tally in tallies.items() for kind, what in kinds.items()
        }
        if any(rates.values()):
            figures[f"{game}-{name}"] = estimates(rates, f"{title}: {label}, with 95 % interval")
    boards = {
        f"{title}: {kind}": _in_turns([tally.positions[kind] for tally in tallies.values()])[:ABREAST] for kind in Kind
    }
    if any(boards.values()):
        figures[f"{game}-boards"] = draw({kind: row for kind, row in boards.items() if row})
    return figures


def _in_turns(lists: Sequence[Sequence[Position]]) -> list[Position]:
    """Interleaves lists: the first of every list, then the second of every list, and so on."""
    longest = max(map(len, lists), default=0)
    return [items[index] for index in range(longest) for items in lists if index < len(items)]


def listing(title: str, tallies: Mapping[str, Tally], shown: int) -> str:
    """Returns example positions as Markdown."""
    parts = [
        f"# {title}: what was missed",
        f"The first {shown} positions of each player and kind; one that is of several kinds stands under the first. The position"
        " is the one before the move: `-` is the cell that was played, `+` one that was better.",
    ]
    for kind in Kind:
        found = [position for tally in tallies.values() for position in tally.positions[kind]]
        if found:
            parts += [f"## {kind}", *map(to_text, found)]
    if len(parts) == 2:
        parts.append("Nothing was missed.")
    return "\n\n".join(parts)


def precision(options: Options) -> str:
    """Returns the planned number of cases."""
    return (
        f"n = {options.matches} matches or a few more of each policy in each of two games; how many chances arise in them is"
        f" only known afterwards. If one arises in every match, {rate_precision(options.matches)}"
    )


ROW = Row(
    title="wins and blocks that were at hand and missed at the board games, and moves against solved play",
    source="LLMArena, whose games are counted anew; no table of the paper",
    options=Options,
    plan=plan,
    measure=measure,
    precision=precision,
    any_manner=True,
    shows="It shows which mistakes lose the board games: a line that was not seen, or a plan that was not.",
    does_not_show=(
        "It does not compare players on the same positions: each is judged on those that it came to. At connect four it does not"
        " see further than it looks ahead."
    ),
)
