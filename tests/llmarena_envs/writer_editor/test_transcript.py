"""The transcript of a match, and its options."""

import pytest

from llmarena_envs import writer_editor_v0
from llmarena_envs.core.transcript import Scene
from llmarena_envs.writer_editor import env as module
from tests.llmarena_envs.writer_editor.test_text import NOTE, SCORES, say, started


def test_transcript_has_drafts_reviews_scores_and_result():
    env = say(started(max_rounds=3), "def add(a, b): pass", "It adds nothing.", "def add(a, b): pass", "over")
    judged = say(env, SCORES, "abstain")
    story = judged.transcript()
    assert story[0] == Scene("The question; the function is called as add(a, b)", "Write a function that adds.")
    assert [(scene.speaker, scene.heading, scene.marks) for scene in story[1:]] == [
        ("writer_0", "Round 1, program", ()),
        ("editor_0", "Round 1, review", ()),
        ("writer_0", "Round 2, program", ("the same text as before",)),
        ("editor_0", "Round 2, review", ("The reviewer has accepted the program.",)),
        ("judge_0", "7 for Programmer, 8 for Reviewer", ()),
        ("judge_1", "no scores", ()),
        ("", "The result, the mean of the scores", ()),
    ]
    assert story[2].text == "It adds nothing."
    assert story[5].text == "Programmer: x\nReviewer: y"
    assert story[-1].text == "7 for Programmer, 8 for Reviewer"


def test_transcript_reports_empty_texts_and_missing_scores():
    env = started("translation", max_rounds=1)
    env.step("writer_0:")
    story = say(env, "Rain.", "abstain", "abstain").transcript()
    assert story[1].marks == ("(no text)",)
    assert story[-1].text == "No judge gave scores, so the match has no result."


@pytest.mark.parametrize("n_judges", [0, 2])
def test_transcript_runs_no_program(monkeypatch, n_judges):
    def run(program, problem):
        ran.append(program)
        return 0.5

    ran = []
    monkeypatch.setattr(module, "find_pass_rate", lambda backend: run)
    options = {"n_judges": n_judges, "sandbox": "bubblewrap", "number": 3, "max_rounds": 2}
    played = writer_editor_v0.raw_env(**options)
    told = writer_editor_v0.raw_env(**writer_editor_v0.raw_env.transcript_options(options))
    for env in (played, told):
        env.reset(seed=1)
    for reply in ("def f(): pass", "no", "def f(): 1", "over"):
        assert played.observe(played.agent_selection) == told.observe(told.agent_selection)
        for env in (played, told):
            env.step(reply)
    assert ran and len(ran) == len(set(ran)) == 2
    assert len(told.transcript()) == 5


def test_transcript_shows_translations_beside_their_source():
    story = started("translation").transcript()
    assert story == (Scene("The source text", NOTE["src"]),)
