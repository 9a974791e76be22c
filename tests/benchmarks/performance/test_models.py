"""The benchmark of models runs on the clients and the command line of today."""

import pytest

from benchmarks.options import parse
from benchmarks.performance.models import PLAYERS, ROUNDS, Options, main


@pytest.mark.slow
def test_the_smoke_run(capsys):
    options = parse(Options, None, ["--smoke"])
    result = main(options)
    assert result.run.calls == options.matches * PLAYERS * ROUNDS
    assert min(result.ours.rate, result.sdk.rate, result.ratio, result.run.milliseconds, result.waiting.megabytes) > 0
    assert "LLMPolicy" in capsys.readouterr().out
