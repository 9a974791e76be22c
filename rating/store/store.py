"""The store of a run: writes the record that all results are computed from."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import NamedTuple, TypeVar

from agents.records import Turn, encodable
from rating.errors import RunError, StoreError
from rating.store import audit, seal
from rating.store.calls import CallLog, Calls
from rating.store.match import Match
from rating.store.outcome import FINAL, VOID, Outcome
from rating.store.packing import LARGEST, make_dictionary, pack, pack_lines
from rating.store.record import (
    UNFINISHED,
    Record,
    dump_match,
    dump_seats,
    dump_turn,
    load_outcome,
)
from rating.store.recorded import Recorded
from rating.store.sql import Row, Sql, repeated

_NEXT_TURN = (
    "INSERT INTO turn SELECT ?, ?, ?, ? WHERE EXISTS (SELECT 1 FROM turn WHERE match = ? AND number = ? AND seal = ?)"
    " ON CONFLICT DO NOTHING"
)
"""Inserts a turn only if the previous turn exists: a failover can lose the previous turn."""

T = TypeVar("T")


class _Journal(NamedTuple):
    """Recorded turns of a match in progress."""

    turns: int
    seal: str


class _Link(NamedTuple):
    """A serialized turn; its seal covers all turns up to it."""

    number: int
    payload: str
    seal: str


class Store(Recorded):
    """Read and write access to the record of a run. Each write is one transaction and survives ``kill -9``.

    Args:
        db: database of the run; closed with the store.
        is_new: whether the run is still empty.
    """

    def __init__(self, db: Sql, *, is_new: bool = False) -> None:
        super().__init__(db)
        self._sealed = not is_new
        self._journals: dict[str, _Journal] = {}

    def calls(self) -> Calls:
        """Returns a reader of the log of calls."""
        return Calls(self._db)

    def call_log(self) -> CallLog:
        """Returns a writer of the log of calls; the caller must hold the lock of the run."""
        return CallLog(self._db)

    def close(self) -> None:
        """Seals the run if it changed, then closes the store."""
        try:
            if not self._sealed:
                self.seal()
        finally:
            self._db.close()

    def lock(self) -> None:
        """Locks the run against other processes that play it, until the store is closed.

        Raises:
            RunError: if another process plays it.
        """
        self._db.lock()

    def set_fact(self, name: str, value: str) -> None:
        """Stores a fact about the run, e.g. versions or the stopping rule that fired."""
        if self._db.row("SELECT 1 FROM fact WHERE name = ? AND value = ?", name, value):
            return
        self._write(lambda: self._set_fact(name, value))

    def add_match(self, match: Match) -> None:
        """Adds a match to play; does nothing if it exists.

        Raises:
            RunError: if another match has its number because the run file was changed.
        """
        self.add_matches([match])

    def add_matches(self, matches: Sequence[Match]) -> dict[str, Outcome]:
        """Adds matches to play in one transaction; skips existing ones.

        Args:
            matches: matches of one environment with consecutive numbers.

        Returns:
            Outcomes of the matches that have ended, by id.

        Raises:
            RunError: if another match has one of the numbers because the run file was changed.
        """
        numbers = [match.number for match in matches]
        rows = self._db.all(
            "SELECT id, number, seed, status, seats FROM match WHERE environment = ? AND number BETWEEN ? AND ?",
            *(matches[0].environment, min(numbers), max(numbers)),
        )
        known = {identity: tuple(state) for identity, *state in rows}
        new = [match for match in matches if match.id not in known]

        def write() -> None:
            for match in new:
                self._add(match)

        if new:
            self._write(write, is_one=len(new) == 1)
        ended: dict[str, Outcome] = {}
        for match in matches:
            if match.id in known:
                number, seed, status, seats = known[match.id]
                outcome = load_outcome(match.environment, number, seed, status, seats, len(match.policies))
                if outcome is not None:
                    ended[match.id] = outcome
        return ended

    def _add(self, match: Match) -> None:
        identity = dump_match(match)
        state = (UNFINISHED, 0, 0, "", "", "")
        sealed = seal.of_match(seal.of_identity(*identity), *state, b"")
        is_new = self._db.execute(
            "INSERT INTO match VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            *(*identity, *state, sealed),
        )
        if not is_new and not self._db.row("SELECT 1 FROM match WHERE id = ?", match.id):
            raise RunError(
                f"{self.name}: match {match.number} of {match.environment} was recorded with another seed, other policies"
                " or other options: the run file has been changed since; put it back, or begin a new run"
            )

    def add_turn(self, match: Match, turn: Turn) -> None:
        """Adds a turn; on return it survives the end of the process.

        Raises:
            StoreError: if it cannot be written, another turn has its number, or an earlier turn is lost.
        """
        self.add_turns(match, (turn,))

    def add_turns(self, match: Match, turns: Sequence[Turn]) -> None:
        """Adds consecutive turns in one transaction; see ``add_turn``."""
        journal = self._journal(match)
        links = _links(journal.seal, turns)
        self._write(lambda: self._insert(match, journal, links), is_one=len(links) == 1)
        self._journals[match.id] = _after(journal, links)

    def finish(
        self,
        match: Match,
        outcome: Outcome,
        *,
        digest: str = "",
        error: str = "",
        is_try: bool = True,
        turns: Sequence[Turn] = (),
    ) -> None:
        """Records the outcome of an attempt at a match; the match is complete unless it is void.

        Args:
            match: the match.
            outcome: its outcome.
            digest: digest of the match.
            error: reason if it is void.
            is_try: whether the match was started.
            turns: its last turns that were not added yet.

        Raises:
            StoreError: if it cannot be written, the match has already ended, or some of its turns are lost.
        """
        tries, status = self._known(match, "tries, status")
        if status in FINAL:
            raise StoreError(f"{self.name}: match {match.id} has ended already: {status}")
        self._finish(match, outcome, tries + is_try, digest, error, turns)

    def enter(self, record: Record) -> None:
        """Adds the record of a match from another store."""
        match = record.match

        def write() -> None:
            self.add_match(match)
            if record.outcome is None:
                self.add_turns(match, record.turns)
            else:
                self._finish(match, record.outcome, record.tries, record.digest, record.error, record.turns)

        self._write(write)

    def seal(self) -> str:
        """Seals the run and returns its seal; linear in the number of matches.

        The next write removes the seal. A killed run has no seal until it is resumed.
        """
        if self._sealed and (known := self.sealed):
            return known

        def write() -> str:
            parts = audit.seal_contents(self._db)
            head = seal.head(parts)
            self._set_fact(audit.SEAL, audit.dump_seal(head, parts))
            return head

        head = self._write(write)
        self._sealed = True
        return head

    def _write(self, write: Callable[[], T], *, is_one: bool = False) -> T:
        """Calls ``write`` in one transaction and removes the seal of the run.

        Args:
            write: an idempotent function; it is called again if the connection is lost before the commit is confirmed.
            is_one: whether it executes a single statement, which needs no explicit transaction.
        """
        if self._db.in_transaction:
            return write()

        def write_as_one() -> T:
            try:
                with self._db.transaction() if not is_one or self._sealed else nullcontext():
                    if self._sealed:
                        self._db.execute("DELETE FROM fact WHERE name = ?", audit.SEAL)
                    result = write()
            except BaseException:
                self._journals.clear()
                self._dictionaries.clear()
                raise
            self._sealed = False
            return result

        return repeated(write_as_one)

    def _set_fact(self, name: str, value: str) -> None:
        self._db.execute(
            "INSERT INTO fact VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value", name, value
        )

    def _insert(self, match: Match, journal: _Journal, links: Sequence[_Link]) -> None:
        """Inserts turns into the journal of a match, if the previous turns exist."""
        before = journal
        for link in links:
            values: Row = (match.id, *link)
            statement = "INSERT INTO turn VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
            if before.turns:
                statement, values = _NEXT_TURN, (*values, match.id, before.turns - 1, before.seal)
            if not self._db.execute(statement, *values):
                row = self._db.row("SELECT seal FROM turn WHERE match = ? AND number = ?", match.id, link.number)
                if row is None:
                    raise self._lost_turns(match)
                if row != (link.seal,):
                    raise self._entered_already(match, link.number)
            before = _Journal(before.turns + 1, link.seal)

    def _entered_already(self, match: Match, number: int) -> StoreError:
        return StoreError(f"{self.name}: turn {number} of match {match.id} was entered already")

    def _finish(
        self,
        match: Match,
        outcome: Outcome,
        tries: int,
        digest: str,
        error: str,
        turns: Sequence[Turn],
    ) -> None:
        journal = self._journal(match)
        links = _links(journal.seal, turns)
        end = _after(journal, links)
        state = (outcome.status, tries, end.turns, dump_seats(outcome.seats), digest, encodable(error))

        def write() -> None:
            # A transaction reported as lost can have moved the turns to the transcript.
            is_as_known = not journal.turns or self._read_journal(match) in (journal, end)
            if not is_as_known and not self._db.row("SELECT 1 FROM transcript WHERE match = ?", match.id):
                raise self._lost_turns(match)
            if outcome.status == VOID:
                self._insert(match, journal, links)
                transcript = b""
            else:
                transcript = self._pack(match, journal, links)
            self._db.execute(
                "UPDATE match SET status = ?, tries = ?, turns = ?, seats = ?, digest = ?, error = ?, seal = ? WHERE id = ?",
                *state,
                seal.of_match(end.seal, *state, transcript),
                match.id,
            )

        self._write(write)
        self._journals.pop(match.id, None)

    def _known(self, match: Match, columns: str) -> Row:
        row = self._db.row(f"SELECT {columns} FROM match WHERE id = ?", match.id)
        if row is None:
            raise StoreError(f"{self.name}: match {match.id} was never entered")
        return row

    def _journal(self, match: Match) -> _Journal:
        """Returns the recorded turns of a match, cached after the first read."""
        known = self._journals.get(match.id)
        if known is None:
            known = self._journals[match.id] = self._read_journal(match)
        return known

    def _read_journal(self, match: Match) -> _Journal:
        row = self._db.row("SELECT number + 1, seal FROM turn WHERE match = ? ORDER BY number DESC LIMIT 1", match.id)
        return _Journal(*row) if row else _Journal(0, seal.of_identity(*dump_match(match)))

    def _lost_turns(self, match: Match) -> StoreError:
        return StoreError(
            f"{self.name}: match {match.id}: turns that were written are not there any more, as after a server took over from"
            " another that had not told it of them: begin the command again, and the match goes on from those that are there"
        )

    def _pack(self, match: Match, journal: _Journal, links: Sequence[_Link]) -> bytes:
        """Moves the journal of a match into its transcript and returns the transcript; an existing one is not changed.

        Turns larger than ``LARGEST`` together stay in the journal without a transcript.

        Args:
            match: the match.
            journal: the recorded turns.
            links: the turns after the recorded ones.
        """
        lines = self._lines(match.id, match.environment, None) if journal.turns else []
        lines += [link.payload for link in links]
        if sum(len(line.encode()) + 1 for line in lines) > LARGEST:
            self._insert(match, journal, links)
            return b""
        if lines:
            dictionary = self._dictionary(match.environment) or self._new_dictionary(match, lines)
            transcript = pack_lines(lines, dictionary)
            is_new = self._db.execute(
                "INSERT INTO transcript VALUES (?, ?) ON CONFLICT DO NOTHING", match.id, transcript
            )
            moved = self._db.execute("DELETE FROM turn WHERE match = ?", match.id)
            if is_new and moved != journal.turns:
                raise self._entered_already(match, journal.turns)
            if is_new:
                return transcript
        row = self._db.row("SELECT turns FROM transcript WHERE match = ?", match.id)
        return row[0] if row else b""

    def _new_dictionary(self, match: Match, lines: list[str]) -> bytes:
        """Creates the dictionary of an environment from a match, and returns an empty dictionary to pack this match.

        The dictionary, which later matches depend on, can therefore be rebuilt from this match.
        """
        made = make_dictionary(lines)
        self._db.execute("INSERT INTO dictionary VALUES (?, ?)", match.environment, pack(made))
        self._dictionaries[match.environment] = made
        return b""


def _links(sealed: str, turns: Sequence[Turn]) -> list[_Link]:
    """Returns serialized turns, chained to the seal ``sealed``."""
    links = []
    for turn in turns:
        payload = dump_turn(turn)
        sealed = seal.link(sealed, payload)
        links.append(_Link(turn.index, payload, sealed))
    return links


def _after(journal: _Journal, links: Sequence[_Link]) -> _Journal:
    return _Journal(journal.turns + len(links), links[-1].seal) if links else journal
