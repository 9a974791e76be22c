"""The SQLite store of a run: the log that everything else is computed from."""

import json
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from agents.records import Turn
from rating.errors import RunError
from rating.records.match import Match
from rating.records.outcome import Outcome
from rating.records.record import Record, dump_outcome, dump_turn, load_outcome, load_turn

APPLICATION_ID = 0x4C4D4172  # "LMAr" in the header of the file says that the database is one of ours
SCHEMA_VERSION = 1

_SCHEMA = """
CREATE TABLE fact (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE match (
    id TEXT PRIMARY KEY, environment TEXT NOT NULL, number INTEGER NOT NULL, policies TEXT NOT NULL, seed TEXT NOT NULL,
    options TEXT NOT NULL, status TEXT NOT NULL, tries INTEGER NOT NULL DEFAULT 0, outcome TEXT NOT NULL DEFAULT '',
    digest TEXT NOT NULL DEFAULT '', error TEXT NOT NULL DEFAULT '', UNIQUE (environment, number)
);
CREATE TABLE turn (
    match TEXT NOT NULL REFERENCES match (id), number INTEGER NOT NULL, payload TEXT NOT NULL, PRIMARY KEY (match, number)
) WITHOUT ROWID;
"""


class Store:
    """A run's database. Every write is a transaction of its own: what was written survives ``kill -9``.

    Where nothing may be written, e.g. in an archive, a run that ended cleanly can still be read.

    Args:
        path: the file.
        create: whether to make a new one; otherwise it must exist.

    Raises:
        RunError: if the file exists and should not, does not exist and should, is no database of this suite, is damaged, or
            was written by a newer version. It is left as it is.
    """

    def __init__(self, path: Path, *, create: bool = False) -> None:
        if create == path.exists():
            state = "is there already" if create else "does not exist"
            raise RunError(f"{path}: expected {'no file' if create else 'the database of a run'}, but it {state}")
        self.path = path
        self._db = _connect(path)
        try:
            if create:
                self._db.execute("PRAGMA journal_mode = WAL")
                self._db.executescript(
                    f"BEGIN; {_SCHEMA} PRAGMA application_id = {APPLICATION_ID};"
                    f" PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;"
                )
            else:
                self._check()
            self._db.execute("PRAGMA synchronous = NORMAL")
        except sqlite3.DatabaseError as error:
            self._db.close()
            raise RunError(f"{path}: expected the database of a run, but SQLite says: {error}") from error
        except RunError:
            self._db.close()
            raise

    def _check(self) -> None:
        (application,) = self._db.execute("PRAGMA application_id").fetchone()
        (version,) = self._db.execute("PRAGMA user_version").fetchone()
        if application != APPLICATION_ID:
            raise RunError(f"{self.path}: this database was not written by llmarena; nothing in it was changed")
        if version > SCHEMA_VERSION:
            raise RunError(
                f"{self.path}: expected schema version {SCHEMA_VERSION} or older, got {version}: it was written by a newer"
                " version of llmarena-envs; install that version to read it"
            )
        (verdict,) = self._db.execute("PRAGMA quick_check(1)").fetchone()
        if verdict != "ok":
            what = " ".join(verdict.split())
            raise RunError(f"{self.path}: the database is damaged ({what}); nothing in it was changed")

    def close(self) -> None:
        """Closes the file."""
        self._db.close()

    def set_fact(self, name: str, value: str) -> None:
        """Keeps a fact about the run, e.g. versions or which stop rule fired."""
        self._db.execute("INSERT OR REPLACE INTO fact VALUES (?, ?)", (name, value))

    def facts(self) -> dict[str, str]:
        """Returns every fact by name."""
        return dict(self._db.execute("SELECT name, value FROM fact ORDER BY name"))

    def add_match(self, match: Match) -> None:
        """Enters a match to be played; one that is known already is left alone.

        Raises:
            RunError: if another match has its number: the run file has been changed.
        """
        policies, options = json.dumps(match.policies), json.dumps(match.options, sort_keys=True)
        try:
            self._db.execute(
                "INSERT INTO match (id, environment, number, policies, seed, options, status)"
                " VALUES (?, ?, ?, ?, ?, ?, 'unfinished') ON CONFLICT (id) DO NOTHING",
                (match.id, match.environment, match.number, policies, str(match.seed), options),
            )
        except sqlite3.IntegrityError as error:
            raise RunError(
                f"{self.path}: match {match.number} of {match.environment} was recorded with another seed, other policies"
                " or other options: the run file has been changed since; put it back, or begin a new run"
            ) from error

    def add_turn(self, match: Match, turn: Turn) -> None:
        """Enters a turn; when this returns it is safe."""
        self._db.execute("INSERT INTO turn VALUES (?, ?, ?)", (match.id, turn.index, dump_turn(turn)))

    def finish(self, match: Match, outcome: Outcome, *, digest: str = "", error: str = "") -> None:
        """Enters what a try of a match came to."""
        self._db.execute(
            "UPDATE match SET tries = tries + 1, status = ?, outcome = ?, digest = ?, error = ? WHERE id = ?",
            (outcome.status, dump_outcome(outcome), digest, error, match.id),
        )

    def turns(self, match: Match) -> tuple[Turn, ...]:
        """Returns the turns of a match so far."""
        rows = self._db.execute("SELECT payload FROM turn WHERE match = ? ORDER BY number", (match.id,))
        return tuple(load_turn(payload) for (payload,) in rows)

    def outcome(self, match: Match) -> Outcome | None:
        """Returns what a match came to, or ``None`` if it is unknown or unfinished."""
        row = self._db.execute("SELECT outcome FROM match WHERE id = ?", (match.id,)).fetchone()
        return load_outcome(row[0]) if row and row[0] else None

    def outcomes(self) -> list[Outcome]:
        """Returns every outcome, void ones included, by environment and number."""
        rows = self._db.execute("SELECT outcome FROM match WHERE outcome != '' ORDER BY environment, number")
        return [load_outcome(outcome) for (outcome,) in rows]

    def records(self, match_id: str = "") -> Iterator[Record]:
        """Yields the record of every match, or of those whose id begins with ``match_id``."""
        rows = self._db.execute(
            "SELECT environment, number, policies, seed, options, outcome, digest, tries, error FROM match"
            " WHERE substr(id, 1, ?) = ? ORDER BY environment, number",
            (len(match_id), match_id),
        ).fetchall()
        for environment, number, policies, seed, options, outcome, digest, tries, error in rows:
            match = Match(environment, number, tuple(json.loads(policies)), int(seed), json.loads(options))
            known = load_outcome(outcome) if outcome else None
            yield Record(match, known, self.turns(match), digest, tries, error)

    def count(self, status: str, environment: str) -> int:
        """Returns the number of matches of an environment with a status."""
        rows = self._db.execute(
            "SELECT count(*) FROM match WHERE status = ? AND environment = ?", (status, environment)
        )
        return int(rows.fetchone()[0])


def _connect(path: Path) -> sqlite3.Connection:
    where = path.absolute().as_uri()
    writable = os.access(path.parent, os.W_OK) and (os.access(path, os.W_OK) or not path.exists())
    if not writable and not path.with_name(f"{path.name}-wal").exists():
        where += "?immutable=1"  # otherwise SQLite wants to make a file beside it even for reading
    return sqlite3.connect(where, uri=True, timeout=30, isolation_level=None)
