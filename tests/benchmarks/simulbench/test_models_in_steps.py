"""A language model behind an OpenAI-compatible server in every step of SimulBench: its requests and parsed replies."""

import json
from itertools import repeat

import pytest

from agents.models.preflight import MAX_TOKENS
from benchmarks.experiments.command import main
from benchmarks.simulbench.__main__ import PAPER
from benchmarks.simulbench.task_creation.proposals import Proposal, write_proposals
from llmarena_envs.simulation.dialogues import load_dialogues
from llmarena_envs.simulation.scripts import load_scripts
from llmarena_envs.simulation.tasks import load_tasks
from tests.support.hostile_server import hostile_server, say

TASKS = write_proposals(
    [
        Proposal(
            "Tide Table",
            "Simulate the tide table of a harbour. It prints the next high tide. First request: noon",
            "a time",
        ),
        Proposal(
            "Egg Timer",
            "Be an egg timer with three hands that I set and stop. First request: set 3 minutes",
            "a command",
        ),
    ]
)


@pytest.fixture
def step(tmp_path, monkeypatch):
    """Runs a step with a model that always replies the same, and returns the bodies of the requests."""
    monkeypatch.setenv("OPENAI_API_KEY", "of nobody")

    def run(row, reply, *words):
        with hostile_server(then=repeat(say(reply))) as server:
            spec = f"openai:mock:base_url={server.url}"
            assert (
                main(PAPER, [row, *(spec if word == "MODEL" else word for word in words), "--out", str(tmp_path)]) == 0
            )
        return [request.body for request in server.requests]

    return run


def settings(bodies):
    """Returns temperature and token limit of the requests, without those of the preflight check."""
    return {(body["temperature"], body["max_completion_tokens"]) for body in bodies} - {
        (temperature, MAX_TOKENS) for temperature in (0.0, 1.2)
    }


@pytest.mark.slow
def test_a_model_in_every_step(step, tmp_path, capsys):
    bodies = step("tasks", TASKS, "--count", "2", "--seeds", "1", "--alone", "--policy", "MODEL")
    assert settings(bodies) == {(1.2, 1024)}
    assert {task.act for task in load_tasks(tmp_path / "tasks-created.jsonl")} == {"Tide Table", "Egg Timer"}

    request = json.dumps({"user": {"strategy": 3, "request": "What then?"}})
    created = str(tmp_path / "tasks-created.jsonl")
    bodies = step("collect", request, "--tasks", created, "--user", "MODEL", "--alone", "--policy", "MODEL")
    assert settings(bodies) == {(1.2, 300), (0.0, 1024)}
    dialogues = load_dialogues(tmp_path / "collect-dialogues.jsonl")
    assert len(dialogues) == 6
    assert dialogues[0].dialogue_history[2].content == "What then?"
    assert dialogues[0].dialogue_history[3].content == request

    collected = str(tmp_path / "collect-dialogues.jsonl")
    step("extract", "Turn 3 asks for too much. Turn: [[3]]", "--dialogues", collected, "--alone", "--policy", "MODEL")
    (scripts,) = tmp_path.glob("extract-scripts-openai-mock*.jsonl")
    assert [script.turn_num for script in load_scripts(scripts)] == [3, 4] * 6

    words = (
        "--scripts",
        str(scripts),
        "--tasks",
        created,
        "--judge",
        "MODEL",
        "--alone",
        "--policy",
        "silent",
        "MODEL",
    )
    step("evaluate", "It is good. Rating: [[7.5]]", *words)
    scores = [json.loads(line) for line in (tmp_path / "evaluate-scores.jsonl").read_text("utf-8").splitlines()]
    assert {line["score"] for line in scores} == {7.5}
    assert len(scores) == 24
    step("compare", "The first one. [[A]]", *words)
    pairs = [json.loads(line) for line in (tmp_path / "compare-comparisons.jsonl").read_text("utf-8").splitlines()]
    assert {line["result"] for line in pairs} == {0.5}
    assert len(pairs) == 12


def test_a_model_as_user_and_simulator_against_fixed_scripts(step, tmp_path):
    request = json.dumps({"user": {"strategy": 3, "request": "What then?"}})
    bodies = step(
        "dynamic",
        request,
        "--smoke",
        "--number",
        "2",
        "--user",
        "MODEL",
        "--alone",
        "--policy",
        "MODEL",
        "--scripted-judges",
    )
    assert settings(bodies) == {(1.2, 300), (0.0, 1024)}
    report = json.loads((tmp_path / "dynamic.json").read_text(encoding="utf-8"))
    (row,) = report["tables"][0]["rows"]
    assert row["requests for something harder, % (measured)"]["value"] == 100
