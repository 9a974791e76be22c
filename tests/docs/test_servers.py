"""The page whose commands ask a model behind a server, run with a server of the test."""

import json
import re
import shlex

import pytest

from rating.cli.app import EXIT_BUDGET, main
from tests.docs.pages import DOCS, code_blocks
from tests.support.fault_server import Fault, Request, fault_server
from tests.support.hostile_server import completion

pytestmark = pytest.mark.slow


def move_as_shown(request: Request) -> Fault:
    """Returns a reply with the legal move that the prompt shows, with words counted as tokens."""
    messages = [message["content"] for message in request.body["messages"]]
    reply = re.findall(r"[XO]: [1-7]", messages[-1])[-1]
    read, written = len(" ".join(messages).split()), len(reply.split())
    usage = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
    return Fault("ok", body=json.dumps(completion({"content": reply}, usage=usage)).encode())


def test_first_paid_run_commands_match_the_page(tmp_path, monkeypatch, capsys):
    page = " ".join((DOCS / "first_paid_run.md").read_text(encoding="utf-8").split())
    run_file, ended = code_blocks("first_paid_run.md")
    forecast, run, resume, report = (
        shlex.split(line)[1:] for line in re.findall(r"`(llmarena [^`]* [^`]*)`", page)[:4]
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with fault_server(move_as_shown) as server:
        paid = run_file.text.replace("http://127.0.0.1:9000/v1", server.url)
        (tmp_path / "paid.toml").write_text(paid, encoding="utf-8")
        assert main(forecast) == 0
        least, most, read_least, read_most = re.findall(
            r"expects ([\d,]+) to ([\d,]+) calls, ([\d,]+) to ([\d,]+) tokens", page
        )[0]
        forecast = capsys.readouterr().out
        assert f"[{least}, {most}]" in forecast and f"[{read_least}, {read_most}]" in forecast
        assert main(run) == EXIT_BUDGET
        assert without_cents(capsys.readouterr().err) == without_cents(ended.text)
        assert main(resume) == 0
        bill = capsys.readouterr().out
        calls = re.findall(r"│ total +│ +│ +(\d+) │ +(\d+) │ +(\d+) │ +([\d.]+) │", bill)[0][0]
        assert int(calls) == len(server.log)
        assert re.search(r"│ connect_four_v0 +│ model .* ([\d.]+) │ +[\d.]+ │\n", bill)
        assert main(report) == 0


def without_cents(text):
    """Returns a text without the last digits of amounts: requests in flight when the budget runs out are still paid for."""
    return re.sub(r"(\.\d\d)\d+", r"\1", text)
