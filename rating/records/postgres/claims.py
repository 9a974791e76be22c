"""Who plays which match of a run that several machines play: offers, claims, and the leases of workers.

A coordinator offers matches. A worker claims some, plays them and leaves an answer, which the coordinator collects. A claim
belongs to a worker as long as the coordinator has not declared it dead, which it does when its lease has run out: by the clock
of the database, whatever the clocks of the machines say.
"""

import json
import uuid
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import NamedTuple

from agents.records import encodable
from rating.errors import ClaimLost
from rating.records.match import Match
from rating.records.postgres.members import (
    NOTHING,
    PRESENT,
    Counts,
    Death,
    Member,
    Newcomer,
    Pulse,
    State,
    orders_of,
    state_of,
)
from rating.records.record import load_match
from rating.records.sql import Row, Sql

MOST_DEATHS = 2
"""Workers that may die at a match, after which it is void: one may have been unlucky, not two."""


class Kind(StrEnum):
    """What a match needs of who plays it."""

    ASKING = "asking"
    """Patience: somebody in it is asked over a network."""
    COMPUTING = "computing"
    """A core."""


class Claim(NamedTuple):
    """A match that is a worker's to play.

    Attributes:
        match: the match.
        deaths: how many workers have died while they held it.
    """

    match: Match
    deaths: int


_COORDINATOR = """
SELECT id, state, until > now() AND seen < now() + lease * interval '1 millisecond' AS is_alive
FROM worker WHERE coordinates = 1 ORDER BY number DESC LIMIT 1
"""
"""One that was seen in the future, by more than two transactions may differ, was seen before the clock was set back."""

_TAKE = f"""
WITH coordinator AS ({_COORDINATOR}),
me AS (
    SELECT id FROM worker WHERE id = ? AND state = 'working' AND (SELECT is_alive AND state = 'working' FROM coordinator)
    AND (SELECT set_config('synchronous_commit', 'off', true)) = 'off'
),
asking AS (
    SELECT match FROM claim WHERE kind = 'asking' AND worker IS NULL AND answer IS NULL AND EXISTS (SELECT 1 FROM me)
    ORDER BY place LIMIT ? FOR UPDATE SKIP LOCKED
),
computing AS (
    SELECT match FROM claim WHERE kind = 'computing' AND worker IS NULL AND answer IS NULL AND EXISTS (SELECT 1 FROM me)
    ORDER BY place LIMIT ? FOR UPDATE SKIP LOCKED
),
taken AS (
    UPDATE claim SET worker = me.id, since = now() FROM me
    WHERE claim.match = ANY (ARRAY(SELECT match FROM asking UNION ALL SELECT match FROM computing))
    RETURNING claim.match, claim.place, claim.deaths
)
SELECT match.environment, match.number, match.policies, match.seed, match.options, taken.deaths
FROM taken JOIN match ON match.id = taken.match ORDER BY taken.place
"""

_HELD = """
SELECT match.environment, match.number, match.policies, match.seed, match.options, claim.deaths
FROM claim JOIN match ON match.id = claim.match WHERE claim.worker = ? AND claim.answer IS NULL ORDER BY claim.place
"""

_BEAT = f"""
WITH me AS (
    UPDATE worker SET seen = now(), until = now() + lease * interval '1 millisecond',
        playing = ?, played = ?, turns = ?, error = ?
    WHERE id = ? AND state NOT IN ('dead', 'over', 'stopped')
    RETURNING state
),
coordinator AS ({_COORDINATOR})
SELECT me.state, coordinator.id, coordinator.state, coordinator.is_alive
FROM (SELECT 1) AS always LEFT JOIN me ON TRUE LEFT JOIN coordinator ON TRUE
"""

_RENEW_FUTURE = """
UPDATE worker SET seen = now(), until = now() + lease * interval '1 millisecond'
WHERE coordinates = 0 AND state IN ('working', 'draining') AND seen > now()
"""

_FREE = """
UPDATE claim SET worker = NULL, since = NULL, deaths = deaths + 1, answer = CASE WHEN deaths + 1 >= ? THEN ? END
WHERE match = ANY (ARRAY(SELECT match FROM claim WHERE worker = ? AND answer IS NULL FOR UPDATE SKIP LOCKED))
"""

