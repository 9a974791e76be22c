"""The costs of ratings: every method fits the same data, and the table reports the measurements."""

import json
import time

from benchmarks.performance.rating import Contestant, Options, main, race


def test_all_contestants_fit_the_same_strengths(tmp_path, capsys):
    path = tmp_path / "result.json"
    lines = main(Options(games=3000, policies=8, matches=60, resamples=5, rounds=1, json=str(path)))
    fits = [line for line in lines if line.job.startswith("Bradley-Terry")]
    assert [line.difference < 1e-9 for line in fits[1:]] == [True] * 3
    assert [line.ratio is None for line in fits] == [True, False, False, False]
    assert {line.job.split(",")[0].split(" of ")[0] for line in lines} >= {"standings", "bootstrap", "leaderboard"}
    assert len(capsys.readouterr().out.splitlines()) == 2 + len(lines)
    assert len(json.loads(path.read_text(encoding="utf-8"))) == len(lines)


def test_a_ratio_is_ours_over_theirs(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(time, "process_time", lambda: clock[0])

    def lasting(seconds):
        def work():
            clock[0] += seconds

        return work

    ours, theirs = race("sums", [Contestant("we", lasting(6.0)), Contestant("they", lasting(2.0))], 3)
    assert (ours.seconds, ours.ratio, ours.difference) == (6.0, None, None)
    assert (theirs.seconds, theirs.ratio, theirs.difference) == (2.0, 3.0, None)
