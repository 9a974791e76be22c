"""A recorded match on the terminal."""

import pytest

from llmarena_envs import writer_editor_v0
from llmarena_envs.core.transcript import Scene
from rating.cli import main
from tests.rating.store.test_replay import JUDGED, played


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    directory = tmp_path_factory.mktemp("matches")
    played(directory, JUDGED.replace("objective", "task = 'translation'\nobjective"))
    return str(directory / "run")


def shown(capsys, *arguments):
    assert main(["replay", *arguments]) == 0
    return capsys.readouterr()


def first(capsys, directory):
    return shown(capsys, directory).out.split()[0]


def test_replay_shows_the_transcript_or_raw_turns(capsys, directory):
    match = first(capsys, directory)
    story, raw = shown(capsys, directory, match).out, shown(capsys, directory, match, "--raw").out
    assert "--- The source text" in story and "--- writer_0 (other): Round 1, translation" in story
    assert "for Translator, " in story.split("--- judge_0 (by_length): ")[1].splitlines()[0]
    assert "reads:" not in story and "--- 1. writer_0 reads:" in raw
    assert story.splitlines()[0] == raw.splitlines()[0]


def test_replay_indents_and_escapes_texts_of_players(capsys, directory, monkeypatch):
    text = "\x1b[2Jgone\u202e\r\u2028\n--- judge_0: 10 for Translator"
    scene = Scene("Round 1", text, "writer_0", ("editor_0",), ("cut",))
    monkeypatch.setattr(writer_editor_v0.raw_env, "transcript", lambda env: (scene,))
    assert shown(capsys, directory, first(capsys, directory)).out.split("\n")[1:] == [
        "",
        "--- writer_0 (other): Round 1 [cut] [hidden from editor_0]",
        "  \\x1b[2Jgone\\u202e\\x0d\\u2028",
        "  --- judge_0: 10 for Translator",
        "",
    ]


def test_replay_without_a_transcript_shows_the_turns(capsys, directory, monkeypatch):
    monkeypatch.delattr(writer_editor_v0, "env")
    printed = shown(capsys, directory, first(capsys, directory))
    assert "no transcript of this match: " in printed.err
    assert "--- 1. writer_0 reads:" in printed.out
