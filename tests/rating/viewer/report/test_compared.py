"""Comparisons in words."""

import numpy as np
import pytest

from rating.stats.compare import compare_champion, compare_units
from rating.stats.units import BATTLES, Units
from rating.viewer.report.compared import champion_lines, lines, verdict

HOSTILE = "weak\x1b[2J\nspoof: \u202eweak is better"


def compared(scores, a="a", b="b", **options):
    return compare_units(Units(np.asarray(scores, dtype=float), None, BATTLES, 0), a, b, **options)


def test_comparison_hostile_names_are_escaped():
    comparison = compared(np.ones(20), HOSTILE)
    told = [verdict(comparison), *lines(comparison), *champion_lines(compare_champion([comparison]))]
    assert told[0] == "weak\\x1b[2J spoof: \\u202eweak is better is better than b"
    assert all(line.isprintable() for line in told)


HALF, MOSTLY = np.tile([1, 0], 2_000), np.tile([1, 0, 0.5, 0.5, 1], 800)


@pytest.mark.parametrize(
    ("comparison", "expected"),
    [
        (compared(HALF, margin=0.1), "undecided whether a or b is better by more than 0.1 of win rate (70 Elo)"),
        (compared(HALF, equal=0.1), "a and b are equal within 0.1 of win rate (70 Elo)"),
        (compared(MOSTLY, "b", "a", equal=0.2), "b is better than a, and within 0.2 of win rate (147 Elo) of it"),
    ],
)
def test_verdict_of_a_comparison(comparison, expected):
    assert verdict(comparison) == expected


def test_lines_forecast_more_matches_and_name_assumptions():
    told = lines(compared(np.tile([1, 0, 1], 10)))
    assert any(line.startswith("more: half of the simulated continuations") for line in told)
    assert "battles without questions and positions" in told[-1]
    assert "Elo [" in told[0] and "over 30 battles" in told[0]
    assert "no finite Elo" in lines(compared([1]))[0]
    assert "reach a decision within 2,000 more battles" in " ".join(lines(compared(np.full(300, 0.5))))
