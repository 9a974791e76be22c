"""The benchmark of growing runs runs on the command line of today."""

import json
import sys

import pytest

from benchmarks.options import parse
from benchmarks.performance.growth import Options, main


@pytest.mark.slow
def test_the_smoke_run(tmp_path, monkeypatch, capsys):
    path = tmp_path / "growth.json"
    monkeypatch.setattr(sys, "argv", ["growth", "--smoke", "--json", str(path)])
    (result,) = main(parse(Options, None))
    assert result.matches >= 20
    assert set(result.seconds) == {"run", "rate", "report", "resume", "verify"}
    assert all(seconds > 0 for seconds in result.seconds.values())
    assert 0 < result.megabytes < 1
    (saved,) = json.loads(path.read_text(encoding="utf-8"))
    assert saved["matches"] == result.matches
    assert f"| {result.matches} |" in capsys.readouterr().out
