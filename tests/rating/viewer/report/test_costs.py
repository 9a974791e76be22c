"""Costs of a run: every call counts, and unknown costs are not shown as zero."""

import json
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from agents.models.calls import Call, CallStatus
from rating.cli import main
from rating.prices import Price, PriceTable
from rating.store.calls import LoggedCall
from rating.store.location import create_file
from rating.viewer.report.costs import Spending, cost_sheet, costs
from tests.rating.made_outcomes import match
from tests.rating.play.calls import PRICES, answer, run_file
from tests.rating.viewer.report.test_report import index

PRICE_TABLE = PriceTable([Price(model="m*", input=1000, output=10_000)])
STATUSES = {"first": "finished", "second": "void", "third": "unfinished"}


def logged(match_id, policy, environment="game_v0", model="m", tokens=(100, 10), status=CallStatus.OK):
    call = Call(model, "", "player_0", 1, status, prompt_tokens=tokens[0], completion_tokens=tokens[1])
    return LoggedCall(datetime(2026, 6, 1, tzinfo=UTC), environment, match_id, policy, call)


def add_up(path, *calls, prices=PRICE_TABLE, metrics=()):
    store = create_file(path / f"{len(list(path.iterdir()))}.db")
    log = store.call_log()
    for call in calls:
        log.write(call)
    rows = [SimpleNamespace(policy=policy, metric=metric, withheld="") for policy, metric in metrics]
    board = SimpleNamespace(environment="game_v0", rows=rows)
    outcomes = [match(0, ("a", 1.0), ("b", -1.0)), match(1, ("c", 0.0), ("c", 0.0))]
    spending = Spending(store.calls(), prices)
    spending.read()
    store.close()
    return costs(spending, STATUSES, outcomes, [board])


def column(found, title):
    shown = cost_sheet(found)
    return [row[shown.header.index(title)] for row in shown.rows]


def test_cost_sheet_counts_calls_of_every_status(tmp_path):
    found = add_up(
        tmp_path, logged("first", "a"), logged("second", "a"), logged("third", "a"), logged("", "a", environment="")
    )
    assert column(found, "environment") == ["game_v0", "outside of matches", "all", "total"]
    assert column(found, "cost in USD") == ["0.6000", "0.2000", "0.8000", "0.8000"]
    assert column(found, "void or unfinished") == ["0.4000", "0", "0.4000", "0.4000"]
    assert column(found, "a match") == ["0.2000", "", "", ""]
    assert found.matches == pytest.approx({"first": 0.2, "second": 0.2, "third": 0.2})


def test_cost_sheet_unknown_costs_are_no_zeros(tmp_path):
    found = add_up(
        tmp_path,
        logged("first", "a"),
        logged("first", "a", tokens=(None, None), status=CallStatus.TIMEOUT),
        logged("first", "b", tokens=(None, None)),
        logged("first", "c", model="unpriced"),
    )
    assert column(found, "tokens in") == [">= 100", "?", "100", ">= 200", ">= 200"]
    assert column(found, "cost in USD") == ["at least 0.2000", "unknown", "unknown", *["at least 0.2000"] * 2]
    assert column(found, "a match") == [*["unknown"] * 3, "", ""]
    assert column(found, "failed") == ["timeout 1", "", "", "timeout 1", "timeout 1"]
    assert found.matches == {"first": None}
    assert any("1 calls have no price" in note for note in cost_sheet(found).notes)
    assert not any("efficient" in note for note in cost_sheet(found).notes)


def test_costs_efficient_models_are_on_the_pareto_front(tmp_path):
    calls = [logged("first", "a"), logged("first", "b", tokens=(50, 10)), logged("first", "c", tokens=(200, 0))]
    found = add_up(tmp_path, *calls, metrics=[("a", 30.0), ("b", 20.0), ("c", 25.0)])
    assert {row.policy: row.efficient for row in found.rows} == {"a": True, "b": True, "c": False}
    assert any("efficient: no other" in note for note in cost_sheet(found).notes)
    withheld = add_up(tmp_path, *calls, metrics=[("a", None), ("b", 20.0), ("c", 25.0)])
    assert {row.policy: row.efficient for row in withheld.rows} == {"a": None, "b": True, "c": True}


def test_costs_without_calls_give_no_section(tmp_path):
    assert add_up(tmp_path) is None


@pytest.mark.timeout(60)
def test_rate_and_report_show_the_costs(tmp_path, monkeypatch, capsys):
    answers = answer(monkeypatch)
    (tmp_path / "run.toml").write_text(run_file(tables=PRICES, matches=4))
    run = tmp_path / "run"
    assert main(["run", str(tmp_path / "run.toml"), "--out", str(run), "--max-tokens", "600"]) == 4
    assert "the budget is used up: " in (errors := capsys.readouterr().err)
    assert f"llmarena resume {run}" in errors
    assert main(["resume", str(run)]) == 0
    assert "6 matches, " in (shown := capsys.readouterr().out) and " USD\n" in shown
    assert main(["rate", str(run), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["costs"]
    assert found["total"]["calls"] == answers.sent
    assert found["total"]["prompt_tokens"] == 100 * answers.sent
    x, y, *before = found["rows"]
    assert (x["policy"], y["policy"]) == ("model", "other")
    assert x["used"]["cost"] == pytest.approx(x["used"]["calls"] * 0.02)
    assert [(row["environment"], row["policy"]) for row in before] == [("", "model"), ("", "other")]  # no match yet
    played = x["used"]["cost"] + y["used"]["cost"]
    assert found["total"]["cost"] == pytest.approx(played + sum(row["used"]["cost"] for row in before))
    assert main(["report", str(run)]) == 0
    page = (run / "report.html").read_text()
    assert "cost in USD" in page
    costs = index(page)["values"]["cost"]
    assert sum(float(costs[code] or 0) for code in index(page)["columns"]["cost"]) == pytest.approx(played, rel=0.01)
