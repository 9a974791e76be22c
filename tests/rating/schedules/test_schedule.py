import itertools
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmarena_envs.core.options import OptionError
from rating.schedules.schedule import SCHEDULES, Contest, deal_seed, field_play, rotation, round_robin, schedule


def take(batches, number=1):
    return [match for batch in itertools.islice(batches, number) for match in batch]


def names(count):
    return tuple(f"p{index}" for index in range(count))


def seatings(matches):
    return Counter(match.policies for match in matches)


pools = st.integers(2, 9)


@given(pools, st.integers(1, 3), st.booleans())
def test_round_robin_gives_every_ordered_pair_equally_often(count, batches, shared):
    contest = Contest("game_v0", names(count))
    matches = take(round_robin(contest, shared_deals=shared), batches)
    counts = seatings(matches)
    assert set(counts) == set(itertools.permutations(names(count), 2))
    assert len(set(counts.values())) == 1
    assert min(Counter(name for match in matches for name in match.policies).values()) >= 10 * batches


@given(pools)
def test_both_sides_of_a_pair_play_the_same_deal_and_no_other_pair_does(count):
    by_seed = {}
    for match in take(round_robin(Contest("game_v0", names(count))), 3):
        by_seed.setdefault(match.seed, []).append(match.policies)
    assert all(len(pair) == 2 and pair[0] == pair[1][::-1] for pair in by_seed.values())


@given(pools)
def test_shared_deals_are_played_by_every_pair(count):
    by_seed = {}
    for match in take(round_robin(Contest("game_v0", names(count)), shared_deals=True), 3):
        by_seed.setdefault(match.seed, []).append(match.policies)
    assert all(sorted(pairs) == sorted(itertools.permutations(names(count), 2)) for pairs in by_seed.values())


@given(pools)
def test_matches_in_a_row_spread_over_the_policies(count):
    matches = take(round_robin(Contest("game_v0", names(count))))
    width = count // 2
    for start in range(0, count * (count - 1), width):
        busy = [name for match in matches[start : start + width] for name in match.policies]
        assert len(set(busy)) == len(busy) == 2 * width


@pytest.mark.parametrize("seats", [1, 2, 5])
def test_self_play(seats):
    contest = Contest("game_v0", names(3), seats=seats)
    matches = take(schedule("game_v0", names(3), {}, 0, kind="self_play", seats=seats))
    assert seatings(matches) == {(name,) * seats: 10 for name in contest.policies}
    seeds = {name: [match.seed for match in matches if name in match.policies] for name in contest.policies}
    assert seeds["p0"] == seeds["p1"] == seeds["p2"] and len(set(seeds["p0"])) == 10


@given(st.integers(1, 6))
def test_cross_play_has_every_ordered_pair_and_the_diagonal_on_each_deal(count):
    matches = take(schedule("hanabi_v0", names(count), {}, 0, kind="cross_play"), 2)
    by_seed = {}
    for match in matches:
        by_seed.setdefault(match.seed, []).append(match.policies)
    assert all(sorted(pairs) == sorted(itertools.product(names(count), repeat=2)) for pairs in by_seed.values())


def test_field_with_both_roles_also_puts_every_policy_on_all_other_seats():
    contest = Contest("undercover_v0", ("a", "f"), seats=3)
    matches = take(field_play(contest, opponent="f", focus_option="seat", both_roles=True))
    seatings = [(match.policies, match.options["seat"]) for match in matches[:9]]
    assert seatings[:3] == [(("a", "f", "f"), 0), (("f", "a", "a"), 0), (("f", "f", "f"), 0)]
    assert seatings[3:6] == [(("f", "a", "f"), 1), (("a", "f", "a"), 1), (("f", "f", "f"), 1)]
    assert len({match.seed for match in matches[:3]}) == 1


def test_field_puts_every_policy_on_every_seat_and_tells_the_environment():
    contest = Contest("undercover_v0", ("a", "b", "f"), seats=5, options={"language": "zh"}, seed=3)
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


def test_undercover_is_played_a_hundred_times_by_ten_batches():
    matches = take(field_play(Contest("undercover_v0", ("a", "b"), seats=5), opponent="f"), 10)
    assert Counter(name for match in matches for name in match.policies if name != "f") == {"a": 100, "b": 100}


