"""Row f3: scores of bids, and what counts as a bid."""

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.experiments.command import main
from benchmarks.experiments.seats import check_two_seats
from benchmarks.llmarena.__main__ import PAPER
from benchmarks.llmarena.auctions import median_estimate, own_bids, payoff
from benchmarks.llmarena.self_play import missing
from llmarena_envs.core.options import OptionError
from rating.store.records import FINISHED, VOID, Outcome, SeatOutcome


def bidder(
    score: float, reward: float = 0.0, *, valuation: float = 4.0, fallbacks: int = 0, forfeit: str = ""
) -> SeatOutcome:
    return SeatOutcome(
        "bidder", reward, turns=1, fallbacks=fallbacks, forfeit=forfeit,
        statistics={"score": score, "bid": valuation * (1 + score) / 2, "valuation": valuation},
    )  # fmt: skip


def auction(number: int, *seats: SeatOutcome, status: str = FINISHED) -> Outcome:
    return Outcome("bid_v0", number, number, status, seats)


def test_bids_that_a_player_did_not_make_have_no_score() -> None:
    bids = own_bids(
        [
            auction(0, bidder(0.5, 1.0), bidder(-0.25)),
            auction(1, bidder(-1.0, fallbacks=1), bidder(0.0, 2.0)),
            auction(2, bidder(0.0, valuation=0.0, forfeit="illegal"), bidder(0.0, valuation=0.0)),
        ]
    )
    assert bids.scores == [0.5, -0.25, 0.0]
    assert bids.auctions == [0, 0, 1]
    assert bids.played_for == 2
    median, above = bids.median(), bids.above()
    assert median is not None
    assert (median.value, median.n, median.clusters) == (0.0, 3, 2)
    assert above is not None
    assert above.value == pytest.approx(1 / 3)


def test_the_payoff_is_of_each_bidder_with_auctions_as_clusters() -> None:
    estimate = payoff([auction(number, bidder(0, 3.0 + number), bidder(0)) for number in range(8)])
    assert estimate is not None
    assert (estimate.value, estimate.n, estimate.clusters) == (3.25, 16, 8)
    assert estimate.low is not None


def test_auctions_name_void_matches_and_refuse_three_bidders() -> None:
    played, void = auction(0, bidder(0), bidder(0)), auction(1, bidder(0), bidder(0), status=VOID)
    assert missing([played, void]) == ["bidder: 1 of 2 matches could not be played to the end and are left out"]
    assert missing([played]) == []
    with pytest.raises(OptionError, match="expected matches of two players, got one of 3"):
        check_two_seats([auction(0, bidder(0), bidder(0), bidder(0))])


@pytest.mark.slow
def test_half_bids_near_equilibrium_and_truthful_far_above(tmp_path: Path) -> None:
    assert main(PAPER, ["f3", "--matches", "8", "--workers", "1", "--out", str(tmp_path)]) == 0
    scores, labels = json.loads((tmp_path / "f3.json").read_text())["tables"]
    median = {row["player"]: row["median score (measured)"]["value"] for row in scores["rows"]}
    assert list(median) == ["truthful", *sorted(("random", "half"), key=lambda name: -median[name])]
    assert median["truthful"] > 0.9
    assert -0.1 < median["half"] <= 0
    assert [row["median score (published)"] for row in labels["rows"]][-2:] == [-0.16, 0.52]


def test_the_median_and_its_interval_do_not_depend_on_the_order():
    values, clusters = [3.0, 1.0, 2.0, 9.0, 5.0, 4.0, 8.0], [0, 1, 2, 3, 4, 5, 6]
    estimate = median_estimate(values, clusters)
    assert (estimate.value, estimate.n, estimate.clusters) == (4.0, 7, 7)
    assert 1.0 <= estimate.low < 4.0 < estimate.high <= 9.0
    assert median_estimate(values[::-1], clusters[::-1]) == estimate


def test_few_clusters_have_no_interval():
    estimate = median_estimate([0.0, 1.0] * 5, [0, 0, 1, 1, 2, 2, 3, 3, 4, 4])
    assert (estimate.value, estimate.low, estimate.high, estimate.clusters) == (0.5, None, None, 5)
    assert median_estimate([], []) is None


@pytest.mark.slow
def test_the_interval_covers_the_median_of_clustered_values():
    rng = np.random.default_rng(1)
    covered = {"clustered": 0, "as if independent": 0}
    for _ in range(50):
        common = rng.normal(size=40)
        values = [float(value) for centre in common for value in centre + 0.1 * rng.normal(size=4)]
        clusters = [cluster for cluster in range(40) for _ in range(4)]
        for name, groups in (("clustered", clusters), ("as if independent", list(range(160)))):
            estimate = median_estimate(values, groups)
            covered[name] += estimate.low <= 0 <= estimate.high
    assert covered["clustered"] >= 44
    assert covered["as if independent"] < 40
