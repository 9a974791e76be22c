import json
import subprocess
import sys
from pathlib import Path

import pytest

from llmarena_envs.core.options import OptionError
from llmarena_envs.writer_editor.segments import Unit, segment, sentences
from llmarena_envs.writer_editor.tasks import Languages, load_documents, load_problems
from tests.llmarena_envs.writer_editor.running import share_passed

HERE = Path(__file__).parent
ANY = Languages()


def problem(**fields):
    return {
        "task_id": 1,
        "text": "Add.",
        "code": "def add(a, b):\n    return a + b",
        "test_list": ["assert add(1, 2) == 3"],
        **fields,
    }


def document(**fields):
    return {"src": "Ja.", "tgt": "Yes.", "src_lang": "de", "tgt_lang": "en", **fields}


def test_the_layout_of_mbpp():
    first, second = load_problems(HERE / "mbpp.jsonl")
    assert (first.task_id, first.entry_point, len(first.test_list)) == ("11", "sum_of_squares", 3)
    assert first.assignment.signature == "sum_of_squares(numbers)"
    assert second.entry_point == "turn_round"
    assert first.test_setup_code == "import math"
    assert [share_passed(each.code, each) for each in (first, second)] == [1, 1]


def test_the_layout_of_human_eval():
    loop, plain = load_problems(str(HERE / "human_eval.jsonl"))
    assert loop.task_id == "HumanEval/0"
    assert loop.assignment.signature == "first_even(numbers: List[int])"
    assert loop.text.startswith("from typing") and "canonical" not in loop.text
    wanted = ("assert first_even([1, 4]) == 4", "assert all((first_even([number]) == 0 for number in (1, 3)))")
    assert loop.test_list == wanted and loop.test_setup_code == ""
    assert plain.test_list == ("assert double(2) == 4", "assert double(candidate=0) == 0") and not plain.test_setup_code
    for problem in (loop, plain):
        assert share_passed(problem.code, problem) == 1
        assert share_passed(f"def {problem.entry_point}(*values, **more):\n    return 4", problem) < 1


def test_records_as_datasets_gives_them():
    assert load_problems([problem()]) == load_problems([problem(entry_point="add", challenge_test_list=[])])
    assert load_documents([document(doc_id=7)], ANY)[0].doc_id == "7"


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"text": ""}, "expected a field 'text'"),
        ({"text": 5}, "text: expected a text, got 5"),
        ({"text": "x" * 20_001}, "text: expected at most 20000 characters"),
        ({"test_list": []}, "test_list: expected a list with at least one test"),
        ({"test_list": "assert add(1, 2) == 3"}, "test_list: expected a list of texts"),
        ({"test_list": ["add(1, 2) == 3"]}, "test_list: expected an assert statement"),
        ({"test_list": ["assert add(1, 2) == 3; x = 1"]}, "test_list: expected an assert statement"),
        ({"test_setup_code": "def ("}, "test_setup_code: expected Python"),
        ({"test_list": ["assert ("]}, "test_list: expected an assert statement"),
        ({"code": "x = 1"}, "entry_point: expected the name of a function"),
        ({"entry_point": "add(a, b)"}, "entry_point: expected the name of a function"),
        ({"task_id": [1]}, "task_id: expected a text"),
        ({"task_id": 0}, "task_id: '0' occurs twice"),
    ],
)
def test_errors_in_problems_name_the_record(tmp_path, record, message):
    good, bad = problem(task_id=0), problem(**record)
    with pytest.raises(OptionError, match=rf"^tasks: record 2: {message}"):
        load_problems([good, bad])
    path = tmp_path / "problems.jsonl"
    path.write_text(f"{json.dumps(good)}\n\n{json.dumps(bad)}\n", encoding="utf-8")
    with pytest.raises(OptionError, match=rf"problems.jsonl, line 3: {message}"):
        load_problems(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{not json}\n", "line 1: expected a JSON object"),
        (b"[1]\n", "record 1: expected an object with fields"),
        (b"[" * 100_000, "line 1: expected a JSON object"),
        (b"\xff\xfe", "cannot read"),
        (b"\n\n", "at least one problem"),
    ],
)
def test_files_that_are_no_records(tmp_path, content, message):
    path = tmp_path / "tasks.jsonl"
    path.write_bytes(content)
    with pytest.raises(OptionError, match=message):
        load_problems(path)


@pytest.mark.parametrize("tasks", [5, {"text": "x"}, b"x", "/nowhere/tasks.jsonl", "bad\0name"])
def test_no_tasks(tasks):
    with pytest.raises(OptionError, match=r"^tasks: "):
        load_problems(tasks)


