"""Stories of recorded matches."""

from contextlib import closing
from dataclasses import replace

import pytest

from agents.play import Streams
from llmarena_envs import writer_editor_v0
from llmarena_envs.catalogue import make_environment
from rating.play import run_directory
from rating.store.replay import Story, tell
from tests.rating.runs import play_run, run_file

WRITER_EDITOR = 'name = "writer_editor_v0"\n[environment.options]\n'
JUDGED = WRITER_EDITOR + 'objective = false\n[environment.staff]\njudge = ["by_length"]'
POLICIES = ("random", 'name = "other"\nspec = "random"')


def played(directory, environment):
    text = run_file(environment, policies=POLICIES, seed=3, stop="min_matches = 1\nmax_matches = 2")
    with closing(run_directory.open_store(play_run(directory / "run", text))) as store:
        return next(store.records())


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    return played(tmp_path_factory.mktemp("stories"), JUDGED)


def test_recorded_match_is_printed(record):
    scenes, missing, _ = tell(record)
    assert missing == ""
    written = [(scene.speaker, scene.text) for scene in scenes if scene.speaker.startswith(("writer", "editor"))]
    assert len(written) == len(record.turns) - 1
    assert all(text in turn.played for (_, text), turn in zip(written, record.turns, strict=False))
    drawn = tell(record, draw=True)
    assert drawn == tell(record)._replace(pictures=drawn.pictures) and drawn.pictures


@pytest.mark.parametrize(
    ("change", "speakers", "missing"),
    [
        ({}, ["", "writer_0", "editor_0"], ""),
        ({"action": None}, ["", "writer_0"], ""),
        ({"read": "another text"}, [], "turn 2: the observation of editor_0 differs from the record"),
    ],
    ids=["under way", "forfeit", "not recorded"],
)
def test_tell_stops_at_the_end_of_match_or_record(record, change, speakers, missing):
    first, second, *_ = record.turns
    told = tell(replace(record, turns=(first, replace(second, **change)), outcome=None))
    assert ([scene.speaker for scene in told.scenes], told.missing) == (speakers, missing)


def test_tell_match_without_judges_draws_its_result(tmp_path):
    record = played(tmp_path, WRITER_EDITOR + 'task = "translation"\nn_judges = 0')
    _, missing, pictures = tell(record, draw=True)
    assert missing == "" and "judge_0" not in pictures[-1] and "The result" in pictures[-1]


def test_failing_environment_does_not_end_the_command(record, monkeypatch):
    def fail(self):
        raise RuntimeError("lost the thread")

    monkeypatch.setattr(writer_editor_v0.raw_env, "transcript", fail)
    assert tell(record) == Story(missing="RuntimeError: lost the thread")
    gone = replace(record, match=replace(record.match, environment="nobody.knows"))
    assert "nobody" in tell(gone).missing


def test_tell_draws_the_beginning_and_every_turn(tmp_path):
    record = played(tmp_path, "tictactoe_v0")
    assert tell(record) == Story()  # this game has no story
    _, missing, pictures = tell(record, draw=True)
    assert missing == "" and len(pictures) == len(record.turns) + 1 == len(set(pictures))
    env = make_environment("tictactoe_v0", record.match.options)
    env.reset(seed=Streams(record.match.seed).game())
    assert pictures[0] == env.unwrapped.draw()
