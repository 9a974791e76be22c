"""The store of a run, in a file and on a server: what goes in comes out."""

import zlib
from contextlib import closing
from dataclasses import replace

import pytest
from sqlalchemy import select, update

from agents.records import Attempt, Turn
from llmarena_envs.core.failures import Failure
from rating.errors import RunError, StoreError
from rating.store.digest import link
from rating.store.packing import unpack
from rating.store.records import (
    FINISHED,
    VOID,
    Match,
    Outcome,
    SeatOutcome,
    load_match,
    load_outcome,
    load_turn,
    void_outcome,
)
from rating.store.schema import PACKED, transcript

MATCH = Match("tictactoe_v0", 0, ("b", "a"), 2**64 - 1, {"random_opening": 2})
TURN = Turn(
    0,
    "player_0",
    "text 中文",
    None,
    (Attempt("\x00 ?", Failure.UNPARSABLE, "no", 5, 7, 0.5, {"k": [1]}),),
    "forfeit",
    {"player_0": -1.0, "player_1": 1.0},
    digest="d",
)
OUTCOME = Outcome(
    "tictactoe_v0",
    0,
    2**64 - 1,
    FINISHED,
    (
        SeatOutcome("b", -1.0, 1, {"unparsable": 1}, "unparsable", 0, 1, 5, 7),
        SeatOutcome("a", 1.0, statistics={"x": 0.5}),
    ),
)


@pytest.fixture
def store(place):
    opened = place.create()
    yield opened
    opened.close()


def turn(index):
    return replace(TURN, index=index)


def test_store_round_trip(store, place):
    store.add_match(MATCH)
    store.add_match(MATCH)
    store.add_turn(MATCH, TURN)
    assert store.outcome(MATCH) is None
    assert list(store.outcomes()) == []
    with closing(place.open()) as other:  # written at once, for every reader
        assert store.turns(MATCH) == other.turns(MATCH) == (TURN,)
    store.finish(MATCH, OUTCOME, digest="d")
    assert store.turns(MATCH) == (TURN,)
    assert store.outcome(MATCH) == OUTCOME
    assert list(store.outcomes()) == [OUTCOME]
    (record,) = store.records()
    assert (record.match, record.outcome, record.turns) == (MATCH, OUTCOME, (TURN,))
    assert record.turns[0].attempts[0].seconds == 0.5
    assert (record.digest, record.tries, record.error, record.status) == ("d", 1, "", "finished")


@pytest.mark.slow_except(1)
def test_matches_are_counted_by_environment_and_status(store, place):
    matches = [replace(MATCH, number=number) for number in range(3)]
    for match in matches:
        store.add_match(match)
        store.add_match(match)
    store.finish(matches[0], void_outcome(matches[0], VOID))
    store.finish(matches[1], void_outcome(matches[1], VOID))
    store.finish(matches[1], replace(OUTCOME, number=1))
    with closing(place.open()) as reopened:
        for opened in (store, reopened):
            assert opened.counts()["connect_four_v0", FINISHED] == 0
            assert opened.statuses() == {"unfinished": 1, VOID: 1, FINISHED: 1}
    store.finish(matches[2], replace(OUTCOME, number=2))
    assert store.statuses() == {VOID: 1, FINISHED: 2}


def test_void_match_resumes_from_its_last_turn(store, place):
    store.add_match(MATCH)
    store.add_turn(MATCH, turn(0))
    store.finish(MATCH, void_outcome(MATCH, VOID), error="503")
    store.add_turn(MATCH, turn(1))
    store.close()
    with closing(place.open()) as again:
        assert again.check() == []
        again.add_turn(MATCH, turn(2))
        assert again.turns(MATCH) == (turn(0), turn(1), turn(2))
        again.finish(MATCH, OUTCOME, digest="d")
        (record,) = again.records()
        assert (record.tries, record.error, len(record.turns)) == (2, "", 3)
    with closing(place.open()) as sealed:
        assert sealed.check() == []


@pytest.mark.slow_except(2)
@pytest.mark.parametrize("outcome", [OUTCOME, void_outcome(MATCH, VOID)], ids=["finished", "void"])
@pytest.mark.parametrize("before", [0, 1, 3])
def test_finish_with_turns_equals_turns_one_by_one(place, before, outcome):
    turns, seals = [turn(index) for index in range(3)], []
    for count, name in ((3, "one_by_one"), (before, "together")):
        with closing(place.create(name)) as store:
            store.add_match(MATCH)
            for one in turns[:count]:
                store.add_turn(MATCH, one)
            store.finish(MATCH, outcome, digest="d", turns=turns[count:])
            assert store.turns(MATCH) == tuple(turns)
            seals.append((store.seals_of_matches(), store.digest()))
            store.seal()
            assert store.check() == []
    assert seals[0] == seals[1]


