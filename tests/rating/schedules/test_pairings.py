import hashlib
import itertools
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmarena_envs.core.options import OptionError
from rating.schedules.field import field_play
from rating.schedules.round_robin import cross_play, everywhere, rotation, round_robin, self_play
from tests.rating.made_outcomes import small_contest


def take(batches, number=1):
    return [match for batch in itertools.islice(batches, number) for match in batch]


def names(count):
    return tuple(f"p{index}" for index in range(count))


def seatings(matches):
    return Counter(match.policies for match in matches)


pools = st.integers(2, 9)


@given(pools, st.integers(1, 3), st.booleans())
def test_round_robin_gives_every_ordered_pair_equally_often(count, batches, shared):
    contest = small_contest("game_v0", names(count))
    matches = take(round_robin(contest, shared_deals=shared), batches)
    counts = seatings(matches)
    assert set(counts) == set(itertools.permutations(names(count), 2))
    assert len(set(counts.values())) == 1
    assert min(Counter(name for match in matches for name in match.policies).values()) >= 10 * batches


@given(pools)
def test_round_robin_pairs_have_deals_of_their_own(count):
    by_seed = {}
    for match in take(round_robin(small_contest("game_v0", names(count))), 3):
        by_seed.setdefault(match.seed, []).append(match.policies)
    assert all(len(pair) == 2 and pair[0] == pair[1][::-1] for pair in by_seed.values())


@given(pools)
def test_round_robin_shared_deals_serve_every_pair(count):
    by_seed = {}
    for match in take(round_robin(small_contest("game_v0", names(count)), shared_deals=True), 3):
        by_seed.setdefault(match.seed, []).append(match.policies)
    assert all(sorted(pairs) == sorted(itertools.permutations(names(count), 2)) for pairs in by_seed.values())


@given(pools)
def test_round_robin_spreads_concurrent_matches(count):
    matches = take(round_robin(small_contest("game_v0", names(count))))
    width = count // 2
    for start in range(0, count * (count - 1), width):
        busy = [name for match in matches[start : start + width] for name in match.policies]
        assert len(set(busy)) == len(busy) == 2 * width


@given(st.integers(1, 6))
def test_cross_play_deals_have_every_ordered_pair(count):
    matches = take(cross_play(small_contest("hanabi_v0", names(count))), 2)
    by_seed = {}
    for match in matches:
        by_seed.setdefault(match.seed, []).append(match.policies)
    assert all(sorted(pairs) == sorted(itertools.product(names(count), repeat=2)) for pairs in by_seed.values())


def test_field_play_both_roles_swap_seats():
    contest = small_contest("undercover_v0", ("a", "f"), seats=3)
    matches = take(field_play(contest, opponent="f", focus_option="seat", both_roles=True))
    seatings = [(match.policies, match.options["seat"]) for match in matches[:9]]
    assert seatings[:3] == [(("a", "f", "f"), 0), (("f", "a", "a"), 0), (("f", "f", "f"), 0)]
    assert seatings[3:6] == [(("f", "a", "f"), 1), (("a", "f", "a"), 1), (("f", "f", "f"), 1)]
    assert len({match.seed for match in matches[:3]}) == 1


def test_field_play_sets_the_focus_option():
    contest = small_contest("undercover_v0", ("a", "b", "f"), seats=5, options={"language": "zh"}, seed=3)
    matches = take(field_play(contest, opponent="f", focus_option="seat"), 4)
    assert len(matches) == 4 * 2 * 5 * 3
    focus = Counter()
    for match in matches:
        seat = match.options["seat"]
        assert match.options == {"language": "zh", "seat": seat}
        assert all(name == "f" for index, name in enumerate(match.policies) if index != seat)
        focus[match.policies[seat], seat] += 1
    assert focus == {(name, seat): 8 for name in "abf" for seat in range(5)}
    seeds = {name: [match.seed for match in matches if match.policies[match.options["seat"]] == name] for name in "abf"}
    assert seeds["a"] == seeds["b"] == seeds["f"] and len(set(seeds["a"])) == 40
    assert "seat" not in take(field_play(contest, opponent="f"))[0].options


@settings(deadline=None)
@given(st.integers(2, 8).flatmap(lambda count: st.tuples(st.just(count), st.integers(2, min(count, 5)))))
def test_rotation_batches_balance_seats(shape):
    count, seats = shape
    for batch in itertools.islice(rotation(small_contest("game_v0", names(count), seats=seats)), 5):
        counts = Counter((name, seat) for match in batch for seat, name in enumerate(match.policies))
        assert len(counts) == count * seats
        assert len(set(counts.values())) == 1
        by_seed = {}
        for match in batch:
            by_seed.setdefault(match.seed, []).append(match.policies)
        for square in by_seed.values():  # a Latin square: each row and each column holds every policy once
            assert len(square) == seats
            assert all(len(set(line)) == seats for line in [*square, *zip(*square, strict=True)])


