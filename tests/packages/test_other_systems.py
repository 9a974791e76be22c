"""Windows lacks modules and functions of Linux. This proves that no code needs them, which is less than a test on Windows."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_run_without_modules_that_windows_lacks(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.packages.bare_system", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "tictactoe_v0" in done.stdout


def test_file_names_are_valid_on_windows() -> None:
    forbidden = {*'<>:"\\|?*'}
    names = [
        path.name for name in ("llmarena_envs", "agents", "rating", "benchmarks") for path in (ROOT / name).rglob("*")
    ]
    assert [name for name in names if forbidden.intersection(name) or name.endswith((".", " "))] == []
