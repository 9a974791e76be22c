"""The page whose commands ask a model behind a server, run with a server of the test."""

import json
import re
import shlex

import pytest

from rating.cli.app import EXIT_BUDGET, main
from tests.docs.pages import DOCS, code_blocks
from tests.docs.shell import commands
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


def test_quickstart_commands_match_the_page(tmp_path, monkeypatch, capsys):
    page = " ".join((DOCS / "quickstart.md").read_text(encoding="utf-8").split())
    blocks = code_blocks("quickstart.md")
    (run_file,) = [block.text for block in blocks if block.title]
    shell = [shlex.split(each) for block in blocks if block.language == "bash" for each in commands(block.text)]
    forecast, run, resume, report, rate, replay = [
        words[1:] for words in shell if re.search(r"\bfirst\b", " ".join(words))
    ]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with fault_server(move_as_shown) as server:
        cheap = run_file.replace("http://127.0.0.1:9000/v1", server.url).replace("cost = 0.50", "cost = 0.02")
        (tmp_path / "first.toml").write_text(cheap, encoding="utf-8")
        assert main(forecast) == 0
        calls, tokens = re.findall(r"is ([\d,]+ to [\d,]+) calls that read ([\d,]+ to [\d,]+) tokens", page)[0]
        printed = capsys.readouterr().out
        assert f"[{calls.replace(' to ', ', ')}]" in printed and f"[{tokens.replace(' to ', ', ')}]" in printed
        assert main(run) == EXIT_BUDGET
        assert "Resume with: llmarena resume runs/first --max-cost" in capsys.readouterr().err
        assert main(resume) == 0
        capsys.readouterr()
        assert main(rate) == 0
        bill = capsys.readouterr().out
        calls = re.findall(r"^total +(\d+) +(\d+) +(\d+) +([\d.]+)", bill, re.M)[0][0]
        assert int(calls) == len(server.log)
        assert re.search(r"^connect_four_v0 +model .* [\d.]+ +[\d.]+ +yes *$", bill, re.M)
        assert main(report) == main(replay) == 0