@settings(deadline=None)
@given(st.integers(2, 8).flatmap(lambda count: st.tuples(st.just(count), st.integers(2, min(count, 5)))))
def test_rotation_gives_every_seat_equally_often_in_every_batch(shape):
    count, seats = shape
    for batch in itertools.islice(rotation(Contest("game_v0", names(count), seats=seats)), 5):
        counts = Counter((name, seat) for match in batch for seat, name in enumerate(match.policies))
        assert len(counts) == count * seats
        assert len(set(counts.values())) == 1
        by_seed = {}
        for match in batch:
            by_seed.setdefault(match.seed, []).append(match.policies)
        for square in by_seed.values():  # a Latin square: each row and each column holds everybody once
            assert len(square) == seats
            assert all(len(set(line)) == seats for line in [*square, *zip(*square, strict=True)])


@pytest.mark.parametrize(("count", "seats"), [(4, 3), (5, 3), (6, 3), (4, 4), (6, 4)])
def test_rotation_covers_all_subsets_then_all_assignments_equally_often(count, seats):
    assignments = list(itertools.permutations(names(count), seats))
    batches = rotation(Contest("game_v0", names(count), seats=seats, batch=1))
    matches = []
    while len(matches) < len(assignments):
        matches += next(batches)
    assert seatings(matches) == dict.fromkeys(assignments, 1)
    subsets = len(list(itertools.combinations(range(count), seats)))
    assert len({frozenset(match.policies) for match in matches[: subsets * seats]}) == subsets


def every_kind(seed=0, environment="game_v0", pool=("a", "b", "c"), options=None):
    details = {"field": {"opponent": "f"}}
    return {
        kind: schedule(environment, pool, options or {}, seed, kind=kind, **details.get(kind, {})) for kind in SCHEDULES
    }


@pytest.mark.parametrize("kind", SCHEDULES)
def test_schedules_are_deterministic_numbered_and_depend_on_the_seed(kind):
    first, again, other = (take(every_kind(seed)[kind], 3) for seed in (0, 0, 1))
    assert first == again
    assert [match.number for match in first] == list(range(len(first)))
    assert len({match.id for match in first}) == len(first)
    assert not {match.seed for match in first} & {match.seed for match in other}


@pytest.mark.parametrize("kind", SCHEDULES)
def test_batches_do_not_change_the_sequence_of_matches(kind):
    details = {"opponent": "f"} if kind == "field" else {}
    small, large = (
        take(schedule("game_v0", ("a", "b", "c"), {}, 0, kind=kind, batch=batch, **details), number)
        for batch, number in ((1, 60), (100, 1))
    )
    length = min(len(small), len(large))
    assert length > 50
    assert small[:length] == large[:length]


def test_seeds_differ_between_deals_environments_and_roots():
    seeds = [
        deal_seed(root, environment, deal)
        for root in (0, 1, 2**32, 2**64 + 1)
        for environment in ("tictactoe_v0", "tictactoe_v1", "bid_v0", "a", "aa")
        for deal in range(2000)
    ]
    assert len(set(seeds)) == len(seeds)
    assert all(type(seed) is int and 0 <= seed < 2**53 for seed in seeds)


def test_seeds_are_pinned():
    # A change would give every recorded run other deals.
    assert deal_seed(0, "tictactoe_v0", 0) == PINNED[0]
    assert deal_seed(7, "hanabi_v0", 12) == PINNED[1]


PINNED = (2164927220233164, 3518868889554680)


def test_seeds_do_not_depend_on_who_plays():
    few = take(schedule("game_v0", ("a", "b"), {}, 5), 3)
    many = take(schedule("game_v0", names(8), {"x": 1}, 5), 3)
    assert {match.seed for match in few} <= {match.seed for match in many}


def test_input_order_is_kept_and_options_are_not_shared():
    matches = take(schedule("game_v0", ("z", "a"), {"deep": 1}, 0))
    assert matches[0].policies == ("z", "a")
    matches[0].options["deep"] = 2
    assert matches[1].options == {"deep": 1}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kind": "swiss"}, "did you mean|expected one of"),
        ({"policies": ("a",)}, "2 policies or more, got 1"),
        ({"policies": ("a", "a")}, "all different"),
        ({"policies": ()}, "one name or more"),
        ({"seats": 3}, "2 seats, got 3"),
        ({"seats": 4, "kind": "rotation"}, "4 policies or more, got 2"),
        ({"seats": 1, "kind": "field", "opponent": "f"}, "two seats or more"),
        ({"seats": 5, "kind": "cross_play"}, "2 seats, got 5"),
        ({"seed": -1}, "seed"),
        ({"batch": 0}, "batch"),
    ],
)
def test_what_cannot_be_scheduled_is_refused_at_once(arguments, message):
    with pytest.raises(OptionError, match=message):
        schedule(**{"environment": "game_v0", "policies": ("a", "b"), "options": {}, "seed": 0, **arguments})
