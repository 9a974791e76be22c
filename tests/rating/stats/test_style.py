"""Style control: effects are found, ratings corrected, and inseparable style is refused."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rating
from rating.stats.bradley_terry import (
    DEFAULT_PRIOR_SD,
    ELO_PER_NAT,
    BradleyTerryOptions,
    Comparisons,
    clustered,
    fit,
    standings,
)
from rating.stats.bradley_terry.comparisons import comparisons_of
from rating.stats.results import LEAST_WEIGHT, MOST_WEIGHT, Battle
from rating.stats.style import fit_with_covariates, style_control

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


@pytest.mark.slow
def test_style_control_finds_effects_and_corrects_ratings():
    found = [control(votes(seed, effects=(60.0, 40.0)), "length", "headers") for seed in range(15)]
    held = [
        one.low <= truth <= one.high
        for each in found
        for one, truth in zip(each.effects.values(), (60, 40), strict=True)
    ]
    assert np.mean(held) >= 0.87
    rated = [(row, STRENGTHS[row.policy]) for each in found for row in each.rows]
    assert np.mean([row.rating.low <= 1000 + truth <= row.rating.high for row, truth in rated]) >= 0.87
    assert [
        np.mean([row.rating.value for row, _ in rated if row.policy == name]) for name in STRENGTHS
    ] == pytest.approx([1100, 1000, 900], abs=15)
    assert np.mean([row.rating.value - row.plain for row, _ in rated if row.policy == "cid"]) < -50


def test_style_control_format_means_its_counts():
    found = control(votes(), "length", "format", "headers")
    assert list(found.effects) == ["length", "headers"]
    assert found.alike == ("lists", "bold") and found.deals == 150


def test_style_control_plain_ratings_match_leaderboard():
    board = rating.leaderboard(votes(), style=("length",))
    assert {row.policy: row.plain for row in board.style.rows} == {row.policy: row.rating.value for row in board.rows}
    shown = str(board)
    assert "rating, style equal" in shown and "length +" in shown and max(map(len, shown.splitlines())) <= 100
    assert '"effects"' in board.to_json()
    assert rating.leaderboard(votes()).style is None


def test_style_control_order_of_log_has_no_effect():
    # Separate battles, some of which differ in style only.
    battles = [
        battle._replace(deal="" if number % 2 else battle.deal) for number, battle in enumerate(votes(count=120))
    ]
    expected = rating.leaderboard(battles, style=("length", "headers")).to_json()
    for seed in range(4):
        order = np.random.default_rng(seed).permutation(len(battles))
        shuffled = rating.leaderboard([battles[index] for index in order], style=("length", "headers"))
        assert shuffled.to_json() == expected


def test_style_control_swapped_battles_give_the_same():
    battles = votes(count=200)
    swapped = [
        Battle(
            one.second, one.first, 1 - one.score, one.deal, 1.0, {name: pair[::-1] for name, pair in one.style.items()}
        )
        for one in battles
    ]
    for one, other in zip(control(battles, "length").rows, control(swapped, "length").rows, strict=True):
        assert one.policy == other.policy and one.rating.low == pytest.approx(other.rating.low)


def test_style_control_unlinked_policy_has_no_interval():
    battles = [*votes(), *(Battle("best", "ann", 1.0, f"{n}", style={"length": (9 + n, 20)}) for n in range(20))]
    best = next(row for row in control(battles, "length").rows if row.policy == "best")
    assert (best.rating.low, best.rating.high) == (None, None)
    assert (best.best_rank, best.worst_rank) == (1, 4)


@pytest.mark.parametrize(
    ("style", "message"),
    [
        ({}, "expected 'length' of both texts in all 91 results, got it in 90; these results have bold, headers"),
        ({"headers": (1, 2)}, "got it in 90"),
        ({"length": (math.nan, 2)}, r"a number of 0 or more for each side of 'length', got \(nan, 2\)"),
        ({"length": (-1, 2)}, "a number of 0 or more"),
        ({"length": (None, 2)}, "a number of 0 or more"),
        ({"length": (1, 2, 3)}, "a number of 0 or more"),
        ({"length": 3}, "a number of 0 or more"),
        ({3: (1, 2)}, "a number of 0 or more"),
        ("long", "expected counts by name, such as"),
    ],
)
def test_style_control_hostile_style_is_refused(style, message):
    battles = [*votes(count=90), Battle("ann", "bob", 1.0, style=style)]
    with pytest.raises(ValueError, match=message):
        rating.leaderboard(battles, style=("length",))
    assert len(rating.leaderboard(battles).rows) == 3


def test_style_control_inseparable_style_is_refused():
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


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
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
def test_style_control_any_battles_are_finite_or_refused(drawn):
    battles = [
        Battle(*pair, score, str(deal), weight, {"length": (one, other)})
        for pair, score, deal, weight, one, other in drawn
    ]
    try:
        board = rating.leaderboard(battles, style=("length",))
    except ValueError as error:
        assert "style: " in str(error) or "deals: " in str(error)
        return
    assert all(math.isfinite(value) for one in board.style.effects.values() for value in (one.value, one.low, one.high))
    assert all(math.isfinite(row.rating.value) for row in board.style.rows)


def confounded(rng, *, effect=120.0, size=10, games=1500):
    """Results that length decides as well, where the weaker policies write more."""
    strengths = rng.normal(0, 100, size)
    wordy = -0.008 * strengths + rng.normal(0, 0.5, size)
    first = rng.integers(size, size=games)
    second = (first + rng.integers(1, size, size=games)) % size
    longer = wordy[first] - wordy[second] + rng.normal(0, 1, games)
    lead = (strengths[first] - strengths[second] + effect * longer) / ELO_PER_NAT
    score = (rng.random(games) < 1 / (1 + np.exp(-lead))).astype(float)
    names = tuple("abcdefghij"[:size])
    return Comparisons(names, first, second, score, np.arange(games)), longer, strengths


def test_fit_with_covariates_none_is_the_clustered_fit():
    data, _, _ = confounded(np.random.default_rng(2), games=200)
    fitted, effects = fit_with_covariates(data, {})
    plain = clustered(fit(data, BradleyTerryOptions("fitted")), data)
    np.testing.assert_allclose(fitted.ratings, plain.ratings)
    np.testing.assert_allclose(fitted.covariance, plain.covariance, atol=1e-6)
    assert (fitted.seat_advantage, fitted.seat_error) == pytest.approx((plain.seat_advantage, plain.seat_error))
    assert fitted.clusters == plain.clusters == 200 and effects == {}


def test_fit_with_covariates_errors_match_leaving_out_each_deal():
    rng = np.random.default_rng(6)
    data, longer, _ = confounded(rng, size=4, games=200)
    # Deals of one result, of several, and of more than there are parameters.
    data = replace(data, cluster=np.array([min(game // 9, 15) if game > 40 else 100 + game for game in range(200)]))
    fitted, effects = fit_with_covariates(data, {"length": longer})
    effect, prior_sd = effects["length"], fitted.options.prior_sd
    x = np.r_[fitted.ratings - 1000, fitted.seat_advantage, effect.value] / ELO_PER_NAT
    rows = np.column_stack((np.eye(4)[data.first] - np.eye(4)[data.second], np.ones(200), longer))
    p = 1 / (1 + np.exp(-(rows @ x)))
    prior = np.diag((ELO_PER_NAT / np.r_[np.full(4, prior_sd), DEFAULT_PRIOR_SD, DEFAULT_PRIOR_SD]) ** 2)
    curvature = rows.T @ ((p * (1 - p))[:, None] * rows) + prior
    inverse, squares, deals = np.linalg.inv(curvature), np.zeros((6, 6)), np.unique(data.cluster)
    for deal in deals:
        own = data.cluster == deal
        information = rows[own].T @ ((p * (1 - p))[own, None] * rows[own])
        moved = np.linalg.solve(curvature - information, rows[own].T @ (data.score - p)[own])
        squares += np.outer(moved, moved)
    expected = (1 - 1 / len(deals)) * squares + inverse @ prior @ inverse
    assert effect.high - effect.value == pytest.approx(fitted.reach * ELO_PER_NAT * expected[5, 5] ** 0.5)
    assert fitted.seat_error == pytest.approx(ELO_PER_NAT * expected[4, 4] ** 0.5)
    assert fitted.clusters == len(deals)


def test_fit_with_covariates_separating_one_is_finite():
    data = comparisons_of([Battle("a", "b", 1.0), Battle("b", "a", 0.0), Battle("a", "b", 0.0)])
    fitted, effects = fit_with_covariates(data, {"length": np.array([9.0, -9.0, -9.0])})
    assert np.isfinite(effects["length"].value) and np.all(np.isfinite(fitted.errors))
