"""Claims: a match is one worker's at a time, whoever dies, stands still or comes back, by the clock of the database."""

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from agents.models.calls import Call, CallStatus
from agents.records import Turn
from rating.errors import ClaimLost, RunError, StoreError
from rating.records.match import Match
from rating.records.outcome import VOID
from rating.records.postgres.address import parse_address
from rating.records.postgres.claims import Kind, guard
from rating.records.postgres.members import Counts, Newcomer, Orders, State
from rating.records.record import void_outcome
from rating.records.server import create_on_server, open_on_server
from rating.records.sql import TransactionLost
from tests.rating.records.test_calls import LOGGED

pytestmark = pytest.mark.timeout(60)

MATCHES = [Match("tictactoe_v0", number, ("random", "greedy"), number) for number in range(8)]
LONG, SHORT = 60.0, 0.05


def newcomer(name="anna"):
    return Newcomer(name, "here", 1, "asyncio", 8)


@pytest.fixture
def address(postgres_url):
    address = parse_address(postgres_url).of("run")
    with closing(create_on_server(address)) as store:
        for match in MATCHES:
            store.add_match(match)
    return address


@pytest.fixture
def store(address):
    with closing(open_on_server(address)) as store:
        yield store


@pytest.fixture
def claims(store):
    with closing(store.claims()) as claims:
        yield claims


@pytest.fixture
def others(store):
    with closing(store.claims()) as claims:
        yield claims


def offer(claims, matches=MATCHES, kind=Kind.ASKING):
    claims.offer({match.id: kind for match in matches})


def numbers(claimed):
    return [claim.match.number for claim in claimed]


def test_a_match_is_claimed_once_in_the_order_of_offers_and_by_what_it_needs(claims, others):
    claims.coordinate(newcomer(), LONG)
    offer(claims, MATCHES[:4])
    offer(claims, MATCHES[4:], Kind.COMPUTING)
    offer(claims, MATCHES[:4])  # again: they stay what they are
    anna, bert = claims.join(newcomer(), LONG), others.join(newcomer("bert"), LONG)
    assert numbers(claims.take(anna, 2, 1)) == [0, 1, 4]
    assert numbers(others.take(bert, 1, 9)) == [2, 5, 6, 7]
    assert numbers(claims.take(anna, 9, 9)) == [3]
    assert others.take(bert, 9, 9) == []
    assert numbers(claims.held(anna)) == [0, 1, 3, 4]
    claims.answer(anna, MATCHES[0].id, "won")
    assert claims.answers() == {MATCHES[0].id: "won"}
    assert claims.answers() == {}
    with pytest.raises(ClaimLost):
        claims.answer(anna, MATCHES[2].id, "not mine")


def test_nothing_is_claimed_without_a_coordinator_that_lives_and_offers(claims):
    anna = claims.join(newcomer(), LONG)
    offer(claims)
    assert claims.take(anna, 1, 1) == []
    assert claims.beat(anna).orders is Orders.WAIT
    claims.coordinate(newcomer(), SHORT)
    offer(claims)
    time.sleep(2 * SHORT)
    assert (claims.take(anna, 1, 1), claims.beat(anna).orders) == ([], Orders.WAIT)
    coordinator = claims.coordinate(newcomer(), LONG)
    offer(claims)
    assert claims.beat(anna) == (Orders.WORK, coordinator)
    assert len(claims.take(anna, 1, 1)) == 1
    claims.declare(coordinator, State.STOPPING)
    assert (claims.take(anna, 1, 1), claims.beat(anna).orders) == ([], Orders.STOP)
    claims.leave(coordinator, State.OVER)
    assert claims.beat(anna).orders is Orders.END


