"""Style control: effects are found, ratings corrected, and what cannot be held equal is refused."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rating
from rating.stats.bradley_terry import standings
from rating.stats.bradley_terry.comparisons import comparisons_of
from rating.stats.results import LEAST_WEIGHT, MOST_WEIGHT, Battle
from rating.stats.style import style_control

STRENGTHS = {"ann": 100.0, "bob": 0.0, "cid": -100.0}


def votes(seed=0, *, count=900, deals=150, effects=(60.0, 0.0)):
    """Votes that length and headers decide as well; the weakest policy writes four times as much."""
    rng, names, found = np.random.default_rng(seed), list(STRENGTHS), []
    for number in range(count):
        one, other = rng.choice(names, 2, replace=False).tolist()
        words = [round(float(np.exp2(7 + 2 * (name == "cid") + rng.normal()))) for name in (one, other)]
        headers = rng.poisson(2, 2).tolist()
        doublings = [math.log2((1 + a) / (1 + b)) for a, b in (words, headers)]
        lead = STRENGTHS[one] - STRENGTHS[other] + sum(b * z for b, z in zip(effects, doublings, strict=True))
        won = float(rng.random() < 1 / (1 + 10 ** (-lead / 400)))
        style = {"length": tuple(words), "headers": tuple(headers), "lists": (1, 1), "bold": (0, 0)}
        found.append(Battle(one, other, won, f"question {number % deals}", style=style))
    return found


def control(battles, *names):
    return style_control(battles, names, standings(comparisons_of(battles)))


def test_effects_are_found_and_ratings_corrected():
    found = [control(votes(seed, effects=(60.0, 40.0)), "length", "headers") for seed in range(15)]
    held = [one.low <= truth <= one.high for each in found for one, truth in zip(each.effects, (60, 40), strict=True)]
    assert np.mean(held) >= 0.87
    rated = [(row, STRENGTHS[row.policy]) for each in found for row in each.rows]
    assert np.mean([row.low <= 1000 + truth <= row.high for row, truth in rated]) >= 0.87
    assert [np.mean([row.rating for row, _ in rated if row.policy == name]) for name in STRENGTHS] == pytest.approx(
        [1100, 1000, 900], abs=15
    )
    assert np.mean([row.rating - row.plain for row, _ in rated if row.policy == "cid"]) < -50


def test_format_stands_for_what_is_counted_of_it():
    found = control(votes(), "length", "format", "headers")
    assert [one.name for one in found.effects] == ["length", "headers"]
    assert found.alike == ("lists", "bold") and found.deals == 150


def test_plain_ratings_are_those_of_the_leaderboard():
    board = rating.leaderboard(votes(), style=("length",))
    assert {row.policy: row.plain for row in board.style.rows} == {row.policy: row.rating.value for row in board.rows}
    shown = str(board)
    assert "rating, style equal" in shown and "length +" in shown and max(map(len, shown.splitlines())) <= 100
    assert '"effects"' in board.to_json()
    assert rating.leaderboard(votes()).style is None


def test_any_order_of_the_log_gives_the_same_bytes():
    # Battles of their own, some of which differ in nothing but style.
    battles = [
        battle._replace(deal="" if number % 2 else battle.deal) for number, battle in enumerate(votes(count=120))
    ]
    expected = rating.leaderboard(battles, style=("length", "headers")).to_json()
    for seed in range(4):
        order = np.random.default_rng(seed).permutation(len(battles))
        shuffled = rating.leaderboard([battles[index] for index in order], style=("length", "headers"))
        assert shuffled.to_json() == expected


def test_a_swapped_battle_says_the_same():
    battles = votes(count=200)
    swapped = [
        Battle(
            one.second, one.first, 1 - one.score, one.deal, 1.0, {name: pair[::-1] for name, pair in one.style.items()}
        )
        for one in battles
    ]
    for one, other in zip(control(battles, "length").rows, control(swapped, "length").rows, strict=True):
        assert one.policy == other.policy and one.low == pytest.approx(other.low)


def test_a_policy_that_no_results_link_has_no_interval():
    battles = [*votes(), *(Battle("best", "ann", 1.0, f"{n}", style={"length": (9 + n, 20)}) for n in range(20))]
    best = next(row for row in control(battles, "length").rows if row.policy == "best")
    assert (best.low, best.high) == (None, None)
    assert (best.best_rank, best.worst_rank) == (1, 4)


@pytest.mark.parametrize(
    ("style", "message"),
    [
        ({}, "expected 'length' of both texts in all 91 results, got it in 90; these results have bold, headers"),
        ({"headers": (1, 2)}, "got it in 90"),
        ({"length": (math.nan, 2)}, r"a number of 0 or more for each side of 'length', got \(nan, 2\)"),
        ({"length": (math.inf, 2)}, "a number of 0 or more"),
        ({"length": (-1, 2)}, "a number of 0 or more"),
        ({"length": (True, 2)}, "a number of 0 or more"),
        ({"length": (None, 2)}, "a number of 0 or more"),
        ({"length": ("many", 2)}, "a number of 0 or more"),
        ({"length": "12"}, "a number of 0 or more"),
        ({"length": (1, 2, 3)}, "a number of 0 or more"),
        ({"length": 3}, "a number of 0 or more"),
        ({3: (1, 2)}, "a number of 0 or more"),
        ("long", "expected counts by name, such as"),
        (None, "expected counts by name, such as"),
    ],
)
def test_hostile_style_is_refused(style, message):
    battles = [*votes(count=90), Battle("ann", "bob", 1.0, style=style)]
    with pytest.raises(ValueError, match=message):
        rating.leaderboard(battles, style=("length",))
    assert len(rating.leaderboard(battles).rows) == 3


def test_what_cannot_be_held_equal_is_refused():
    battles = votes(count=90)
    with pytest.raises(ValueError, match="sides differ in lists, bold, got none"):
        rating.leaderboard(battles, style=("lists", "bold"))
    with pytest.raises(ValueError, match="expected names such as"):
        rating.leaderboard(battles, style="length")
    with pytest.raises(ValueError, match="two or more, from which errors are estimated, got 1"):
        rating.leaderboard([battle._replace(deal="same") for battle in battles], style=("length",))
    long = {"ann": 100, "bob": 200, "cid": 400}
    same = [one._replace(style={"length": (long[one.first], long[one.second])}) for one in battles]
    with pytest.raises(ValueError, match="'length' varies by itself, but who plays determine it"):
        rating.leaderboard(same, style=("length",))
    twice = [one._replace(style={"length": one.style["length"], "signs": one.style["length"]}) for one in battles]
    with pytest.raises(ValueError, match="'signs' varies by itself, but who plays, length determine it"):
        rating.leaderboard(twice, style=("length", "signs"))


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")]),
            st.sampled_from([0.0, 0.3, 0.5, 1.0]),
            st.integers(0, 3),
            st.sampled_from([1.0, LEAST_WEIGHT, 30.0, MOST_WEIGHT]),
            st.floats(0, 1e12),
            st.floats(0, 1e12),
        ),
        min_size=1,
        max_size=25,
    )
)
def test_any_battles_give_finite_numbers_or_an_error(drawn):
    battles = [
        Battle(*pair, score, str(deal), weight, {"length": (one, other)})
        for pair, score, deal, weight, one, other in drawn
    ]
    try:
        board = rating.leaderboard(battles, style=("length",))
    except ValueError as error:
        assert "style: " in str(error) or "deals: " in str(error)
        return
    assert all(math.isfinite(value) for one in board.style.effects for value in (one.value, one.low, one.high))
    assert all(math.isfinite(row.rating) for row in board.style.rows)
