"""Judges as raters: planted severity and discrimination are found and covered, and too little data are refused."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.sparse import csr_array

from rating.stats.rater_model import _loss, fit_raters


def draw(rng, *, raters=6, items=200, kinds=5, each=None):
    """Planted slopes, severities (mean 0) and scores by item and rater."""
    slopes, severities = np.exp(rng.normal(0, 0.4, raters)), rng.normal(0, 0.6, raters)
    severities -= severities.mean()
    thresholds = np.linspace(-1.2, 1.2, kinds - 1) if kinds > 2 else np.zeros(1)
    cases = {}
    for item, quality in enumerate(rng.normal(size=items)):
        own = rng.permutation(raters)[: each or raters]
        apart = slopes[own, None] * (quality - severities[own, None] - thresholds)
        scores = (rng.random((len(own), 1)) < 1 / (1 + np.exp(-apart))).sum(axis=1)
        cases[f"item {item}"] = {f"judge {rater}": float(score) for rater, score in zip(own, scores, strict=True)}
    return slopes, severities, cases


def test_gradient_is_the_derivative_of_the_loss():
    rng = np.random.default_rng(0)
    member = csr_array((rng.random((40, 12)) < 0.4).astype(float))
    at = rng.normal(0, 0.3, 10)
    numeric = approx_fprime(at, lambda one: _loss(one, member, 4, 3)[0], 1e-6)
    assert np.abs(numeric - _loss(at, member, 4, 3)[1]).max() < 1e-3


def test_fit_raters_finds_planted_severity_and_discrimination():
    slopes, severities, cases = draw(np.random.default_rng(1), items=1500, each=4)
    fitted = fit_raters(cases).raters
    assert [one.severity.value for one in fitted] == pytest.approx(severities, abs=0.2)
    assert np.corrcoef([np.log(one.discrimination.value) for one in fitted], np.log(slopes))[0, 1] > 0.9
    assert fit_raters(dict(reversed(cases.items()))).raters == fitted


@pytest.mark.slow
@pytest.mark.parametrize("design", [{"kinds": 2}, {"kinds": 3}, {"kinds": 5, "each": 3}])
def test_fit_raters_intervals_cover(design):
    rng = np.random.default_rng(2)
    covered = []
    for _ in range(80):
        slopes, severities, cases = draw(rng, **design)
        for one, slope, severity in zip(fit_raters(cases).raters, slopes, severities, strict=True):
            covered.append(
                (
                    one.severity.low <= severity <= one.severity.high,
                    one.discrimination.low <= slope <= one.discrimination.high,
                )
            )
    assert (np.mean(covered, axis=0) >= 0.92).all()


def test_fit_raters_refuses_little_data():
    _, _, cases = draw(np.random.default_rng(3))
    first = {item: dict(list(case.items())[:1]) for item, case in cases.items()}
    apart = {
        item: {rater: score for rater, score in case.items() if (rater < "judge 3") == (number % 2 == 0)}
        for number, (item, case) in enumerate(cases.items())
    }
    equal = {item: dict.fromkeys(case, 1.0) for item, case in cases.items()}
    few = dict(list(cases.items())[:29])
    two = {item: {rater: case[rater] for rater in ("judge 0", "judge 1")} for item, case in cases.items()}
    for given, said in (
        (first, "got 0"),
        (few, "got 0"),
        (two, "got 2"),
        (apart, "separate groups"),
        (equal, "got equal ones"),
    ):
        found = fit_raters(given)
        assert not found.raters and said in found.refused