def test_who_drains_claims_nothing_more_and_keeps_what_it_holds(claims):
    claims.coordinate(newcomer("coordinator"), LONG)
    offer(claims)
    anna = claims.join(newcomer(), LONG)
    held = claims.take(anna, 1, 0)
    assert claims.drain("nobody") == []
    assert claims.drain("coordinator") == []
    assert claims.drain("anna") == ["anna"]
    assert (claims.take(anna, 1, 0), claims.beat(anna).orders) == ([], Orders.DRAIN)
    claims.answer(anna, held[0].match.id, "won")
    claims.leave(anna)
    assert claims.beat(anna).orders is Orders.REJOIN


def test_a_lease_that_has_run_out_frees_matches_and_loses_calls_and_after_two_deaths_a_match_is_no_more_offered(
    claims, others, store
):
    claims.coordinate(newcomer(), LONG)
    offer(claims, MATCHES[:2])
    anna = others.join(newcomer(), SHORT)
    others.take(anna, 1, 0)
    log = store.call_log(anna)
    log.begin(LOGGED)
    log.begin(LOGGED)
    log.write(LOGGED)
    time.sleep(2 * SHORT)
    (death,) = claims.bury()
    assert death == ("anna", "here", 1, 1)
    assert list(claims.bury()) == []
    assert others.beat(anna).orders is Orders.REJOIN
    with pytest.raises(ClaimLost):
        others.answer(anna, MATCHES[0].id, "late")
    statuses = [logged.call.status for logged in store.calls()]
    assert statuses == [CallStatus.OK, CallStatus.LOST]
    assert [(member.name, member.state, member.lost) for member in claims.members()][1:] == [("anna", State.DEAD, 1)]
    bert = others.join(newcomer("bert"), SHORT)
    (again,) = others.take(bert, 1, 0)
    assert (again.match, again.deaths) == (MATCHES[0], 1)
    assert claims.drain("bert") == ["bert"]
    time.sleep(2 * SHORT)
    assert next(claims.bury()).name == "bert"
    assert claims.answers() == {MATCHES[0].id: ""}
    assert numbers(others.take(others.join(newcomer("carl"), LONG), 9, 9)) == [1]


def test_with_a_run_that_is_over_no_call_is_left_uncounted_of_whoever_has_not_left(claims, others, store):
    coordinator = claims.coordinate(newcomer("coordinator"), LONG)
    anna, bert = others.join(newcomer(), LONG), others.join(newcomer("bert"), SHORT)
    offer(claims, MATCHES[:1])
    others.take(anna, 1, 0)
    log = store.call_log(anna)
    for begun in (log, store.call_log(bert)):
        begun.begin(LOGGED)  # one asks whether a model is there, and nobody waits for it
    time.sleep(2 * SHORT)
    claims.leave(coordinator, State.OVER)
    assert [logged.call.status for logged in store.calls()] == [CallStatus.LOST] * 2
    states = {member.name: (member.state, member.calls, member.lost) for member in claims.members()}
    assert states == {
        "coordinator": (State.OVER, 0, 0),
        "anna": (State.LEFT, 0, 1),
        "bert": (State.DEAD, 0, 1),
    }
    assert others.beat(anna).orders is Orders.END
    log.write(LOGGED)  # it has ended after all
    assert Counter(logged.call.status for logged in store.calls()) == {CallStatus.LOST: 1, CallStatus.OK: 1}
    with pytest.raises(StoreError, match="no call is begun here any more"):
        log.begin(LOGGED)
    claims.coordinate(newcomer("coordinator"), LONG)
    offer(claims, MATCHES[:1])
    assert numbers(claims.take(claims.join(newcomer("carl"), LONG), 1, 0)) == [0]


def test_who_was_taken_for_dead_begins_no_call_that_nobody_would_count(claims, others, store):
    claims.coordinate(newcomer("coordinator"), LONG)
    anna = others.join(newcomer(), SHORT)
    time.sleep(2 * SHORT)
    (death,) = claims.bury()
    assert death.name == "anna"
    with pytest.raises(StoreError, match="taken for dead"):
        store.call_log(anna).begin(LOGGED)
    assert store._db.row("SELECT count(*) FROM call") == (0,)


