"""The pages whose commands ask a model behind a server, run with the server that they start themselves."""

import re
import shlex

import pytest

from rating.cli import EXIT_BUDGET, main
from tests.docs.pages import DOCS, code_blocks
from tests.support.policy_server import running_policy

pytestmark = pytest.mark.slow


def test_the_first_paid_run_costs_what_its_page_says(tmp_path, monkeypatch, capsys):
    page = " ".join((DOCS / "first_paid_run.md").read_text(encoding="utf-8").split())
    run_file, ended = code_blocks("first_paid_run.md")
    serve, forecast, run, resume, report = (
        shlex.split(line)[1:] for line in re.findall(r"`(llmarena [^`]* [^`]*)`", page)[:5]
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with running_policy(*serve[1:]) as (url, _):
        (tmp_path / "paid.toml").write_text(run_file.text.replace("http://127.0.0.1:9000/v1", url), encoding="utf-8")
        assert main(forecast) == 0
        least, most, read_least, read_most = re.findall(
            r"expects ([\d,]+) to ([\d,]+) calls, ([\d,]+) to ([\d,]+) tokens", page
        )[0]
        forecast = capsys.readouterr().out
        assert f"[{least}, {most}]" in forecast and f"[{read_least}, {read_most}]" in forecast
        assert main(run) == EXIT_BUDGET
        assert without_cents(capsys.readouterr().err) == without_cents(ended.text)
        assert main(resume) == 0
        told = re.findall(r"here ([\d,]+) calls, ([\d,]+) tokens read, ([\d.]+) USD, ([\d.]+) a match", page)[0]
        bill = capsys.readouterr().out
        calls, read, _, cost = re.findall(r"│ total +│ +│ +(\d+) │ +(\d+) │ +(\d+) │ +([\d.]+) │", bill)[0]
        (a_match,) = re.findall(r"│ connect_four_v0 +│ model .* ([\d.]+) │ +[\d.]+ │\n", bill)
        assert told == (calls, f"{int(read):,}", f"{float(cost):.3f}", f"{float(a_match):.5f}")
        assert main(report) == 0


def without_cents(text):
    """Returns a text without the last digits of amounts: what was asked for when the budget was used up is still paid for."""
    return re.sub(r"(\.\d\d)\d+", r"\1", text)


def test_the_policy_behind_a_server_plays(tmp_path, monkeypatch, capsys):
    serve, play = (block.text for block in code_blocks("serving.md")[:2])
    *_, match = play.splitlines()
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    name, option, port = shlex.split(serve)[2:-2], *shlex.split(serve)[-2:]
    assert option == "--port"
    with running_policy(*name) as (url, _):
        assert main(shlex.split(match.replace(f"http://127.0.0.1:{port}/v1", url))[1:]) == 0
    assert "player_0" in capsys.readouterr().out
