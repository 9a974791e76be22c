"""``llmarena rate --regret``."""

import json
import sqlite3
from contextlib import closing

from rating.cli import main
from tests.rating.runs import play_run, run_file


def test_rate_prints_the_regret_of_each_policy_beside_the_leaderboards(tmp_path, capsys):
    text = run_file(
        "name = 'tictactoe_v0'",
        "name = 'bid_v0'",
        "name = 'holdem_v0'",
        policies=("random", "first_legal"),
        stop="min_matches = 12\nmax_matches = 12",
    )
    run = play_run(tmp_path / "run", text)
    capsys.readouterr()
    assert main(["rate", str(run), "--regret", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["regret"]
    assert [game["environment"] for game in found] == ["tictactoe_v0", "bid_v0"]
    for game in found:
        assert {row["policy"] for row in game["rows"]} == {"random", "first_legal"} and game["left_out"] == 0
        assert game["rows"][0]["regret"]["value"] <= game["rows"][1]["regret"]["value"]
    with closing(sqlite3.connect(run / "run.db")) as db, db:
        db.execute("UPDATE match SET seed = '7' WHERE number = 3 AND environment = 'bid_v0'")
    assert main(["rate", str(run), "--regret"]) == 0
    printed = capsys.readouterr().out
    assert "bid_v0: regret" in printed and "differs from the record: 1" in " ".join(printed.split())


def test_regret_of_other_games_and_logs_is_refused(tmp_path, capsys):
    run = play_run(
        tmp_path / "run",
        run_file("name = 'holdem_v0'", policies=("random", "first_legal"), stop="max_matches = 4"),
    )
    assert main(["rate", str(run), "--regret"]) == 2
    assert "expected a run with ended matches of tictactoe_v0" in capsys.readouterr().err
    log = tmp_path / "battles.csv"
    log.write_text("model_a,model_b,winner\na,b,model_a\nb,a,tie\n", encoding="utf-8")
    assert main(["rate", str(log), "--regret"]) == 2
    assert "got log files" in capsys.readouterr().err