@pytest.mark.slow_except(1)
def test_add_turns_existing_turn_is_refused(store):
    store.add_match(MATCH)
    store.add_turns(MATCH, [turn(0), turn(1)])
    for refused in ([turn(2), turn(1)], [turn(1)]):
        with pytest.raises(StoreError, match="entered already"):
            store.add_turns(MATCH, refused)
    assert store.turns(MATCH) == (turn(0), turn(1))
    store.finish(MATCH, OUTCOME, turns=[turn(2)])
    assert store.turns(MATCH) == tuple(map(turn, range(3)))


@pytest.mark.slow_except(1)
def test_surrogates_are_replaced(store):
    store.add_match(MATCH)
    store.add_turn(MATCH, replace(TURN, attempts=(Attempt("", detail={"k": "\ud800!"}),)))
    store.finish(MATCH, void_outcome(MATCH, VOID), error="\ud800!")
    (record,) = store.records()
    assert (record.error, record.turns[0].attempts[0].detail) == ("?!", {"k": "?!"})


@pytest.mark.slow_except(3)
@pytest.mark.parametrize(
    "write",
    [
        lambda store: store.add_turn(MATCH, turn(2)),
        lambda store: store.finish(MATCH, OUTCOME, digest="d"),
        lambda store: store.finish(MATCH, void_outcome(MATCH, VOID)),
    ],
    ids=["turn", "end", "void"],
)
def test_write_after_lost_turns_is_refused(store, place, write):
    store.add_match(MATCH)
    store.add_turn(MATCH, turn(0))
    store.add_turn(MATCH, turn(1))
    place.sql("DELETE FROM turn WHERE number = 1")
    with pytest.raises(StoreError, match="turns that were written are not there any more"):
        write(store)
    assert store.turns(MATCH) == (turn(0),)
    store.add_turn(MATCH, turn(1))
    store.finish(MATCH, OUTCOME, digest="d")
    store.seal()
    assert (store.turns(MATCH), store.check()) == ((turn(0), turn(1)), [])


@pytest.mark.slow_except(1)
def test_failed_write_leaves_the_store_unchanged(store, monkeypatch, place):
    store.add_match(MATCH)
    store.add_turn(MATCH, TURN)

    def full(*state):
        raise StoreError("database or disk is full")

    with monkeypatch.context() as patched:
        patched.setattr("rating.store.store.seal_of_match", full)
        with pytest.raises(StoreError):
            store.finish(MATCH, OUTCOME)
    assert store.outcome(MATCH) is None
    store.finish(MATCH, OUTCOME)
    store.close()
    with closing(place.open()) as again:
        assert (again.turns(MATCH), again.check()) == ((TURN,), [])


@pytest.mark.slow_except(1)
def test_the_turns_of_a_match_that_has_ended_are_packed(store, place):
    store.add_match(MATCH)
    for index in range(50):
        store.add_turn(MATCH, replace(turn(index), read="what was read before " * 100))
    store.finish(MATCH, OUTCOME)
    assert place.sql("SELECT count(*) FROM turn") == [("0",)]
    ((length,),) = place.sql("SELECT length(turns) FROM transcript")
    assert int(length) < 3000
    assert len(store.turns(MATCH)) == 50


@pytest.mark.slow_except(1)
def test_a_row_that_unpacks_to_more_than_the_limit_is_refused(store, place, monkeypatch):
    monkeypatch.setattr("rating.store.packing.LARGEST", 1 << 20)
    assert unpack(zlib.compress(bytes(1 << 20), 1)) == bytes(1 << 20)
    bomb = zlib.compress(bytes((1 << 20) + 1), 1)
    store.add_match(MATCH)
    store.add_turn(MATCH, TURN)
    store.finish(MATCH, OUTCOME)
    for column in PACKED:
        with closing(place.database()) as db:
            db.execute(update(column.table).values({column: bomb}))
        with closing(place.open()) as damaged, pytest.raises(RunError, match="more than 1 MiB"):
            damaged.turns(MATCH)
    assert [difference for difference in store.check() if "more than 1 MiB" in difference]


@pytest.mark.slow_except(1)
def test_oversized_turns_are_stored_unpacked(place, monkeypatch):
    monkeypatch.setattr("rating.store.store.LARGEST", 2000)
    monkeypatch.setattr("rating.store.packing.LARGEST", 2000)
    turns = tuple(replace(turn(index), read=f"{index}" * 300) for index in range(9))
    other = replace(MATCH, number=1)
    with closing(place.create()) as store:
        for match, outcome in ((MATCH, OUTCOME), (other, replace(OUTCOME, number=1))):
            store.add_match(match)
            store.add_turns(match, turns[:4])
            store.finish(match, outcome, digest="d", turns=turns[4:])
        assert store.turns_under_way() == {}
        assert store.turns(MATCH) == store.turns(other) == turns
    with closing(place.open()) as store:
        assert [record.turns for record in store.records()] == [turns, turns]
        assert store.check() == [] and store.sealed
        assert store.add_matches([MATCH]) == {MATCH.id: OUTCOME}