@pytest.mark.parametrize("ends", [True, False])
def test_a_call_that_ends_or_begins_while_its_worker_is_taken_out_has_a_number_of_its_own_or_is_not_sent(
    claims, others, store, ends
):
    anna = others.join(newcomer(), LONG)
    log = store.call_log(anna)
    for _ in range(3):
        log.begin(LOGGED)
    with ThreadPoolExecutor() as pool:
        with claims._sql.transaction():
            claims._bury(anna)
            done = pool.submit(log.write if ends else log.begin, LOGGED)
            with pytest.raises(TimeoutError):  # it waits
                done.result(timeout=0.3)
        if ends:
            done.result()
        else:
            with pytest.raises(StoreError, match="taken for dead"):
                done.result()
    rows = store._db.all("SELECT number FROM call ORDER BY number")
    assert rows == [(1,), (2,), (3,)]


def test_who_gives_a_sign_of_life_before_somebody_looks_is_not_dead(claims):
    claims.coordinate(newcomer(), LONG)
    offer(claims)
    anna = claims.join(newcomer(), SHORT)
    claims.take(anna, 1, 0)
    time.sleep(2 * SHORT)
    assert claims.beat(anna, Counts(1, 2, 3, "\ud800\0")).orders is Orders.WORK
    assert list(claims.bury()) == []
    (member,) = claims.members()[1:]
    assert (member.playing, member.played, member.turns, member.error[-1]) == (1, 2, 3, "\0")


SET_BACK = "UPDATE worker SET seen = seen + interval '1 hour', until = until + interval '1 hour' WHERE coordinates = ?"
"""Leaves a row as one that was written before the clock of the database was set back."""


@pytest.mark.slow
def test_where_the_clock_of_the_database_is_set_back_the_dead_are_found_and_nobody_else_is_taken_for_dead(
    claims, others
):
    claims.coordinate(newcomer(), LONG)
    offer(claims)
    lease = 10 * SHORT
    _, bert = others.join(newcomer(), lease), others.join(newcomer("bert"), lease)
    claims._sql.execute(SET_BACK, 0)
    assert list(claims.bury()) == []
    time.sleep(lease + SHORT)
    others.beat(bert)
    assert [death.name for death in claims.bury()] == ["anna"]


def test_nothing_is_claimed_under_a_coordinator_that_was_seen_before_the_clock_was_set_back(claims):
    coordinator = claims.coordinate(newcomer(), LONG)
    offer(claims)
    anna = claims.join(newcomer(), LONG)
    claims._sql.execute(SET_BACK, 1)
    assert claims.beat(anna).orders is Orders.WAIT
    assert claims.take(anna, 1, 0) == []
    claims.beat(coordinator)
    assert claims.beat(anna).orders is Orders.WORK
    assert numbers(claims.take(anna, 1, 0)) == [0]


def test_what_is_written_for_a_match_that_is_not_ones_own_is_not_kept(claims, others, store):
    claims.coordinate(newcomer(), LONG)
    offer(claims)
    anna = others.join(newcomer(), SHORT)
    match = others.take(anna, 1, 0)[0].match
    store.keep_to(lambda sql, identity: guard(sql, anna, identity))
    store.add_turn(match, Turn(0, "player_0", {}, 0, ()))
    time.sleep(2 * SHORT)
    assert len(list(claims.bury())) == 1
    with pytest.raises(ClaimLost):
        store.add_turn(match, Turn(1, "player_1", {}, 0, ()))
    with pytest.raises(ClaimLost):
        store.finish(match, void_outcome(match, VOID))
    assert len(store.turns(match)) == 1
    assert store.outcome(match) is None