_DISMISS = f"""
UPDATE worker SET state = CASE WHEN coordinates = 1 OR until < now() THEN 'dead' ELSE 'left' END, playing = 0
WHERE state IN {PRESENT} RETURNING id
"""

_LOSE_CALLS = """
UPDATE call SET number = known.last + ended.place
FROM (SELECT coalesce(max(number), 0) AS last FROM call WHERE worker = ?) AS known,
    (SELECT id, row_number() OVER (ORDER BY id) AS place FROM call WHERE worker = ? AND number IS NULL) AS ended
WHERE call.id = ended.id
"""

_MEMBERS = """
SELECT worker.id, worker.coordinates, worker.name, worker.host, worker.process, worker.executor, worker.capacity, worker.state,
    CAST(worker.until < now() AS integer), CAST(1000 * extract(epoch FROM worker.seen - worker.began) AS bigint),
    CAST(1000 * extract(epoch FROM now() - worker.seen) AS bigint),
    CASE WHEN worker.coordinates = 1 THEN worker.playing ELSE
        (SELECT count(*) FROM claim WHERE claim.worker = worker.id AND claim.answer IS NULL) END,
    worker.played, worker.turns, (SELECT count(*) FROM call WHERE call.worker = worker.id AND call.number IS NULL),
    worker.lost, worker.error
FROM worker ORDER BY worker.coordinates DESC, worker.number
"""


