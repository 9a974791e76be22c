"""Shared code of the rows on whole leaderboards: the paper's names of games, leaderboards, and reasons for stopping."""

from collections.abc import Mapping

from benchmarks.experiments.runs import PlayedRun
from benchmarks.experiments.tables import MEASURED, Cell, Column, Table
from rating.config.run_tables import StopConfig
from rating.errors import RunError
from rating.schemes.leaderboard import Leaderboard, LeaderboardRow
from rating.stats.estimates import Estimate

GAMES = {
    "tictactoe_v0": "tic-tac-toe",
    "connect_four_v0": "connect four",
    "holdem_v0": "hold'em",
    "bid_v0": "bid",
    "bargain_v0": "bargain",
    "undercover_v0": "undercover",
    "hanabi_v0": "hanabi",
}
"""The paper's name of each game, in the order of its Tables 1 and 4."""

PLAYED = "games"
"""Name of the run of rows with a single run: the same for all, hence a row can be computed from the run of another."""


def game_options(game: str, language: str, hands: int = 1) -> dict[str, object]:
    """Returns the options of an environment; ``hands`` is the number of hands per match of hold'em."""
    return {"language": language, **({"hands": hands} if game == "holdem_v0" else {})}


def leaderboards(run: PlayedRun) -> dict[str, Leaderboard]:
    """Returns the leaderboard of every started game of the paper in the run.

    Raises:
        RunError: if there is no leaderboard.
    """
    held = [game for game in GAMES if game in run.environments()]
    boards = {game: run.leaderboard(game) for game in held if run.outcomes(game)}
    if not boards:
        raise RunError(f"{run.directory}: expected finished matches of {' or '.join(GAMES)}, but there are none")
    return boards


def stop_table(run: PlayedRun, boards: Mapping[str, Leaderboard]) -> Table:
    """Returns the reason why each game stopped, and its number of matches."""
    rows: list[list[Cell]] = []
    for game, board in boards.items():
        played = [row.effort.matches for row in board.rows]
        rows.append(
            [
                GAMES[game],
                board.stop_reason or "not stopped yet",
                board.matches,
                board.void_matches,
                board.bug_matches,
                min(played),
                max(played),
            ]
        )
    counts = ("matches", "void matches", "matches with a bug", "fewest of a player", "most of a player")
    meanings = _meanings(run.config.stop)
    return Table(
        "stops",
        "why each game stopped",
        [Column("game"), Column("reason"), *(Column(title, MEASURED) for title in counts)],
        rows,
        [
            *(f"{reason}: {meanings[reason]}" for reason in meanings if any(row[1] == reason for row in rows)),
            "what was under way when the reason arose was played to its end, and counts",
            f"bad replies: preset {run.config.preset}",
        ],
    )


def _meanings(stop: StopConfig) -> dict[str, str]:
    least = stop.stopping().rule.least
    return {
        "mu_stable": (
            f"every player had {least} matches, and no mu had changed by {stop.eps} or more over a player's last {stop.window}"
        ),
        "sigma": f"every player had {least} matches and a sigma below {stop.sigma}",
        "count": f"every player had {stop.matches} matches of the kind that counts",
        "cap": f"a player was scheduled {stop.max_matches} times or more before there was another reason",
    }


def bradley_terry_cell(row: LeaderboardRow) -> Estimate | None:
    """Returns the Bradley-Terry rating of a policy with its interval; the cases are its matches."""
    if row.rating is None or row.tally is None:
        return None
    return Estimate(*row.rating[:3], row.tally.n, row.tally.n)


def bradley_terry_notes(boards: Mapping[str, Leaderboard]) -> list[str]:
    """Returns notes on games whose results alone do not determine the ratings."""
    return [
        f"{GAMES[game]}: not every policy has beaten or tied every other through a chain of others, so how far"
        " Bradley-Terry ratings are apart depends on the prior"
        for game, board in boards.items()
        if board.is_rated and board.matches and not board.facts["is_connected"]
    ]