def test_a_worker_that_stands_still_in_a_transaction_holds_nobody_up_but_keeps_that_match(claims, others, store):
    claims.coordinate(newcomer(), LONG)
    offer(claims, MATCHES[:2])
    anna = others.join(newcomer(), SHORT)
    others.take(anna, 2, 0)
    time.sleep(2 * SHORT)
    with others._sql.transaction():
        guard(others._sql, anna, MATCHES[0].id)
        (death,) = claims.bury()
        assert death.matches == 1
    (death,) = claims.bury()
    assert death.matches == 1
    assert list(claims.bury()) == []


def test_a_coordinator_that_plays_alone_takes_everything_back(claims, others):
    first = claims.coordinate(newcomer(), LONG)
    offer(claims)
    anna = others.join(newcomer(), LONG)
    others.take(anna, 2, 0)
    claims.coordinate(newcomer(), LONG, alone=True)
    assert claims.held(anna) == []
    assert others.beat(anna).orders is Orders.WAIT
    assert [member.state for member in claims.members()] == [State.DEAD, State.ALONE, State.WORKING]
    assert claims.beat(first).orders is Orders.REJOIN


def test_answers_and_claims_outlast_a_coordinator_and_offers_do_not(claims, others):
    claims.coordinate(newcomer(), LONG)
    offer(claims)
    anna = others.join(newcomer(), LONG)
    others.take(anna, 2, 0)
    others.answer(anna, MATCHES[0].id, "won")
    second = claims.coordinate(newcomer(), LONG)
    assert claims.answers() == {MATCHES[0].id: "won"}
    assert numbers(claims.held(anna)) == [1]
    assert others.beat(anna).coordinator == second
    assert others.take(anna, 9, 9) == []
    offer(claims, MATCHES[1:4])
    assert claims.withdraw([match.id for match in MATCHES]) == [match.id for match in MATCHES[2:4]]


def test_calls_of_several_writers_are_read_on_without_a_gap(claims, store):
    claims.coordinate(newcomer(), LONG)
    logs = [store.call_log(claims.join(newcomer(name), LONG)) for name in ("anna", "bert")]
    reader = store.calls()
    seen = []
    for _ in range(3):
        for log in logs:
            log.begin(LOGGED)
            log.write(LOGGED)
        further = store.calls()
        assert further.go_on_from(reader)
        seen.append(len(list(further.further())))
        reader = further
    assert seen == [2, 2, 2]
    assert len(list(store.calls())) == 6
    logs[0].write(LOGGED)  # out of the cache: never sent
    mine = claims.members()[1].id
    assert len(list(store.calls(but=mine))) == 3
    assert [logged.call for logged in reader.further()] == [Call(**vars(LOGGED.call))]


def test_how_much_all_workers_can_hold_is_known(claims):
    claims.coordinate(newcomer("coordinator"), LONG)
    assert claims.capacity() == 0
    for name, lease in (("anna", LONG), ("bert", LONG), ("carl", SHORT)):
        claims.join(newcomer(name), lease)
    claims.drain("bert")
    time.sleep(2 * SHORT)
    assert claims.capacity() == 2 * newcomer().capacity
    claims._sql.execute("UPDATE worker SET capacity = ?", 2**62)
    assert claims.capacity() == 1_000_000


def test_a_state_that_nobody_can_be_in_is_damage(claims):
    claims.coordinate(newcomer(), LONG)
    claims._sql.execute("UPDATE worker SET state = ?", "\x1b[31mevil")
    for look in (claims.members, claims.coordinator):
        with pytest.raises(RunError, match="record of who plays a run is damaged"):
            look()


def test_calls_are_read_once_though_the_connection_is_lost_meanwhile(claims, store):
    log = store.call_log(claims.join(newcomer(), LONG))
    for _ in range(3):
        log.begin(LOGGED)
        log.write(LOGGED)
    rows = store._db.rows

    def interrupted(*query):
        store._db.rows = rows
        yield next(rows(*query))
        raise TransactionLost("the connection was lost")

    store._db.rows = interrupted
    assert len(list(store.calls())) == 3