@pytest.mark.slow_except(1)
def test_seal_and_digest_cover_the_right_fields(place):
    slower = replace(TURN, attempts=(replace(TURN.attempts[0], seconds=0.6),))
    lost = replace(OUTCOME, seats=(replace(OUTCOME.seats[0], reward=1.0), OUTCOME.seats[1]))
    hashes = []
    for played, outcome, digest in (
        (TURN, OUTCOME, "d"),
        (TURN, OUTCOME, "d"),
        (slower, OUTCOME, "d"),
        (TURN, OUTCOME, "e"),
        (TURN, lost, "d"),
    ):
        with closing(place.create(str(len(hashes)))) as store:
            store.add_match(MATCH)
            store.add_turn(MATCH, played)
            store.finish(MATCH, outcome, digest=digest)
            hashes.append((store.seal(), store.digest()))
    first, same, timed, *others = hashes
    assert first == same
    assert timed[0] != first[0] and timed[1] == first[1]
    assert len({seal for seal, _ in (first, *others)}) == len({digest for _, digest in (first, *others)}) == 3


def test_parts_of_a_seal_are_distinguished():
    assert len({link("", "ab", "c"), link("", "a", "bc"), link("", "abc"), link("ab", "c")}) == 4


@pytest.mark.slow_except(1)
def test_seal_is_removed_only_by_a_write(store, place):
    store.add_match(MATCH)
    store.set_fact("name", "value")
    store.close()
    with closing(place.open()) as again:
        sealed = again.sealed
        assert len(sealed) == 64
        again.add_match(MATCH)
        again.set_fact("name", "value")
        assert (again.sealed, again.seal()) == (sealed, sealed)
        again.add_turn(MATCH, TURN)
        assert again.sealed == ""
        assert "not sealed" in again.check()[0]
        assert again.seal() != sealed
        assert again.check() == []


def test_records_read_in_part_do_not_stop_a_writer(store, place):
    for number in range(2):
        store.add_match(replace(MATCH, number=number))
    with closing(place.open()) as reader:
        reading = reader.records()
        next(reading)
        store.add_turn(MATCH, TURN)
        assert len(list(reading)) == 1


def test_records_are_found_by_the_beginning_of_their_id(store):
    store.add_match(MATCH)
    assert len(list(store.records(MATCH.id[:4]))) == 1
    assert list(store.records("%")) == []
    assert list(store.records("_" * 16)) == []


def test_match_id_covers_all_inputs_of_a_match():
    changes = {"environment": "connect_four_v0", "number": 1, "policies": ("a", "b"), "seed": 0, "options": {}}
    assert len({MATCH.id, *(replace(MATCH, **{name: value}).id for name, value in changes.items())}) == 6


def load_seats(seats):
    return load_outcome("e_v0", 0, "1", FINISHED, seats, 1)


@pytest.mark.parametrize(
    ("load", "text"),
    [
        (load_turn, "{"),
        (load_turn, '{"attempts": [{"reply": 1, "kind": 99}]}'),
        (load_turn, '{"attempts": []}'),
        (load_turn, "[" * 100_000),
        (load_seats, '{"seats": 3}'),
        (load_seats, '[{"policy": "a", "reward": 1' + "0" * 400 + "}]"),
        (lambda status: load_outcome("e_v0", 0, "1", status, "[]", 0), "won"),
        (lambda seed: load_outcome("e_v0", 0, seed, FINISHED, "[]", 0), "one"),
        (lambda policies: load_match("e_v0", 0, policies, "1", "{}"), "3"),
    ],
)
def test_a_damaged_record_is_refused(load, text):
    with pytest.raises(RunError, match="damaged"):
        load(text)


@pytest.mark.slow_except(2)
@pytest.mark.parametrize("damage", [lambda data: data[:-1], lambda data: data + b"x", lambda data: b""])
def test_damaged_turns_are_refused(store, place, damage):
    store.add_match(MATCH)
    store.add_turn(MATCH, TURN)
    store.finish(MATCH, OUTCOME)
    with closing(place.database()) as db:
        ((data,),) = db.all(select(transcript.c.turns))
        db.execute(update(transcript).values(turns=damage(data)))
    with pytest.raises(RunError, match="damaged"):
        store.turns(MATCH)


@pytest.mark.slow_except(1)
def test_add_matches_returns_ended_and_refuses_others(store):
    matches = [replace(MATCH, number=number) for number in range(4)]
    store.add_match(matches[1])
    store.finish(matches[1], replace(OUTCOME, number=1), digest="d")
    assert store.add_matches(matches[:3]) == {matches[1].id: replace(OUTCOME, number=1)}
    assert [match.number for match, _ in store.matches()] == [0, 1, 2]
    with pytest.raises(RunError, match="match 2 of tictactoe_v0 was recorded with another seed"):
        store.add_matches([matches[3], replace(MATCH, number=2, seed=5)])
    assert [record.match for record in store.records()] == matches[:3]
    assert store.statuses() == {"unfinished": 2, FINISHED: 1}