def test_a_table_of_documents():
    letter, note = load_documents(HERE / "corpus.tsv", Languages("de", "pt"))
    assert letter == ("letter", "Liebe Anna!\nMir geht es gut. Und dir?", "Querida Ana!\nEstou bem. E tu?", "de", "pt")
    assert note.src == 'Die Tür "klemmt".'
    assert note.assignment.text == note.src and note.tgt not in repr(note.assignment)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("doc_id\ttext\n", "line 1: expected names of columns such as src"),
        ("src\tsrc\n", "line 1: expected names of columns"),
        ("src\ttgt\nJa.\tYes.\tYes!\n", "line 2: expected 2 columns, got 3"),
        ("src\tsrc_lang\ttgt_lang\n \tde\ten\n", "line 2: expected a field 'src'"),
        ("src\ttgt\nJa.\tYes.\n", "line 2: src_lang: expected a language"),
        ("src\tsrc_lang\ttgt_lang\nJa.\tde\t" + "x" * 41, "line 2: tgt_lang: expected at most 40"),
        (
            "src\tdoc_id\tsrc_lang\ttgt_lang\na\t1\tde\ten\na\t2\tde\ten\na\t1\tde\ten\n",
            "line 4: doc_id: '1' goes on after another",
        ),
        (
            "src\tdoc_id\tsrc_lang\ttgt_lang\na\t1\tde\ten\na\t1\tfr\ten\n",
            "line 3: src_lang, tgt_lang: expected the same",
        ),
        ("src\n", "at least one document"),
    ],
)
def test_errors_in_a_table_name_the_line(tmp_path, text, message):
    path = tmp_path / "corpus.tsv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(OptionError, match=message):
        load_documents(path, ANY)


def test_documents_are_chosen_by_their_languages():
    records = [document(), document(src_lang="fr"), document(tgt_lang="fr")]
    assert len(load_documents(records, ANY)) == 3
    assert len(load_documents(records, Languages("de"))) == 2
    assert [each.src_lang for each in load_documents(records, Languages("fr", "en"))] == ["fr"]
    with pytest.raises(
        OptionError, match=r"expected languages of the documents \(de to en, de to fr, fr to en\), got 'ja'"
    ):
        load_documents(records, Languages("ja"))
    assert {each.tgt_lang for each in load_documents(None, Languages("en"))} == {"fr", "zh"}


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("It rains. Stay!", 2),
        ("下雨了。待在家里吧！好吗？", 3),
        ("3.5 is a number.", 1),
        ("“Go!” he said... Really?", 3),
        ("no end", 1),
        ("", 0),
    ],
)
def test_sentences(text, count):
    assert len(sentences(text)) == count
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


def test_segments_are_made_of_whole_paragraphs():
    paragraphs = [Unit(f"A{number}. B.", f"a{number}. b.") for number in range(5)]
    assert list(segment(paragraphs, max_chars=14, max_sentences=8)) == [
        Unit("A0. B.\nA1. B.", "a0. b.\na1. b."),
        Unit("A2. B.\nA3. B.", "a2. b.\na3. b."),
        Unit("A4. B.", "a4. b."),
    ]
    assert [len(part.src.split("\n")) for part in segment(paragraphs, max_chars=99, max_sentences=7)] == [3, 2]
    text = Unit("One.\n\nTwo.\nThree.", "Eins.\nZwei.\n\nDrei.")
    assert list(segment([text], max_chars=9)) == [Unit("One.\nTwo.", "Eins.\nZwei."), Unit("Three.", "Drei.")]


def test_long_paragraph_is_split_between_aligned_sentences():
    source, target = "One. Two. Three. Four.", "Eins. Zwei. Drei. Vier."
    assert list(segment([Unit(source, target)], max_sentences=2)) == [
        Unit("One. Two.", "Eins. Zwei."),
        Unit("Three. Four.", "Drei. Vier."),
    ]
    assert [part.src for part in segment([Unit(source, "")], max_chars=10)] == ["One. Two.", "Three.", "Four."]
    assert list(segment([Unit(source, "Eins und zwei.")], max_sentences=2)) == [Unit(source, "Eins und zwei.")]
    assert list(segment([Unit("x" * 50, "")], max_chars=10)) == [Unit("x" * 50, "")]


def test_parts_of_a_long_document_are_tasks_of_their_own():
    parts = load_documents([document(src="\n".join(["Ja."] * 12), tgt="\n".join(["Yes."] * 12), doc_id="long")], ANY)
    assert [part.doc_id for part in parts] == ["long, part 1", "long, part 2"]
    assert [len(part.tgt.split("\n")) for part in parts] == [8, 4]


@pytest.mark.slow
def test_tasks_are_loaded_when_an_environment_is_created():
    code = "import sys, llmarena_envs; print([name for name in sys.modules if 'writer_editor' in name or name == 'sacrebleu'])"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
    )
