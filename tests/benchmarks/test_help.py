"""Every command below ``benchmarks`` says what its options are."""

import runpy
import sys
from pathlib import Path

import pytest

import benchmarks
from benchmarks.auto_arena.__main__ import PAPER as AUTO_ARENA
from benchmarks.deepeval.__main__ import PAPER as DEEPEVAL
from benchmarks.llmarena.__main__ import PAPER as LLMARENA
from benchmarks.simulbench.__main__ import PAPER as SIMULBENCH
from tests.support.lacking import need

ROOT = Path(benchmarks.__file__).parent
PAPERS = {f"{paper.name}.__main__": paper for paper in (AUTO_ARENA, DEEPEVAL, LLMARENA, SIMULBENCH)}
COMMANDS = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for path in ROOT.rglob("*.py")
    if '__name__ == "__main__"' in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.filterwarnings("ignore:.*found in sys.modules:RuntimeWarning")
def test_help_of_a_command_is_printed(command, capsys, monkeypatch):
    if command == "train_grpo":
        pytest.importorskip("trl")  # .ci/libraries installs it
    if command == "train_self_play":
        need("torch")
        need("safetensors")
    monkeypatch.setattr(sys, "argv", [command, "--help"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module(f"benchmarks.{command}", run_name="__main__")
    assert not ended.value.code
    shown = capsys.readouterr().out
    assert ("ROW --help" if command in PAPERS else "usage: ") in shown
