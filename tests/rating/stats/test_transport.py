"""Transport of calibrations: false alarms for equal parts, and a part with another calibration."""

import numpy as np

from rating.stats.transport import transport


def draw(rng, *, shift, parts=4, deals=30):
    """Two items a deal: scores with noise; in the last part, the judge gives everything so many points more."""
    part, deal = np.repeat(np.arange(parts), 2 * deals), np.tile(np.arange(deals).repeat(2), parts)
    truth = np.clip(rng.normal(0.5, 0.2, parts * deals).repeat(2) + rng.normal(0, 0.1, len(part)), 0, 1)
    scores = 0.2 + 0.6 * truth + rng.normal(0, 0.1, len(part)) + shift * (part == parts - 1)
    return scores.tolist(), truth.tolist(), [f"p{one}" for one in part], deal.tolist()


def test_transport_equal_parts_are_seldom_told_apart():
    rng = np.random.default_rng(0)
    wrong = [any(part.p < 0.05 for part in transport(*draw(rng, shift=0.0))) for _ in range(200)]
    assert np.mean(wrong) <= 0.08


def test_transport_finds_a_part_with_other_calibration():
    rng = np.random.default_rng(1)
    found = [{part.part: part for part in transport(*draw(rng, shift=0.2))} for _ in range(30)]
    assert np.mean([own["p3"].p < 0.05 for own in found]) > 0.95
    assert all(own["p3"].error.high < 0 for own in found if own["p3"].p < 0.05)


def test_transport_needs_two_parts_with_enough_deals():
    scores, truth, parts, deals = draw(np.random.default_rng(2), shift=0.0)
    assert transport(scores, truth, ["one"] * len(parts), deals) == []
    assert transport(scores[:240], truth[:240], [*["p0"] * 232, *["p1"] * 8], deals[:240]) == []
    assert transport([0.5] * len(parts), truth, parts, deals) == []
