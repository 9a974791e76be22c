"""A real model behind a local server in the demo of SimulBench: as simulator, as user and as judges, one changed line each."""

from pathlib import Path

import pytest

from rating.cli import main
from rating.play import run_directory
from rating.store.records import PLAYED
from tests.support.model_server import running_server

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
DEMO = Path(__file__).parents[3] / "benchmarks" / "simulbench" / "demo.toml"
SIMULATOR = 'spec = "flawed:stale=0.2,arithmetic=0.1,out_of_character=0.1,format=0.2,chatter=0.2"'
USER = 'spec = "user:praise=0.2"'
JUDGE = 'spec = "praised:praise=6"'
COMPARER = 'spec = "exact:position=3,noise=3"'


def test_a_model_that_babbles_is_played_with_rated_and_abstains(tiny_model, tmp_path):
    text = DEMO.read_text(encoding="utf-8").replace("matches = 88", "matches = 1\nmax_matches = 1\nmin_matches = 1")
    text = text.replace("turns = [1, 2, 4]", "turns = [2]")  # the user makes a request
    with running_server(tiny_model) as server:
        model = f'spec = "openai:{server.model}:base_url={server.url},max_tokens=12,timeout=60"'
        for line in (SIMULATOR, USER, JUDGE, COMPARER):
            assert text.count(line) == 1
            text = text.replace(line, model)
        (tmp_path / "run.toml").write_text(text, encoding="utf-8")
        assert main(["run", str(tmp_path / "run.toml"), "--out", str(tmp_path / "run")]) == 0
    assert main(["replay", str(tmp_path / "run"), "--verify"]) == 0
    _, store = run_directory.open_run(tmp_path / "run")
    outcomes = [record.outcome for record in store.records()]
    store.close()
    assert {outcome.status for outcome in outcomes} <= set(PLAYED)
    seats = {
        name: [seat for outcome in outcomes for seat in outcome.seats if seat.policy == name]
        for name in ("poor", "user", "praised", "hasty")
    }
    assert all(seats.values())
    assert 1 not in {seat.statistics["exact"] for seat in seats["poor"]}
    assert {seat.statistics["unformatted"] for seat in seats["user"]} >= {1.0}
    assert {seat.statistics["abstained"] for seat in (*seats["praised"], *seats["hasty"])} <= {1.0, 2.0}