@pytest.mark.parametrize(("count", "seats"), [(4, 3), (5, 3), (6, 3), (4, 4), (6, 4)])
def test_rotation_covers_all_assignments(count, seats):
    assignments = list(itertools.permutations(names(count), seats))
    batches = rotation(small_contest("game_v0", names(count), seats=seats, batch=1))
    matches = []
    for batch in itertools.islice(batches, len(assignments)):
        matches += batch
        if len(matches) >= len(assignments):
            break
    assert seatings(matches) == dict.fromkeys(assignments, 1)
    subsets = len(list(itertools.combinations(range(count), seats)))
    assert len({frozenset(match.policies) for match in matches[: subsets * seats]}) == subsets


PAIRINGS = {
    "round_robin": round_robin,
    "self_play": self_play,
    "cross_play": cross_play,
    "field": lambda contest: field_play(contest, opponent="f"),
    "rotation": rotation,
    "everywhere": everywhere,
}


@pytest.mark.parametrize("pairing", PAIRINGS.values(), ids=PAIRINGS)
def test_schedules_are_deterministic_and_numbered(pairing):
    first, again, other = (take(pairing(small_contest("game_v0", names(3), seed=seed)), 3) for seed in (0, 0, 1))
    assert first == again
    assert [match.number for match in first] == list(range(len(first)))
    assert len({match.id for match in first}) == len(first)
    assert not {match.seed for match in first} & {match.seed for match in other}


@pytest.mark.parametrize("pairing", PAIRINGS.values(), ids=PAIRINGS)
def test_schedules_do_not_depend_on_batch_size(pairing):
    small, large = (
        take(pairing(small_contest("game_v0", names(3), batch=batch)), number) for batch, number in ((1, 60), (100, 1))
    )
    length = min(len(small), len(large))
    assert length > 50
    assert small[:length] == large[:length]


def pinned(seats=2, count=3):
    return small_contest("game_v0", tuple("abcdef"[:count]), seats, {"x": 1}, seed=9)


@pytest.mark.parametrize(
    ("batches", "digest"),
    [
        (round_robin(pinned(count=5)), "13699ec09346c438"),
        (round_robin(pinned(count=4), shared_deals=True), "aa0b68320f2a15fb"),
        (self_play(pinned(4)), "3840c30643acd083"),
        (cross_play(pinned()), "719cbd54ebae6e6f"),
        (field_play(pinned(5), opponent="a", focus_option="seat", both_roles=True), "3342735f5bf7d6da"),
        (rotation(pinned(4, count=6)), "724485c9ad9ce9c9"),
    ],
)
def test_schedules_are_pinned(batches, digest):
    # A change would give every recorded run other matches.
    identities = "".join(match.id for match in take(batches, 3))
    assert hashlib.sha256(identities.encode()).hexdigest()[:16] == digest


def test_round_robin_staff_keeps_its_seats():
    contest = small_contest("game_v0", ("a", "b"), 2, staff={0: "examiner", 3: "a"})
    matches, bare = take(round_robin(contest)), take(round_robin(small_contest("game_v0", ("a", "b"))))
    assert matches[0].policies == ("examiner", "a", "b", "a")
    assert [tuple(contest.rated(match.policies)) for match in matches] == [match.policies for match in bare]
    assert [match.seed for match in matches] == [match.seed for match in bare]


def test_deal_seeds_do_not_depend_on_the_pool():
    few = take(round_robin(small_contest("game_v0", ("a", "b"), seed=5)), 3)
    many = take(round_robin(small_contest("game_v0", names(8), options={"x": 1}, seed=5)), 3)
    assert {match.seed for match in few} <= {match.seed for match in many}


def test_matches_do_not_share_options():
    matches = take(round_robin(small_contest("game_v0", ("z", "a"), options={"deep": 1})))
    assert matches[0].policies == ("z", "a")
    matches[0].options["deep"] = 2
    assert matches[1].options == {"deep": 1}


@pytest.mark.parametrize(
    ("pairing", "arguments", "message"),
    [
        ("round_robin", {"policies": ("a",)}, "2 policies or more, got 1"),
        ("round_robin", {"policies": ("a", "a")}, "all different"),
        ("round_robin", {"policies": ()}, "one name or more"),
        ("round_robin", {"seats": 3}, "2 rated seats, got 3"),
        ("rotation", {"seats": 4}, "4 policies or more, got 2"),
        ("field", {"seats": 1}, "two rated seats or more"),
        ("cross_play", {"seats": 5}, "2 rated seats, got 5"),
        ("round_robin", {"seed": -1}, "seed"),
        ("round_robin", {"batch": 0}, "batch"),
        ("round_robin", {"staff": {3: "judge"}}, r"seats from 0 to 2, got \[3\]"),
    ],
)
def test_schedules_invalid_contests_are_refused(pairing, arguments, message):
    with pytest.raises(OptionError, match=message):
        PAIRINGS[pairing](small_contest(**{"environment": "game_v0", "policies": ("a", "b"), **arguments}))


def test_batches_cycle_options_by_deal():
    contest = small_contest("game_v0", names(3), options={"size": 4}, by_deal={"start": ["a", "b"]}, batch=1)
    for shared in (True, False):
        matches = take(round_robin(contest, shared_deals=shared), 4)
        assert all(match.options["size"] == 4 for match in matches)
        starts = {}
        for match in matches:
            starts.setdefault(match.seed, set()).add(match.options["start"])
        assert [one for deal in starts.values() for one in deal] == ["a", "b"] * (len(starts) // 2)
