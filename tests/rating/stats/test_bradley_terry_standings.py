"""Statements about each policy: intervals, bounds, ranks and caveats."""

import numpy as np
import pytest

from rating.stats.bradley_terry import (
    ELO_PER_NAT,
    BradleyTerryOptions,
    Comparisons,
    clustered,
    drawn_ratings,
    fit,
    fit_totals,
    standings,
    totals,
)
from rating.stats.bradley_terry.comparisons import comparisons_of
from rating.stats.results import Battle


def draw(strengths, games, rng, *, ties=0.0):
    """Duels of the model between random pairs."""
    size = len(strengths)
    first = rng.integers(size, size=games)
    second = (first + rng.integers(1, size, size=games)) % size
    score = (rng.random(games) < 1 / (1 + np.exp(-(strengths[first] - strengths[second]) / ELO_PER_NAT))).astype(float)
    score[rng.random(games) < ties] = 0.5
    return Comparisons(tuple("abcdefghijklmnop"[:size]), first, second, score, np.arange(games))


def both_ways(*pairs, times=3):
    """Battles that each has won of each."""
    return [Battle(*pair, score) for pair in pairs for score in (1.0, 0.0) for _ in range(times)]


def rows_of(battles, **options):
    shown = standings(comparisons_of(battles), BradleyTerryOptions("fitted", **options))
    return {row.policy: row for row in shown.rows}, shown.notes


def test_standings_unbeaten_policy_is_bounded_below():
    inner = both_ways("ab", "bc", "ca", times=20)
    plain, notes = rows_of(inner)
    assert not any("unbeaten" in note or "without a win" in note for note in notes)
    rows, notes = rows_of(
        [*inner, *(Battle("u", name, 1.0) for name in "abc"), *(Battle("z", name, 0.0) for name in "abc")]
    )
    assert [rows[name].rating.is_linked for name in "abcuz"] == [True, True, True, False, False]
    assert rows["u"].rating.high is None and rows["u"].rating.low < rows["u"].rating.value
    assert rows["z"].rating.low is None and rows["z"].rating.high > rows["z"].rating.value
    for name in "abc":
        assert rows[name].rating.value == pytest.approx(plain[name].rating.value, abs=3)
        assert rows[name].rating.high - rows[name].rating.low == pytest.approx(
            plain[name].rating.high - plain[name].rating.low, rel=0.1
        )
    assert any(note.startswith("u:") and "unbeaten" in note for note in notes)
    assert any(note.startswith("z:") and "without a win" in note for note in notes)


def test_standings_unconnected_policies_are_unbounded():
    far = [Battle("x", "y", 1.0)] * 60 + [Battle("y", "x", 1.0)] * 2
    rows, notes = rows_of([*both_ways("ab", "bc", "ca", times=20), *far])
    for name in "xy":
        assert (rows[name].rating.low, rows[name].rating.high, rows[name].rating.is_linked) == (None, None, False)
    assert (rows["x"].best_rank, rows["x"].worst_rank) == (1, 4)  # above y, and nothing is known of the others
    assert (rows["y"].best_rank, rows["y"].worst_rank) == (2, 5)
    assert any(note.startswith("x, y: never compared") for note in notes)


def test_standings_policies_with_few_games_are_no_anchors():
    rng = np.random.default_rng(0)
    inner = both_ways("ab", "bc", "ca", times=50)
    rare = [Battle(f"r{index}", "a", float(score)) for index in range(8) for score in (0, rng.random() < 0.9)]
    rows, _ = rows_of([*inner, *rare])
    assert np.mean([rows[name].rating.value for name in "abc"]) == pytest.approx(1000)
    assert [row.policy for row in rows.values() if row.is_anchor] == sorted(
        "abc", key=lambda name: (-rows[name].rating.value, name)
    )


@pytest.mark.parametrize(
    ("battles", "words"),
    [
        ([Battle("a", "b", 0.5)] * 6, "Every result is a tie"),
        ([Battle("a", "b", 1.0), Battle("b", "c", 1.0)], "No two policies have beaten each other"),
        ([battle._replace(deal="one") for battle in both_ways("ab", "bc")], "All results are of one deal"),
        (both_ways("ab", "bc"), "12 of 12 results name no deal"),
    ],
)
def test_standings_weak_data_have_caveats(battles, words):
    assert any(words in note for note in rows_of(battles)[1])


def test_standings_one_policy_is_not_compared():
    alone = standings(Comparisons(("a",), *np.zeros((2, 0), dtype=np.int64), np.zeros(0), np.zeros(0, dtype=np.int64)))
    assert [
        (row.rating.value, row.rating.low, row.rating.high, row.best_rank, row.worst_rank) for row in alone.rows
    ] == [(1000, None, None, 1, 1)]
    assert "one policy" in alone.notes[0]


def test_standings_one_deal_establishes_nothing():
    for battles in ([Battle("a", "b", score, "q") for score in [1] * 60 + [0] * 40], [Battle("a", "b", 1, "q")] * 200):
        for row in rows_of(battles)[0].values():
            assert (row.rating.low, row.rating.high, row.best_rank, row.worst_rank) == (None, None, 1, 2)


