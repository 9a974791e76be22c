"""Who meets whom in a Swiss round: as good as the best of all ways of pairing, and exactly one of them."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmarena_envs.core.options import OptionError
from rating.schedules.swiss import pair_up

RATINGS = st.one_of(
    st.integers(0, 3).map(float), st.floats(0, 2000, allow_nan=False).map(lambda value: round(value, 6))
)
"""Ratings are compared to 6 decimals."""


@st.composite
def situations(draw, least=2, most=7):
    names = [chr(97 + index) for index in range(draw(st.integers(least, most)))]
    ratings = {name: draw(RATINGS) for name in names}
    pairs = [frozenset(pair) for pair in itertools.combinations(names, 2)]
    met = {pair: draw(st.integers(1, 2)) for pair in draw(st.sets(st.sampled_from(pairs)))}
    byes = {name: draw(st.integers(0, 2)) for name in names}
    return ratings, met, byes


def every_way(names):
    if not names:
        yield []
        return
    first, *others = names
    for second in others:
        for rest in every_way([name for name in others if name != second]):
            yield [(first, second), *rest]


def rematches(pairs, met):
    return sum(frozenset(pair) in met for pair in pairs)


def distance(pairs, ratings):
    return sum((ratings[first] - ratings[second]) ** 2 for first, second in pairs)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(situations())
def test_pair_up_is_the_best_of_all_pairings(situation):
    ratings, met, byes = situation
    drawn = pair_up(ratings, met, byes)
    playing = sorted(set(ratings) - {drawn.bye})
    assert sorted(itertools.chain(*drawn.pairs)) == playing
    ways = list(every_way(playing))
    fewest = min(rematches(way, met) for way in ways)
    assert rematches(drawn.pairs, met) == fewest
    closest = min(distance(way, ratings) for way in ways if rematches(way, met) == fewest)
    spread = max(ratings.values()) - min(ratings.values())
    assert distance(drawn.pairs, ratings) <= closest + 1e-5 * spread**2


@pytest.mark.slow
@given(situations(), st.randoms())
def test_pair_up_ignores_input_order(situation, random):
    ratings, met, byes = situation
    mixed = [dict(random.sample(list(table.items()), len(table))) for table in situation]
    assert pair_up(*mixed) == pair_up(ratings, met, byes)


@given(situations())
def test_pair_up_bye_goes_to_the_lowest(situation):
    ratings, met, byes = situation
    drawn = pair_up(ratings, met, byes)
    assert bool(drawn.bye) == len(ratings) % 2
    if drawn.bye:
        fewest = [name for name in ratings if byes[name] == min(byes.values())]
        assert drawn.bye in fewest
        assert all((round(ratings[name], 6), drawn.bye) >= (round(ratings[drawn.bye], 6), name) for name in fewest)


def test_pair_up_equals_are_paired_by_name():
    assert pair_up(dict.fromkeys("dcba", 5.0), {}, {}).pairs == (("a", "b"), ("c", "d"))
    met = {frozenset("ab"): 1}
    assert pair_up(dict.fromkeys("abcd", 5.0), met, {}).pairs == (("a", "c"), ("b", "d"))


def test_pair_up_avoids_rematches_globally():
    ratings = {"a": 5.0, "b": 4.0, "c": 3.0, "d": 2.0, "e": 1.0, "f": 0.0}
    met = {frozenset(pair): 1 for pair in ("ab", "bc", "cd", "de", "ef", "ae", "bf", "df")}
    # Greedy pairing with the closest new opponent, from the top (a-c, b-d), leaves e and f, which have met.
    drawn = pair_up(ratings, met, {})
    assert rematches(drawn.pairs, met) == 0
    assert drawn.pairs == (("a", "d"), ("b", "e"), ("c", "f"))


@pytest.mark.slow
def test_pair_up_hundreds_meet_their_neighbours():
    ratings = {f"p{index:03}": 1000.0 - 3 * index for index in range(101)}
    drawn = pair_up(ratings, {}, {})
    assert drawn.bye == "p100"
    assert drawn.pairs == tuple((f"p{index:03}", f"p{index + 1:03}") for index in range(0, 100, 2))


def test_pair_up_single_policy_is_refused():
    with pytest.raises(OptionError, match="expected two players or more"):
        pair_up({"a": 1.0}, {}, {})