class Claims:
    """The claims on the matches of a run.

    Args:
        sql: a connection to the tables of the run that nobody uses meanwhile in another thread.
    """

    def __init__(self, sql: Sql) -> None:
        self._sql = sql

    def join(self, newcomer: Newcomer, lease: float) -> str:
        """Enters a worker and returns its id.

        Args:
            newcomer: the worker.
            lease: seconds without a beat after which it is taken for dead.
        """
        return self._enter(newcomer, lease, State.WORKING, coordinates=0)

    def coordinate(self, newcomer: Newcomer, lease: float, *, alone: bool = False) -> str:
        """Enters the coordinator and returns its id; the caller holds the lock of the run, so every earlier one is gone.

        Args:
            newcomer: the coordinator.
            lease: seconds without a beat after which workers claim nothing more.
            alone: whether it plays all matches itself; what workers hold from before is not theirs any more then.
        """
        with self._sql.transaction():
            for identity, *_ in self._sql.all(
                "SELECT id FROM worker WHERE coordinates = 1 AND state IN ('working', 'alone', 'stopping')"
            ):
                self._bury(identity)
            self._sql.execute("DELETE FROM claim WHERE (worker IS NULL AND answer IS NULL) OR ? = 1", int(alone))
            return self._enter(newcomer, lease, State.ALONE if alone else State.WORKING, coordinates=1)

    def _enter(self, newcomer: Newcomer, lease: float, state: State, coordinates: int) -> str:
        identity = uuid.uuid4().hex[:12]
        self._sql.execute(
            "INSERT INTO worker (id, coordinates, name, host, process, executor, capacity, state, lease, began, seen, until)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, now(), now(), now() + CAST(? AS bigint) * interval '1 millisecond')",
            *(identity, coordinates, newcomer.name, newcomer.host, newcomer.process, newcomer.executor),
            *(newcomer.capacity, state, round(1000 * lease), round(1000 * lease)),
        )
        return identity

    def beat(self, identity: str, counts: Counts = NOTHING) -> Pulse:
        """Renews the lease of a worker, or of a coordinator, and returns its orders."""
        row = self._sql.row(_BEAT, counts.playing, counts.played, counts.turns, encodable(counts.error), identity)
        assert row is not None
        own, coordinator, state, is_alive = row
        return Pulse(orders_of(own, state, is_alive), coordinator or "")

    def declare(self, identity: str, state: State) -> None:
        """Says what a coordinator is at."""
        self._sql.execute("UPDATE worker SET state = ? WHERE id = ? AND state <> 'dead'", state, identity)

    def leave(self, identity: str, end: State = State.LEFT) -> None:
        """Takes somebody out: what it holds is offered again, and calls that it has not ended are lost.

        Args:
            identity: of a worker or a coordinator.
            end: its state from now on; with that of a run which is over everybody else is taken out as well, also who has died
                and was not missed yet.
        """
        with self._sql.transaction():
            self._give_back(identity)
            self._sql.execute(
                "UPDATE worker SET state = ?, playing = 0 WHERE id = ? AND state <> 'dead'", end, identity
            )
            self._lose_calls(identity)
            if end is State.OVER:
                self._dismiss()

    def dismiss(self) -> None:
        """Takes everybody out; the caller holds the lock of the run, so every coordinator is gone."""
        with self._sql.transaction():
            self._dismiss()

    def offer(self, kinds: Mapping[str, Kind]) -> None:
        """Offers matches, in this order; those that were offered before are left alone.

        Args:
            kinds: what a match needs, by its id.
        """
        self._sql.execute(
            "INSERT INTO claim (match, kind) SELECT key, value FROM json_each_text(CAST(? AS json)) ON CONFLICT DO NOTHING",
            json.dumps(kinds),
        )

    def withdraw(self, matches: Iterable[str]) -> list[str]:
        """Takes offers back and returns the ids of those that nobody had claimed or answered."""
        return [
            match
            for match, *_ in self._sql.all(
                "DELETE FROM claim WHERE worker IS NULL AND answer IS NULL"
                " AND match IN (SELECT json_array_elements_text(CAST(? AS json))) RETURNING match",
                json.dumps(list(matches)),
            )
        ]

    def withdraw_all(self) -> None:
        """Takes back every offer that nobody has claimed or answered."""
        self._sql.execute("DELETE FROM claim WHERE worker IS NULL AND answer IS NULL")

    def take(self, worker: str, asking: int, computing: int) -> list[Claim]:
        """Claims matches, first those that were offered first, as long as the run has a coordinator that lives.

        This alone does not wait for the disk of the server: were the server to fail the moment after, a claim would be an offer
        again, and the first write under it would be refused.

        Args:
            worker: whose they become.
            asking: how many at most in which somebody is asked over a network.
            computing: how many at most in which nobody is.
        """
        return [Claim(load_match(*row[:5]), row[5]) for row in self._sql.all(_TAKE, worker, asking, computing)]

    def held(self, worker: str) -> list[Claim]:
        """Returns the matches that a worker holds, as after a claim of which it does not know what has become."""
        return [Claim(load_match(*row[:5]), row[5]) for row in self._sql.all(_HELD, worker)]

    def coordinator(self) -> tuple[str, State, bool] | None:
        """Returns id and state of the coordinator, and whether it lives; ``None`` if there was none yet."""
        row = self._sql.row(f"SELECT id, state, CAST(is_alive AS integer) FROM ({_COORDINATOR}) AS latest")
        return None if row is None else (row[0], state_of(row[1]), bool(row[2]))

    def give_back(self, worker: str, match: str) -> None:
        """Offers a match again that a worker holds."""
        self._sql.execute(
            "UPDATE claim SET worker = NULL, since = NULL WHERE match = ? AND worker = ? AND answer IS NULL",
            match,
            worker,
        )

    def answer(self, worker: str, match: str, answer: str) -> None:
        """Says what a match came to that a worker holds.

        Raises:
            ClaimLost: if it is not its own any more.
        """
        if not self._sql.execute(
            "UPDATE claim SET answer = ? WHERE match = ? AND worker = ? AND answer IS NULL",
            answer,
            match,
            worker,
        ):
            raise claim_lost(match)

    def answers(self) -> dict[str, str]:
        """Collects what matches came to, by their ids; an empty text for one whose workers have died."""
        return dict(self._sql.all("DELETE FROM claim WHERE answer IS NOT NULL RETURNING match, answer"))

    def bury(self) -> Iterator[Death]:
        """Declares everybody dead whose lease has run out: their matches are offered again, unless too many have died of one.

        What a worker is just writing is left to it until it has written, or the database has given it up. Who was seen in the
        future was seen before the clock of the database was set back: such a lease begins anew.
        """
        self._sql.execute(_RENEW_FUTURE)
        late = "coordinates = 0 AND state IN ('working', 'draining') AND until < now()"
        unburied = (
            "state = 'dead' AND EXISTS (SELECT 1 FROM claim WHERE claim.worker = worker.id AND claim.answer IS NULL)"
        )
        for identity, name, host in self._sql.all(f"SELECT id, name, host FROM worker WHERE {late} OR {unburied}"):
            with self._sql.transaction():
                if not self._sql.execute(
                    f"UPDATE worker SET state = 'dead', playing = 0 WHERE id = ? AND (({late}) OR ({unburied}))",
                    identity,
                ):
                    continue  # it has given a sign of life meanwhile
                death = Death(name, host, *self._bury(identity))
            yield death

    def drain(self, who: str) -> list[str]:
        """Lets workers leave when they have played what they hold, and returns their names.

        Args:
            who: the id, or the name of one or more.
        """
        return [
            name
            for name, *_ in self._sql.all(
                "UPDATE worker SET state = 'draining' WHERE (id = ? OR name = ?) AND coordinates = 0 AND state = 'working'"
                " RETURNING name",
                who,
                who,
            )
        ]

    def members(self) -> list[Member]:
        """Returns everybody who has ever joined: coordinators, then workers, each in the order in which they came."""
        return [_member(row) for row in self._sql.all(_MEMBERS)]

    def capacity(self) -> int:
        """Returns how many matches the workers that live can hold together; 0 if there is none."""
        row = self._sql.row(
            "SELECT CAST(least(coalesce(sum(capacity), 0), 1000000) AS bigint) FROM worker"
            " WHERE coordinates = 0 AND state IN ('working', 'draining') AND until > now()"
        )
        return row[0] if row else 0

    def deaths(self) -> int:
        """Returns how many matches that are still offered or held have lost a worker."""
        row = self._sql.row("SELECT count(*) FROM claim WHERE deaths > 0")
        return row[0] if row else 0

    def close(self) -> None:
        """Closes the connection."""
        self._sql.close()

    def _bury(self, identity: str) -> tuple[int, int]:
        """Takes everything from somebody who is dead, and returns how many matches and calls that were."""
        matches = self._sql.execute(_FREE, MOST_DEATHS, "", identity)
        self._sql.execute("UPDATE worker SET state = 'dead', playing = 0 WHERE id = ?", identity)
        return matches, self._lose_calls(identity)

    def _dismiss(self) -> None:
        for other, *_ in self._sql.all(_DISMISS):
            self._give_back(other)
            self._lose_calls(other)

    def _give_back(self, identity: str) -> None:
        self._sql.execute(
            "UPDATE claim SET worker = NULL, since = NULL WHERE match = ANY"
            " (ARRAY(SELECT match FROM claim WHERE worker = ? AND answer IS NULL FOR UPDATE SKIP LOCKED))",
            identity,
        )

    def _lose_calls(self, identity: str) -> int:
        """Ends the calls that somebody has left under way: they stand in the log as lost already."""
        lost = self._sql.execute(_LOSE_CALLS, identity, identity)
        if lost:
            self._sql.execute("UPDATE worker SET lost = lost + ? WHERE id = ?", lost, identity)
        return lost


def guard(sql: Sql, worker: str, match: str) -> None:
    """Checks in a transaction that writes something of a match that it is still a worker's own, and keeps it so until its end.

    Raises:
        ClaimLost: if it is not.
    """
    if (
        sql.row("SELECT 1 FROM claim WHERE match = ? AND worker = ? AND answer IS NULL FOR SHARE", match, worker)
        is None
    ):
        raise claim_lost(match)


def claim_lost(match: str) -> ClaimLost:
    """Returns the error of a write for a match that is not the worker's own."""
    return ClaimLost(f"match {match} is not this worker's any more: its lease had run out, or the offer was taken back")


def _member(row: Row) -> Member:
    identity, coordinates, name, host, process, executor, capacity, state, is_late, age, unseen, *counts, error = row
    playing, played, turns, calls, lost = counts
    return Member(
        identity,
        bool(coordinates),
        name,
        host,
        process,
        executor,
        capacity,
        state_of(state),
        bool(is_late),
        age / 1000,
        unseen / 1000,
        playing,
        played,
        turns,
        calls,
        lost,
        error,
    )
