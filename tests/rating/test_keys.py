"""A hostile server repeats an API key in every field, and no output or file of a run holds it."""

import base64
import html
import itertools
import json
from urllib.parse import quote

import pytest

from rating.cli import main
from tests.support.hostile_server import Answer, completion, hostile_server, json_answer

KEY = 'sk-Zq7/pl+us="q\\b%41&<x>Hh3Kk9Mm2Nn8Rr5Tt'
LEAST = 10
"""Consecutive characters of the key that must not appear."""

FORMS = [
    KEY,
    json.dumps(KEY)[1:-1],
    repr(KEY)[1:-1],
    html.escape(KEY),
    quote(KEY),
    quote(KEY, safe=""),
    base64.b64encode(KEY.encode()).decode().rstrip("="),
    base64.urlsafe_b64encode(KEY.encode()).decode().rstrip("="),
]
PARTS = {form[begin : begin + LEAST].encode() for form in FORMS for begin in range(len(form) - LEAST + 1)}
PARTS |= {KEY[:4].encode(), KEY[-4:].encode()}
EVERYWHERE = " ".join(FORMS)
MASKED = f"Incorrect API key provided: {KEY[:6]}{'*' * 20}{KEY[-4:]}, the key ending in {KEY[-5:]} is disabled"

HEADERS = {
    "x-request-id": KEY,
    "x-ratelimit-remaining-requests": KEY,
    "Server": KEY,
    "Set-Cookie": f"key={quote(KEY)}",
    "WWW-Authenticate": f"Bearer {KEY}",
}

RUN_FILE = """
seed = 3
concurrency = 1
max_errors = 100
[stop]
min_matches = 6
max_matches = 8
[[environment]]
name = "tictactoe_v0"
[[policy]]
spec = "random"
[[policy]]
name = "model"
spec = "openai:mock"
options = {{ base_url = "{url}", api_key_env = "PLANTED_KEY", max_attempts = 1, timeout = 20 }}
"""


def says(text):
    """Returns a valid reply with the key in every other field."""
    value = completion(
        {"content": text, "reasoning_content": EVERYWHERE, "refusal": None},
        id=KEY,
        model=KEY,
        system_fingerprint=EVERYWHERE,
        service_tier=KEY,
    )
    return json_answer(value, headers={"Content-Type": "application/json", **HEADERS})


def fails(status, body, kind="application/json"):
    text = body if isinstance(body, str) else json.dumps(body)
    return Answer(status, text.encode(), {"Content-Type": kind, **HEADERS})


def error(message):
    message = f"{MASKED} {message}"
    return {"error": {"message": message, "type": message, "param": message, "code": message}}


LONG = f"{MASKED} {'x' * 150}{EVERYWHERE}"
PAGE = f"<html><title>{MASKED} {EVERYWHERE}</title><a href='/login?key={quote(KEY)}'>{html.escape(KEY)}</a></html>"
GOOD = [says(f"My key is {EVERYWHERE}"), says("X: (1, 1)"), says(f"{EVERYWHERE}\nO: (2, 2)"), says("O: (3, 1)")]
PASSING = [
    fails(500, error(EVERYWHERE)),
    fails(429, error(LONG)),
    fails(502, PAGE, "text/html"),
    fails(200, PAGE, "text/html"),
    fails(200, {"choices": [], "note": LONG}),
    fails(200, {"error": EVERYWHERE}),
    fails(200, f'{{"choices": "{"y" * 170}{KEY}'),
    says(None),
]
FINAL = [
    fails(401, error(EVERYWHERE)),
    fails(403, error(EVERYWHERE)),
    fails(404, error(LONG)),
    fails(400, [EVERYWHERE]),
    fails(402, PAGE, "text/html"),
]


@pytest.fixture
def llmarena(monkeypatch, capfd):
    """Runs a command, checks that it prints no key, and returns its exit code, output and messages."""
    monkeypatch.setenv("PLANTED_KEY", KEY)

    def run(*arguments):
        code = main([*map(str, arguments)])
        shown = capfd.readouterr()
        assert found_in(shown.out.encode()) == found_in(shown.err.encode()) == [], arguments
        return code, shown.out, shown.err

    return run


def found_in(data):
    return [part for part in PARTS if part in data]


def check_files(directory):
    files = [path for path in directory.rglob("*") if path.is_file()]
    assert {"run.db", "run.toml"} <= {path.name for path in files}
    assert [(path, found) for path in files if (found := found_in(path.read_bytes()))] == []


def read_everything(llmarena, run):
    """Runs every command that reads a run, and returns the records."""
    for command in (["rate"], ["rate", "--json"], ["report"], ["replay"], ["replay", "--json"], ["replay", "--verify"]):
        assert llmarena(command[0], run, *command[1:])[0] == 0, command
    records = [json.loads(line) for line in llmarena("export", run)[1].splitlines()]
    assert llmarena("export", run, "--format", "csv")[0] == 0
    for record in records[:3]:
        assert llmarena("replay", run, record["id"], "--raw")[0] == 0
    return records


@pytest.mark.slow
def test_key_in_replies_and_transient_errors_is_masked(llmarena, tmp_path):
    (tmp_path / "run.toml").write_text("")
    script = itertools.chain(GOOD, *[[failure, *GOOD] for failure in PASSING], itertools.cycle(GOOD))
    with hostile_server(then=script) as server:
        (tmp_path / "run.toml").write_text(RUN_FILE.format(url=server.url))
        code, _, errors = llmarena(
            "run", tmp_path / "run.toml", "--out", tmp_path / "run", "--cache", tmp_path / "cache"
        )
        assert len(server.requests) > 20
        assert {request.headers["authorization"] for request in server.requests} == {f"Bearer {KEY}"}
    assert code in (0, 3), errors
    assert "My key is ***" in json.dumps(read_everything(llmarena, tmp_path / "run"))
    check_files(tmp_path)


@pytest.mark.parametrize("answer", FINAL, ids=lambda answer: str(answer.status))
def test_key_in_permanent_errors_is_masked(answer, llmarena, tmp_path):
    with hostile_server(then=itertools.repeat(answer)) as server:
        (tmp_path / "run.toml").write_text(
            RUN_FILE.format(url=server.url).replace("max_errors = 100", "max_errors = 2")
        )
        code, _, errors = llmarena(
            "run", tmp_path / "run.toml", "--out", tmp_path / "run", "--cache", tmp_path / "cache"
        )
        assert len(server.requests) > 0
    assert code in (2, 3)
    assert errors
    check_files(tmp_path)


def test_key_in_another_option_is_refused_unprinted(llmarena, tmp_path):
    for options in (f"api_key_env={KEY}", f"base_url=http://user:{quote(KEY, safe='')}@localhost:1/v1"):
        policies = ["--policy", f"openai:mock:{options}", "--policy", "random"]
        assert llmarena("run", "--env", "tictactoe_v0", *policies, "--out", tmp_path / "run")[0] == 2
    assert not (tmp_path / "run").exists()
