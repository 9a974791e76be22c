"""The row of the examiner's work: what is counted, and the files of questions."""

import json

import pytest

from benchmarks.auto_arena.__main__ import PAPER
from benchmarks.auto_arena.questions import Options, ask, collected, kept_share
from benchmarks.experiments.command import main
from benchmarks.experiments.file_names import file_name
from benchmarks.experiments.jobs import read_job
from llmarena_envs.debate.questions import DOMAINS, load_questions


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    directory = tmp_path_factory.mktemp("questions")
    assert main(PAPER, ["questions", "--smoke", "--workers", "1", "--out", str(directory)]) == 0
    return directory


def rows(out, table):
    report = json.loads((out / "questions.json").read_text(encoding="utf-8"))
    found = next(each for each in report["tables"] if each["name"] == table)
    return {
        row["examiner"]: {title.removesuffix(" (measured)"): cell for title, cell in row.items()}
        for row in found["rows"]
    }


@pytest.mark.slow
def test_every_examiner_is_told_apart(out):
    table = rows(out, "examiners")
    assert {name: row["kept, % of those asked for"]["value"] for name, row in table.items()} == {
        "answer": 0,
        "few": 100,  # two at a time are few enough
        "from_file": 100,
        "same": 25,
        "templates": 100,
    }
    assert table["same"]["repeated, % of those drafted"]["value"] > 80
    assert table["answer"]["refused for other reasons, % of those drafted"]["value"] == 100
    assert (table["templates"]["used"], table["answer"]["used"]) == (2 * len(DOMAINS), 0)
    assert rows(out, "reasons")["answer"]["answers"] == rows(out, "reasons")["answer"]["drafted"]


@pytest.mark.slow
def test_what_was_kept_is_written_as_debates_take_it(out):
    for name, each in (("templates", 4), ("templates-used", 2), ("same", 1)):
        questions = load_questions(out / f"questions-{name}.jsonl")
        assert [question.domain for question in questions] == [domain for domain in DOMAINS for _ in range(each)]
    assert not (out / "questions-answer.jsonl").exists()


@pytest.mark.slow
def test_recorded_replies_are_read_again_for_their_questions(out):
    (job,) = ask({}, Options(count=4, batch=2, chosen=2))
    found = read_job(out / "questions", job).answers
    own = found["from_file"]
    assert [item.case.name for item in own] == list(DOMAINS)
    shipped = load_questions("builtin")
    assert [question.text for question in collected(own).questions] == [
        question.text for domain in DOMAINS for question in [each for each in shipped if each.domain == domain][:4]
    ]
    assert (kept_share(found["same"]).value, kept_share(found["same"]).n) == (0.25, 4 * len(DOMAINS))


def test_names_of_files_are_plain_and_differ():
    policies = ["openai:gpt-4o", "openai/GPT-4o", "../../etc", "模型", "///"]
    assert [file_name(policy, policies) for policy in policies] == [
        "openai-gpt-4o-1",
        "openai-gpt-4o-2",
        "etc",
        "模型",
        "policy",
    ]
