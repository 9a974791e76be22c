"""The store of a run: writes the record that all results are computed from."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import NamedTuple, TypeVar

from sqlalchemy import bindparam, delete, insert, select, update

from agents.records import Turn, encodable
from rating.errors import RunError, StoreError
from rating.store import schema
from rating.store.call_log import CallLog, Calls
from rating.store.digest import SEAL, dump_seal, link, seal_of_identity, seal_of_match, seal_of_run, seal_parts
from rating.store.engine import Database, repeated
from rating.store.packing import LARGEST, make_dictionary, pack, pack_lines
from rating.store.reader import Reader
from rating.store.records import (
    FINAL,
    UNFINISHED,
    VOID,
    Match,
    Outcome,
    dump_match,
    dump_seats,
    dump_turn,
    load_outcome,
)

_match, _turn, _fact, _transcript = schema.match, schema.turn, schema.fact, schema.transcript

_STATE = (
    select(_match.c.tries, _match.c.status, _turn.c.number + 1, _turn.c.seal)
    .select_from(_match.outerjoin(_turn, _turn.c.match == _match.c.id))
    .where(_match.c.id == bindparam("match"))
    .order_by(_turn.c.number.desc())
    .limit(1)
)
_SEAL_OF_TURN = select(_turn.c.seal).where(_turn.c.match == bindparam("match"), _turn.c.number == bindparam("number"))
_DELETE_TURNS = delete(_turn).where(_turn.c.match == bindparam("match"))
_OF_ATTEMPT = ("status", "tries", "turns", "seats", "digest", "error")
"""Columns of ``match`` that describe its attempts."""
_END = (
    update(_match)
    .where(_match.c.id == bindparam("match"))
    .values({name: bindparam(name) for name in (*_OF_ATTEMPT, "seal")})
)
_DELETE_FACT = delete(_fact).where(_fact.c.name == bindparam("fact"))

T = TypeVar("T")


class _State(NamedTuple):
    """The recorded state of a match that has not ended.

    Attributes:
        tries: number of attempts.
        turns: number of recorded turns.
        seal: seal of the last turn, or of the identity of the match.
    """

    tries: int
    turns: int
    seal: str


class _Link(NamedTuple):
    """A serialized turn; its seal covers all turns up to it."""

    number: int
    payload: str
    seal: str


class Store(Reader):
    """Read and write access to the record of a run. Each write is one transaction and survives ``kill -9``.

    Args:
        db: database of the run; closed with the store.
        is_new: whether the run is still empty.
    """

    def __init__(self, db: Database, *, is_new: bool = False) -> None:
        super().__init__(db)
        self._sealed = not is_new
        self._states: dict[str, _State] = {}

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
        if self._db.row(select(_fact.c.value).where(_fact.c.name == name, _fact.c.value == value)):
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
        columns = (_match.c.id, _match.c.number, _match.c.seed, _match.c.status, _match.c.seats)
        query = select(*columns).where(
            _match.c.environment == matches[0].environment, _match.c.number.between(min(numbers), max(numbers))
        )
        known = {row[0]: row[1:] for row in self._db.all(query)}
        new = {match.id: match for match in matches if match.id not in known}
        if new:
            self._write(lambda: self._add([*new.values()]), is_one=len(new) == 1)
        ended: dict[str, Outcome] = {}
        for match in matches:
            if match.id in known:
                number, seed, status, seats = known[match.id]
                outcome = load_outcome(match.environment, number, seed, status, seats, len(match.policies))
                if outcome is not None:
                    ended[match.id] = outcome
        return ended

    def _add(self, matches: Sequence[Match]) -> None:
        rows = []
        states = {}
        for match in matches:
            identity = dump_match(match)
            first = seal_of_identity(*identity)
            state = (UNFINISHED, 0, 0, "", "", "")
            values = (*identity, *state, seal_of_match(first, *state, b""))
            rows.append(dict(zip(_match.c.keys(), values, strict=True)))
            states[match.id] = _State(0, 0, first)
        if self._db.insert_new(_match, rows) == len(rows):
            self._states |= states
            return
        for match in matches:
            if not self._db.row(_STATE, {"match": match.id}):
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
        state = self._state(match)
        links = _links(state.seal, turns)
        self._write(lambda: self._insert(match, state, links), is_one=len(links) == 1)
        self._states[match.id] = _after(state, links)

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
        state = self._state(match)
        links = _links(state.seal, turns)
        end = _after(state, links)
        columns = (outcome.status, state.tries + is_try, end.turns, dump_seats(outcome.seats), digest, encodable(error))

        def write() -> None:
            # A transaction reported as lost can have moved the turns to the transcript.
            last = (state.turns - 1, state.seal), (end.turns - 1, end.seal)
            if (
                state.turns
                and all(self._seal_of_turn(match, number) != known for number, known in last)
                and self._transcript(match) is None
            ):
                raise self._lost_turns(match)
            if outcome.status == VOID:
                self._insert(match, state, links)
                transcript = b""
            else:
                transcript = self._pack(match, state, links)
            sealed = seal_of_match(end.seal, *columns, transcript)
            self._db.execute(_END, {"match": match.id, **dict(zip(_OF_ATTEMPT, columns, strict=True)), "seal": sealed})

        self._write(write)
        self._states.pop(match.id, None)

    def seal(self) -> str:
        """Seals the run and returns its seal; linear in the number of matches.

        The next write removes the seal. A killed run has no seal until it is resumed.
        """
        if self._sealed and (known := self.sealed):
            return known

        def write() -> str:
            parts = seal_parts(self._db)
            head = seal_of_run(parts)
            self._set_fact(SEAL, dump_seal(head, parts))
            return head

        head = self._write(write)
        self._sealed = True
        return head

    def _write(self, write: Callable[[], T], *, is_one: bool = False) -> T:
        """Calls ``write`` in one transaction and removes the seal of the run.

        Args:
            write: an idempotent function; it is called again if the connection is lost before the commit is confirmed.
            is_one: whether it writes with a single statement, which needs no explicit transaction.
        """
        if self._db.in_transaction:
            return write()

        def write_as_one() -> T:
            try:
                with self._db.transaction() if not is_one or self._sealed else nullcontext():
                    if self._sealed:
                        self._db.execute(_DELETE_FACT, {"fact": SEAL})
                    result = write()
            except BaseException:
                self._states.clear()
                self._dictionaries.clear()
                raise
            self._sealed = False
            return result

        return repeated(write_as_one)

    def _set_fact(self, name: str, value: str) -> None:
        self._db.execute(_DELETE_FACT, {"fact": name})
        self._db.execute(insert(_fact), {"name": name, "value": value})

    def _insert(self, match: Match, state: _State, links: Sequence[_Link]) -> None:
        """Inserts turns into the journal of a match, if the previous turn exists: a failover can lose it."""
        if not links:
            return
        if state.turns and self._seal_of_turn(match, state.turns - 1) != state.seal:
            raise self._lost_turns(match)
        rows = [{"match": match.id, **link._asdict()} for link in links]
        if self._db.insert_new(_turn, rows) != len(rows):
            for link in links:  # an insertion reported as lost can have succeeded
                if self._seal_of_turn(match, link.number) != link.seal:
                    raise self._entered_already(match, link.number)

    def _seal_of_turn(self, match: Match, number: int) -> str | None:
        row = self._db.row(_SEAL_OF_TURN, {"match": match.id, "number": number})
        return row[0] if row else None

    def _entered_already(self, match: Match, number: int) -> StoreError:
        return StoreError(f"{self.name}: turn {number} of match {match.id} was entered already")

    def _state(self, match: Match) -> _State:
        """Returns the recorded state of a match, cached after the first read.

        Raises:
            StoreError: if the match is unknown or has ended.
        """
        known = self._states.get(match.id)
        if known is not None:
            return known
        row = self._db.row(_STATE, {"match": match.id})
        if row is None:
            raise StoreError(f"{self.name}: match {match.id} was never entered")
        tries, status, turns, sealed = row
        if status in FINAL:
            raise StoreError(f"{self.name}: match {match.id} has ended already: {status}")
        state = _State(tries, turns or 0, sealed or seal_of_identity(*dump_match(match)))
        self._states[match.id] = state
        return state

    def _lost_turns(self, match: Match) -> StoreError:
        return StoreError(
            f"{self.name}: match {match.id}: turns that were written are not there any more, as after a server took over from"
            " another that had not told it of them: begin the command again, and the match goes on from those that are there"
        )

    def _pack(self, match: Match, state: _State, links: Sequence[_Link]) -> bytes:
        """Moves the journal of a match into its transcript and returns the transcript; an existing one is not changed.

        Turns larger than ``LARGEST`` together stay in the journal without a transcript.

        Args:
            match: the match.
            state: its recorded state.
            links: the turns after the recorded ones.
        """
        lines = self._lines(match.id, match.environment, None) if state.turns else []
        lines += [link.payload for link in links]
        if sum(len(line.encode()) + 1 for line in lines) > LARGEST:
            self._insert(match, state, links)
            return b""
        if lines:
            dictionary = self._dictionary(match.environment) or self._new_dictionary(match, lines)
            transcript = pack_lines(lines, dictionary)
            is_new = self._db.insert_new(_transcript, {"match": match.id, "turns": transcript})
            moved = self._db.execute(_DELETE_TURNS, {"match": match.id}).rowcount if state.turns else 0
            if is_new and moved != state.turns:
                raise self._entered_already(match, state.turns)
            if is_new:
                return transcript
        return self._transcript(match) or b""

    def _new_dictionary(self, match: Match, lines: list[str]) -> bytes:
        """Creates the dictionary of an environment from a match, and returns an empty dictionary to pack this match.

        The dictionary, which later matches depend on, can therefore be rebuilt from this match.
        """
        made = make_dictionary(lines)
        self._db.execute(insert(schema.dictionary), {"environment": match.environment, "data": pack(made)})
        self._dictionaries[match.environment] = made
        return b""


def _links(sealed: str, turns: Sequence[Turn]) -> list[_Link]:
    """Returns serialized turns, chained to the seal ``sealed``."""
    links = []
    for turn in turns:
        payload = dump_turn(turn)
        sealed = link(sealed, payload)
        links.append(_Link(turn.index, payload, sealed))
    return links


def _after(state: _State, links: Sequence[_Link]) -> _State:
    return _State(state.tries, state.turns + len(links), links[-1].seal) if links else state