def test_standings_unbeaten_policy_needs_deals():
    inner = both_ways("ab", "bc", "ca", times=20)
    once = [Battle("u", "abc"[deal % 3], 1.0, f"d{deal}") for deal in range(6)]
    rows, many = rows_of([*inner, *once])[0], rows_of([*inner, *once * 20])[0]
    assert many["u"].rating.low == pytest.approx(rows["u"].rating.low, abs=60)
    assert rows["u"].worst_rank > 1
    assert rows_of([*inner, *(Battle("u", "abc"[d % 3], 1.0, f"d{d}") for d in range(60))])[0]["u"].worst_rank == 1


def test_standings_unanimous_results_establish_the_order():
    rows, _ = rows_of([Battle("a", "b", 1.0, f"{deal}") for deal in range(20)])
    assert (rows["a"].worst_rank, rows["b"].best_rank, rows["a"].rating.high, rows["b"].rating.low) == (
        1,
        2,
        None,
        None,
    )


@pytest.mark.slow
def test_standings_ranks_of_equals_hold_the_level():
    # Pairwise intervals would tell some two of eight equals apart in nearly half of the pools.
    rng = np.random.default_rng(6)
    wrong = [any(row.best_rank > 1 for row in standings(draw(np.zeros(8), 400, rng)).rows) for _ in range(150)]
    assert np.mean(wrong) <= 0.08


def test_standings_growth_needs_more_evidence():
    battles = [Battle("a", "b", score, f"{deal}") for deal, score in enumerate([1.0] * 36 + [0.0] * 18)]
    one_look, many = (standings(comparisons_of(battles), growth=growth).rows[0] for growth in (1.0, 20.0))
    assert (one_look.worst_rank, many.worst_rank) == (1, 2)


def test_standings_few_ties_have_wide_intervals():
    rows, _ = rows_of([Battle("a", "b", 0.5, str(deal)) for deal in range(4)])
    assert rows["a"].rating.high - rows["a"].rating.low > 100


def test_standings_dropped_ties_do_not_link():
    battles = [*both_ways("ab", times=9), *([Battle("b", "c", 0.5)] * 9)]
    assert rows_of(battles)[0]["c"].rating.is_linked
    rows, notes = rows_of(battles, ties="drop")
    assert not rows["c"].rating.is_linked
    assert any("9 of 27 results are ties" in note for note in notes)
    assert any(note.startswith("c: never compared") and "without ties" in note for note in notes)


@pytest.mark.slow
def test_standings_intervals_cover_the_truth():
    rng, hits = np.random.default_rng(3), []
    for _ in range(60):
        strengths = np.append(rng.normal(0, 150, 6), 2000)
        truth = 1000 + strengths - strengths[:6].mean()
        ordinary = [row for row in standings(draw(strengths, 500, rng)).rows if row.policy != "g"]
        hits += [row.rating.low <= truth["abcdef".index(row.policy)] <= row.rating.high for row in ordinary]
    assert 0.91 <= np.mean(hits) <= 0.985


def fitted_prior_sd(wins, games):
    return fit_totals("abcdefghijklmnop"[: len(wins)], wins, games, BradleyTerryOptions("fitted")).options.prior_sd


def test_fit_prior_is_as_wide_as_the_pool():
    rng = np.random.default_rng(4)
    for sd in (0.0, 200.0, 600.0):
        found = np.mean([fitted_prior_sd(*totals(draw(rng.normal(0, sd, 16), 3000, rng))) for _ in range(4)])
        assert found == pytest.approx(max(sd, 110), rel=0.15)
    nothing = np.zeros((3, 3))
    assert np.isfinite(fitted_prior_sd(nothing, nothing))
    wins = np.array([[0.0, 50], [0, 0]])
    assert 100 <= fitted_prior_sd(wins, wins) <= 2000


@pytest.mark.parametrize("ties", ["half", "drop"])
def test_standings_order_of_log_gives_the_same_bytes(ties):
    rng = np.random.default_rng(5)
    battles = [
        Battle(
            *rng.permutation(list("abcde"))[:2],
            score=rng.choice([0.5, rng.random()]),
            deal=rng.choice(["", "x", "y"]),
            weight=w,
        )
        for w in rng.uniform(0.1, 3, 200)
    ]

    def bytes_of(log):
        data, options = comparisons_of(log), BradleyTerryOptions("fitted", ties=ties)
        shown = standings(data, options)
        fitted = fit(data, options)
        parts = (
            fitted.covariance,
            shown.fitted.covariance,
            clustered(fitted, data).covariance,
            drawn_ratings(fitted, data, draws=20),
        )
        return shown.rows, *(part.tobytes() for part in parts)

    expected = bytes_of(battles)
    for seed in range(3):
        assert bytes_of([battles[index] for index in np.random.default_rng(seed).permutation(200)]) == expected


def test_fit_weight_is_a_number_of_games():
    once = [*both_ways("ab", "bc", "ca"), Battle("a", "b", 1.0)]
    twice = fit(comparisons_of([*once, *once]))
    weighed = fit(comparisons_of([battle._replace(weight=2.0) for battle in once]))
    np.testing.assert_allclose(twice.ratings, weighed.ratings)
    np.testing.assert_allclose(twice.covariance, weighed.covariance)


def test_fit_fractions_are_shares_of_wins():
    shares = fit(comparisons_of([Battle("a", "b", 0.9)] * 10))
    games = fit(comparisons_of([*([Battle("a", "b", 1.0)] * 9), Battle("a", "b", 0.0)]))
    np.testing.assert_allclose(shares.ratings, games.ratings)
