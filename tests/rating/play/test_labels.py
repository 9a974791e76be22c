"""An environment that is played twice in one run, with different options, under two labels."""

import pytest

from llmarena_envs.catalogue import load_environment
from llmarena_envs.core.options import OptionError
from rating.cli import main

RUN = """
[[environment]]
name = "tictactoe_v0#hint"

[[environment]]
name = "llmarena/tictactoe-v0#no_hint"
options = { hint = false }

[[policy]]
spec = "random"

[[policy]]
spec = "greedy"

[[policy]]
spec = "minimax"
environments = ["tictactoe_v0#no_hint"]

[stop]
min_matches = 4
max_matches = 4
"""


@pytest.mark.parametrize("label", ["", "a b", "a#b", "é!", "x" * 41])
def test_invalid_label_is_refused(label):
    with pytest.raises(OptionError, match="expected a label"):
        load_environment(f"tictactoe_v0#{label}")


def test_the_same_label_twice_is_refused(tmp_path, capsys):
    (tmp_path / "run.toml").write_text(RUN.replace("llmarena/tictactoe-v0#no_hint", "tictactoe_v0#hint"))
    assert main(["run", str(tmp_path / "run.toml"), "--out", str(tmp_path / "run")]) == 2
    assert "expected distinct names, got 'tictactoe_v0#hint' twice" in capsys.readouterr().err


def test_the_command_line_takes_labels(tmp_path, capsys):
    command = "run --env tictactoe_v0#a --env tictactoe_v0#b --policy random --policy greedy@tictactoe_v0#a"
    command += " --policy first_legal --max-matches 2 --min-matches 2 --workers 1"
    assert main([*command.split(), "--out", str(tmp_path / "run")]) == 0
    assert "tictactoe_v0#b" in capsys.readouterr().out
