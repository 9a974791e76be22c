"""The story of a match of simulation."""

import pytest

from llmarena_envs import simulation_v0
from llmarena_envs.core.transcript import Scene
from llmarena_envs.simulation.engines.python import PythonPrompt
from tests.llmarena_envs.option_sets.simulation_v0 import STORE
from tests.llmarena_envs.simulation.matches import TRUTH, asked, say, scripted, started

ALL = ("user_0", "simulator_0", "judge_0")


def test_transcript_has_dialogue_truth_and_rating():
    env = say(
        started(turns=3), TRUTH, asked("INCR visits", 3), "Visits: (integer) 42", "hm?", "x" * 20_000, "Rating: [[7]]"
    )
    assert env.transcript() == (
        Scene("Note Store (stateful), as the user describes it", STORE["task_description"]),
        Scene("What the engine answers in turn 1", TRUTH, hidden_from=ALL),
        Scene("Turn 1, the simulation answers", TRUTH, "simulator_0", marks=("exactly what the engine answers",)),
        Scene("Turn 2, the user asks", "INCR visits", "user_0", marks=("a rarer or harder request",)),
        Scene("What the engine answers in turn 2", "(integer) 42", hidden_from=ALL),
        Scene(
            "Turn 2, the simulation answers",
            "Visits: (integer) 42",
            "simulator_0",
            marks=("the right content within other text",),
        ),
        Scene(
            "Turn 3, the user asks",
            "hm?",
            "user_0",
            marks=("another kind of request", "not in the form asked for, taken as the request itself"),
        ),
        Scene("What the engine answers in turn 3", "(error) ERR unknown command 'hm?'", hidden_from=ALL),
        Scene(
            "Turn 3, the simulation answers",
            "x" * 15_000,
            "simulator_0",
            marks=("cut off", "not what the engine answers"),
        ),
        Scene("The judges"),
        Scene("rating: 7", "Rating: [[7]]", "judge_0"),
        Scene("The result, the mean of the ratings", "7"),
    )


def test_comparison_shows_verdicts_on_the_true_sides():
    env = say(scripted("pairwise", n_judges=2), "x", "y", "[[A]]", "[A]", "[[B]]", "abstain")
    story = env.transcript()
    sides = [(scene.speaker, scene.heading, scene.text, scene.hidden_from) for scene in story if scene.speaker][:2]
    assert sides == [
        ("simulator_0", "Response A", "x", ("simulator_1",)),
        ("simulator_1", "Response B", "y", ("simulator_0",)),
    ]
    judged = [(scene.speaker, scene.heading, scene.marks) for scene in story if scene.speaker.startswith("judge")]
    assert judged == [
        ("judge_0", "verdict: A", ()),
        ("judge_1", "verdict: A", ()),
        ("judge_0", "verdict: A", ()),
        ("judge_1", "nothing that counts", ()),
    ]
    assert story[-1] == Scene("simulator_0 wins")


def test_transcript_is_in_match_language_without_engine_no_truth():
    story = say(started(language="zh", engine=None, turns=1), "", "abstain").transcript()
    assert [(scene.heading, scene.marks) for scene in story] == [
        ("Note Store（stateful），用户的说明", ()),
        ("第 1 轮，模拟系统回复", ("空",)),
        ("评委", ()),
        ("没有有效的结果", ()),
        ("没有结果", ()),
    ]


@pytest.mark.parametrize(("engine", "truths"), [("python", 0), ("key_value", 2)])
def test_transcript_runs_no_program(monkeypatch, engine, truths):
    def respond(self, request):
        ran.append(request)
        return ""

    ran: list[str] = []
    monkeypatch.setattr(PythonPrompt, "__init__", lambda self: None)
    monkeypatch.setattr(PythonPrompt, "respond", respond)
    options = {"tasks": [{**STORE, "engine": engine}], "turns": 2}
    played = simulation_v0.raw_env(**options)
    told = simulation_v0.raw_env(**simulation_v0.raw_env.transcript_options(options))
    for env in (played, told):
        env.reset(seed=1)
    for reply in ("x", asked("INCR visits"), "y", "Rating: [[7]]"):
        assert played.observe(played.agent_selection) == told.observe(told.agent_selection)
        for env in (played, told):
            env.step(reply)
    assert ran == (["HGET user:1 city", "INCR visits"] if engine == "python" else [])
    assert sum(scene.heading.startswith("What the engine answers") for scene in told.transcript()) == truths
    assert simulation_v0.raw_env.transcript_options({"engine": None})["engine"] is None
