"""The benchmark of local models runs on the command line of today."""

import json
import sys

import pytest

from benchmarks.options import parse
from benchmarks.performance.local_models import Options, main


@pytest.mark.slow
def test_the_smoke_run(tiny_model, tmp_path, monkeypatch, capsys):
    path = tmp_path / "local.json"
    monkeypatch.setattr(sys, "argv", ["local_models", "--smoke", "--model", str(tiny_model), "--json", str(path)])
    result = main(parse(Options, None))
    assert min(result.ours, result.bare, result.ratio) > 0
    assert result.replies >= 4
    assert result.passes > 0
    (saved,) = json.loads(path.read_text(encoding="utf-8"))
    assert saved["replies"] == result.replies
    assert "replies a second" in capsys.readouterr().out
