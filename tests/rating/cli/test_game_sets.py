"""Runs of a named set of games, and their short output."""

import pytest

from rating.cli import main
from rating.config.game_sets import game_set
from rating.viewer.report.tables import MANY

pytestmark = pytest.mark.needs("pyspiel")


def test_game_set_unknown_name_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["run", "--game-set", "openspiel-400", "--policy", "random"])
    assert "argument --game-set: name: expected one of 'openspiel-40', got 'openspiel-400'" in capsys.readouterr().err


@pytest.mark.slow
def test_game_set_prints_one_row_a_game(tmp_path, capsys):
    run = str(tmp_path / "run")
    assert (
        main(
            [
                "run",
                "--game-set",
                "openspiel-40",
                "--policy",
                "random",
                "--policy",
                "first_legal",
                "--max-matches",
                "2",
                "--out",
                run,
            ]
        )
        == 0
    )
    lines = capsys.readouterr().out.splitlines()
    assert len([line for line in lines if line.startswith("openspiel/")]) == len(game_set("openspiel-40")) > MANY
    assert lines[0].startswith("2 policies, 40 games, 80 matches")
    assert len(lines) < 60
    assert main(["replay", run, "--verify"]) == 0
    assert "80 of 80 finished matches verified" in capsys.readouterr().out
