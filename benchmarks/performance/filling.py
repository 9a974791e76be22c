"""Stores of long runs, made in seconds: the matches of a schedule, each of which goes like one of a few that were played."""

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from agents.play import play
from agents.records import Episode
from agents.registry import make_policy
from llmarena_envs.catalogue import make_environment
from rating.play import run_directory
from rating.play.run import Run
from rating.schedules.batches import Stop
from rating.store import location
from rating.store.address import Address
from rating.store.records import Match, Outcome, outcome_of
from rating.store.store import Store

ENVIRONMENT = "tictactoe_v0"
POLICIES = ("random", "first_legal", "greedy", "minimax")

_TABLES = {
    "match": "id environment number policies seed options status tries turns seats digest error seal",
    "transcript": "match turns",
    "dictionary": "environment data",
}
"""What a run consists of whose matches have all ended, besides its facts."""


def run_file(matches: int) -> str:
    """Returns the run file of a run of so many matches, or a few more, since batches are finished."""
    each = -(-2 * matches // len(POLICIES))
    policies = "".join(f'[[policy]]\nspec = "{name}"\n' for name in POLICIES)
    stop = f'[stop]\nrule = "trueskill"\nmin_matches = {each}\nmax_matches = {each}\n'
    return f'seed = 1\nschedule = "round_robin"\n{stop}[[environment]]\nname = "{ENVIRONMENT}"\n{policies}'


class Copies:
    """Matches that go like one that was really played, once for each way to sit at the table.

    Args:
        options: of the environment.
    """

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._env = make_environment(ENVIRONMENT, options)
        self._agents = list(self._env.possible_agents)
        self._episodes: dict[tuple[str, ...], Episode] = {}

    def of(self, match: Match) -> tuple[Outcome, Episode]:
        """Returns the outcome and the episode of a match."""
        if match.policies not in self._episodes:
            seats = zip(self._agents, match.policies, strict=True)
            players = {agent: make_policy(name, ENVIRONMENT) for agent, name in seats}
            self._episodes[match.policies] = play(self._env, players, seed=match.seed)
        episode = self._episodes[match.policies]
        return outcome_of(match, self._agents, episode), episode


def fill(store: Store, run: Run, matches: int) -> None:
    """Enters the first matches of the schedule of a run.

    Args:
        store: of the run, in which nothing was played.
        run: the run.
        matches: how many.
    """
    copies = Copies(run.config.options(ENVIRONMENT))
    schedule, left = run.scheme(ENVIRONMENT).schedule(), matches
    while left and not isinstance(batch := schedule.next_batch(), Stop):
        store.add_matches(batch[:left])
        for match in batch[:left]:
            outcome, episode = copies.of(match)
            store.finish(match, outcome, digest=episode.digest, turns=episode.turns)
        left -= len(batch[:left])
        schedule.add([])


def make_filled(directory: Path, matches: int, more: int) -> None:
    """Makes the directory of a run of which the first ``matches`` have been entered and ``more`` are still to be played."""
    run, store = run_directory.create(directory, run_file(matches + more), "the run of the benchmark")
    with closing(store):
        fill(store, run, matches)


def copy_to_server(filled: Path, directory: Path, address: Address) -> None:
    """Makes the directory of a run in PostgreSQL out of one in SQLite, as fast as PostgreSQL takes it.

    Args:
        filled: directory of a run all of whose matches have ended.
        directory: a new one.
        address: where in PostgreSQL.
    """
    text = run_directory.read_run_file(filled)
    _, store = run_directory.create(directory, text, "the run of the benchmark", address=address)
    store.close()
    _copy(filled / location.DATABASE, address)


def _copy(database: Path, address: Address) -> None:
    import psycopg  # an extra

    with psycopg.connect(**address.arguments()) as connection, closing(sqlite3.connect(database)) as original:
        for table, columns in _TABLES.items():
            names = ", ".join(columns.split())
            with connection.cursor().copy(f'COPY "{address.schema}".{table} ({names}) FROM STDIN') as copy:
                for row in original.execute(f"SELECT {names} FROM {table}"):
                    copy.write_row(row)
            connection.execute(f'ANALYZE "{address.schema}".{table}')
