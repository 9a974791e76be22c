"""The benchmark of the sandbox in its smallest size."""

import pytest

from benchmarks.performance.sandbox import Options, run, table
from llmarena_envs.sandbox.interpreter import ENVIRONMENT
from tests.llmarena_envs.sandbox.machine import BACKENDS


def test_the_smallest_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ENVIRONMENT, "SANDBOX_BENCHMARK", "")  # restored afterwards
    lines = run(Options(rounds=1, programs=2, smoke=True))
    assert [line.backend for line in lines] == ["bare", *BACKENDS]
    assert lines[0].median > 0
    assert all(line.left == 0 for line in lines)
    assert table(lines).count("\n") == len(lines) + 1
