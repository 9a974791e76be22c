"""The simulation of intervals: repeatable, honest about what it was given, and complete."""

from functools import partial

import numpy as np

from research.coverage import main, rows
from research.trials import Setting, Trial, measure


def normal_mean(rng, *, z):
    values = rng.normal(size=50)
    yield Trial(abs(values.mean()) <= z / np.sqrt(50), z / np.sqrt(50), abs(values.mean()))


def test_an_interval_of_known_coverage_is_measured_as_such():
    honest, narrow = (
        measure(Setting(name, partial(normal_mean, z=z)), 500, 0) for name, z in (("a", 1.96), ("b", 1.5))
    )
    assert abs(honest.coverage - 0.95) < 3 * honest.noise < 0.04 and honest.is_met
    assert abs(narrow.coverage - 0.866) < 3 * narrow.noise and not narrow.is_met


def test_one_sided_intervals_have_no_width():
    one_sided = Setting("", lambda rng: [Trial(True, float("nan")), Trial(False, 3.0, 2.0)])
    line = measure(one_sided, 2, 0)
    assert (line.coverage, line.half_width, line.error) == (0.5, 3.0, 2.0)


def test_rows_are_repeatable_and_of_different_data():
    assert len({row.name for row in rows()}) == len(rows())
    plain = rows()[1]
    assert measure(plain, 3, 0) == measure(plain, 3, 0) != measure(plain, 3, 1)


def test_the_table(capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["coverage", "--smoke"])
    main()
    shown = capsys.readouterr().out.splitlines()
    assert len(shown) == 2 + len(rows())
    covered = {row: float(line.split("|")[2]) for row, line in zip(rows(), shown[2:], strict=True)}
    assert all(0 <= share <= 1 for share in covered.values())
    assert all(share >= 0.3 for row, share in covered.items() if row.goal[1] > 0.9 and "itself" not in row.name)
