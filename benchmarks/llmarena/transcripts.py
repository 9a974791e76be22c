"""Transcripts: matches of all seven games to read (LLMArena, arXiv 2402.16499, Figure 1).

A game with two players is played by every pair of policies on both seats; at undercover and Hanabi every policy sits on all
seats, as in the paper for Hanabi. The transcripts include every policy at least once.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.experiments.case_studies import plan_examples, write_out
from benchmarks.experiments.row import Result, Row, RowOptions
from benchmarks.experiments.runs import PlayedRun
from benchmarks.llmarena.ladder import GAMES, PLAYED, game_options
from benchmarks.options import option
from rating.config.run_file import RunConfig
from rating.config.run_tables import EnvironmentConfig

SCRIPTED = {
    "tictactoe_v0": ("greedy", "minimax"),
    "connect_four_v0": ("greedy", "minimax"),
    "holdem_v0": ("tight", "strength=strength:samples=200"),
    "bid_v0": ("random", "half"),
    "bargain_v0": ("fair", "concession"),
    "undercover_v0": ("similarity",),
    "hanabi_v0": ("convention",),
}
TOGETHER = {game: 2 for game in GAMES if game not in ("undercover_v0", "hanabi_v0")}
"""Minimum number of policies for matches among them; in the other games a policy sits on all seats."""


@dataclass(frozen=True, kw_only=True)
class Options(RowOptions):
    """Options of the row."""

    matches: int = option(1, "matches of each policy and game to write, at least")
    hands: int = option(3, "hands of a match of hold'em")


def plan(options: Options) -> dict[str, RunConfig]:
    """Returns a run with at least one match of every policy."""
    games = [
        EnvironmentConfig(name=game, options=game_options(game, options.language, options.hands)) for game in GAMES
    ]
    return {PLAYED: plan_examples(options, games, options.matches, SCRIPTED, TOGETHER)}


def measure(runs: Mapping[str, PlayedRun], options: Options) -> Result:
    """Returns the transcripts, a list of them, and the report page of all matches."""
    return write_out(runs[PLAYED], GAMES, options.matches, "Transcripts of LLMArena's games")


def precision(options: Options) -> str:
    """Returns the planned number of cases."""
    return f"n = {options.matches} of each policy and game: examples, from which no rate follows"


ROW = Row(
    title="transcripts of all seven games, and a page on which to look at every match",
    source="LLMArena, Figure 1",
    options=Options,
    plan=plan,
    measure=measure,
    precision=precision,
    shows=(
        "It shows what a player is told, what it replies, what is played and what it earns, turn by turn. With --run it takes any"
        " run of these games."
    ),
    does_not_show="It does not show how good anybody is: a match or two are no sample.",
    any_manner=True,
)
