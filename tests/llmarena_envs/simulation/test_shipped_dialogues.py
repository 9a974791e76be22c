"""The dialogues that come with the package, and the scripts that are extracted from them."""

import re
import tomllib
from collections import Counter
from importlib import resources

import pytest

from llmarena_envs.simulation.actions import Request
from llmarena_envs.simulation.labels import label_scripts
from llmarena_envs.simulation.scripts import load_scripts, write_scripts
from llmarena_envs.simulation.shipped_dialogues import dialogues_beginning, shipped_dialogues, shipped_scripts
from llmarena_envs.simulation.speech import as_said, read_request, write_request
from llmarena_envs.simulation.tasks import shipped_tasks
from llmarena_envs.simulation.truth import engine_of, first_request, is_exact

TASKS = {task.id: task for language in ("en", "zh") for task in shipped_tasks(language)}
FILES = sorted(
    (each for each in (resources.files("llmarena_envs.simulation") / "data" / "dialogues").iterdir()),
    key=lambda file: file.name,
)
ON_ENGINES = [each for each in (*shipped_dialogues("en"), *shipped_dialogues("zh")) if each.task.engine]
PLACEHOLDER = re.compile(r"stand-in|placeholder|carried out as described|lorem ipsum|占位", re.I)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_file_has_tagged_dialogues_of_its_task(file):
    data = tomllib.loads(file.read_text(encoding="utf-8"))
    task = TASKS[file.name.removesuffix(".toml")]
    assert data["act"] == task.act
    *easy, challenging = data["dialogue"]
    assert len(easy) == (2 if task.language == "en" else 1)
    for dialogue in (*easy, challenging):
        first, *later = turns = dialogue["turn"]
        assert len(turns) in ((3, 4, 5) if dialogue in easy else (4, 5))
        hard = 0 if dialogue in easy else 2
        assert [turn["difficulty"] for turn in turns] == ["easy"] * (len(turns) - hard) + ["challenging"] * hard
        assert first.keys() == {"difficulty", "answer"}
        for turn in later:
            assert turn.keys() == {"strategy", "difficulty", "request", "answer"}
            assert turn["strategy"] in (1, 2, 3, 4)
            assert read_request(write_request(Request(turn["request"], 2))).text == turn["request"].strip()
        for turn in turns:
            assert as_said(turn["answer"]) == turn["answer"].rstrip()
            assert not PLACEHOLDER.search(turn["answer"])


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_task_gives_scripts_of_each_kind(language, tmp_path):
    scripts = shipped_scripts(language)
    of_each = {"LastOnly": 2 if language == "en" else 1, "FirstChan": 1, "SubseqChan": 1}
    assert Counter(zip([script.source_id for script in scripts], label_scripts(scripts), strict=True)) == {
        (task.id, label): count for task in shipped_tasks(language) for label, count in of_each.items()
    }
    assert len(scripts) >= (176 if language == "en" else 60)
    for script, label in zip(scripts, label_scripts(scripts), strict=True):
        assert script.difficulty == ("easy" if label == "LastOnly" else "challenging")
        assert script.strategy and script.reference.strip()
        assert len(script.dialogue_history) in (5, 7, 9)
    path = tmp_path / "scripts.jsonl"
    path.write_text(write_scripts(scripts), encoding="utf-8")
    assert load_scripts(path) == scripts


def test_no_answer_is_right_for_many_scripts():
    ((answer, count),) = Counter(script.reference for script in shipped_scripts("en")).most_common(1)
    assert count <= 3, answer


@pytest.mark.slow_except(1)
@pytest.mark.parametrize("dialogue", ON_ENGINES, ids=lambda each: f"{each.task.id}-{each.number}")
def test_engine_gives_the_shipped_answers(dialogue):
    engine = engine_of(dialogue.task)
    if engine is None:
        pytest.skip("needs a sandbox")
    for number, turn in enumerate(dialogue.turns):
        right = engine.respond(turn.request if number else first_request(dialogue.task))
        assert is_exact(turn.answer, right), right


def test_dialogues_are_found_by_their_requests():
    for each in shipped_dialogues("en"):
        assert each in dialogues_beginning(each.requests)
        assert each not in dialogues_beginning([*each.requests, "another"])
    assert dialogues_beginning(["nothing of ours"]) == []
