"""Scripts: the forms of their files, errors that name the line, and the good rows of a bad file."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmarena_envs.core.options import OptionError
from llmarena_envs.simulation.scripts import Message, Script, import_scripts, load_scripts, task_of, write_scripts
from llmarena_envs.simulation.tasks import load_tasks
from tests.llmarena_envs.simulation.records import TASKS, history, script

KNOWN = load_tasks(TASKS)
READ = Script(
    "3",
    "000#Toy_Counter",
    "Toy Counter",
    "Count what I send. First request: two pears",
    "stateful",
    "model-1.json",
    2,
    (
        Message("user", "Count what I send. First request: two pears"),
        Message("assistant", "assistant 1"),
        Message("user", "user 2"),
    ),
)


def without(record: dict[str, object], *names: str) -> dict[str, object]:
    return {name: value for name, value in record.items() if name not in names}


def test_records_and_a_file_of_them_are_the_same(tmp_path):
    path = tmp_path / "scripts.jsonl"
    path.write_text("\ufeff" + json.dumps(script()) + "\r\n\r\n", encoding="utf-8")
    assert load_scripts([script()]) == load_scripts(path) == load_scripts(str(path)) == (READ,)


@pytest.mark.parametrize(
    "messages",
    [
        [message["content"] for message in history(3)],
        [
            {"from": role, "value": each["content"]}
            for role, each in zip(("Human", "gpt", "human"), history(3), strict=True)
        ],
        [each | {"name": "x"} for each in history(3)],
        [history(3)[0], "assistant 1", history(3)[2] | {"role": " USER "}],
    ],
)
def test_forms_of_a_history(messages):
    assert load_scripts([script(dialogue_history=messages)]) == (READ,)


def test_answer_can_be_empty_or_missing():
    first, _, last = history(3)
    for answer in ("", {"role": "assistant", "content": ""}, {"role": "assistant", "content": None}, None):
        (read,) = load_scripts([script(dialogue_history=[first, answer, last])])
        assert read.dialogue_history[1] == Message("assistant", "")


@pytest.mark.parametrize("messages", [1, 3, 7])
def test_a_dialogue_without_a_challenging_turn_has_any_length(messages):
    (read,) = load_scripts([script(turn_num=0, dialogue_history=history(messages))])
    assert (read.turn_num, len(read.dialogue_history)) == (0, messages)


@pytest.mark.parametrize(
    "missing",
    [("act", "task_description", "type"), ("source_id", "task_description", "type"), ("type",), ("task_description",)],
)
def test_a_known_task_completes_a_script(missing):
    record = without(script(), *missing)
    assert load_scripts([record], KNOWN) == (READ,)
    with pytest.raises(OptionError, match=r"record 1: expected .*, or the source_id or act of a known task, got "):
        load_scripts([record])


def test_complete_script_of_an_unknown_task_is_read():
    (read,) = load_scripts([script(source_id=99, act="Unheard", task_description="Hum.")], KNOWN)
    assert (read.source_id, task_of(read, KNOWN)) == ("99", None)
    with pytest.raises(OptionError, match=r"act 'Toy Countr'; did you mean 'Toy Counter'"):
        load_scripts([without(script(act="Toy Countr"), "type")], KNOWN)


def test_the_task_of_a_script_is_that_in_the_same_words():
    assert task_of(READ, KNOWN) == KNOWN[0]
    assert task_of(READ._replace(source_id="elsewhere"), KNOWN) == KNOWN[0]
    assert task_of(READ._replace(task_description="Count otherwise."), KNOWN) is None
    twin = KNOWN[0]._replace(id="twin")
    assert task_of(READ._replace(source_id="twin"), [*KNOWN, twin]) == twin


WRONG = [
    ({"turn_num": None}, r"turn_num: expected the number of a turn, from 1 to 100, or 0, got None"),
    ({"turn_num": -1}, r"turn_num: expected the number of a turn"),
    ({"turn_num": 1.5}, r"turn_num: expected the number of a turn"),
    ({"turn_num": True}, r"turn_num: expected the number of a turn"),
    ({"turn_num": "two"}, r"turn_num: expected the number of a turn"),
    ({"turn_num": 10**4000}, r"turn_num: expected the number of a turn"),
    (
        {"turn_num": 3},
        r"turn_num: expected 2, or 0, as dialogue_history ends with message 3, got 3, whose request is message 5",
    ),
    ({"dialogue_history": None}, r"dialogue_history: expected a list of messages, got None"),
    ({"dialogue_history": "hello"}, r"dialogue_history: expected a list of messages, got 'hello'"),
    ({"dialogue_history": []}, r"dialogue_history: expected a list of messages, got \[\]"),
    ({"dialogue_history": history(4)}, r"dialogue_history: expected an odd number of messages, .*request, got 4"),
    ({"dialogue_history": history(201)}, r"dialogue_history: expected at most 199 messages, got 201"),
    (
        {"dialogue_history": [history(3)[0], *history(3)[::2]]},
        r"dialogue_history, message 2: expected role 'assistant'",
    ),
    ({"dialogue_history": history(3)[1:]}, r"dialogue_history, message 1: expected role 'user'.*, got 'assistant'"),
    ({"dialogue_history": [{"role": "system", "content": "x"}]}, r"dialogue_history, message 1: .*, got 'system'"),
    ({"dialogue_history": [{"content": "x"}]}, r"dialogue_history, message 1: .*, got None"),
    ({"dialogue_history": [{"role": ["user"], "content": "x"}]}, r"dialogue_history, message 1: .*, got \['user'\]"),
    (
        {"dialogue_history": [{"role": "user", "content": " "}]},
        r"dialogue_history, message 1: expected a text, got ' '",
    ),
    ({"dialogue_history": [{"role": "user"}]}, r"dialogue_history, message 1: expected a text, got None"),
    ({"dialogue_history": [5]}, r"dialogue_history, message 1: expected a text, got 5"),
    ({"dialogue_history": ["x" * 20_001]}, r"dialogue_history, message 1: expected at most 20000 characters"),
    ({"dialogue_history": ["\ud800"]}, r"dialogue_history, message 1: expected a text in Unicode"),
    ({"id": None}, r"expected a field 'id'"),
    ({"id": "3"}, r"id: '3' occurs twice; first at .*line 1"),
    ({"source_file_name": ""}, r"expected a field 'source_file_name'"),
    ({"type": "sometimes"}, r"type: expected stateless or stateful, got 'sometimes'"),
    ({"act": ["x"]}, r"act: expected a text"),
]


@pytest.mark.parametrize(("change", "message"), WRONG)
def test_a_wrong_script_is_named(tmp_path, change, message):
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(map(json.dumps, [script(), script(id=4) | change])), encoding="utf-8")
    with pytest.raises(OptionError, match=rf"^scripts: .*mine.jsonl, line 2: {message}"):
        load_scripts(path)


def test_valid_scripts_of_a_bad_file_are_kept(tmp_path):
    wrong = [script(id=f"wrong {number}") | change for number, (change, _) in enumerate(WRONG)]
    lines = [json.dumps(script()), "nonsense", *map(json.dumps, wrong), json.dumps(script(id="last"))]
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    scripts, refusals = import_scripts(path)
    assert scripts == (READ, READ._replace(id="last"))
    places = [str(refusal).removeprefix(f"scripts: {path}, line ").split(":")[0] for refusal in refusals]
    assert places == [str(number) for number in range(2, len(lines))]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.slow
@given(st.lists(st.dictionaries(st.sampled_from(sorted(script())), JSON) | JSON, max_size=4))
def test_any_list_is_read_or_refused(records):
    mixed = [script(id="first"), *(script(id="x") | each if isinstance(each, dict) else each for each in records)]
    scripts, refusals = import_scripts(mixed, KNOWN)
    assert scripts[0].id == "first"
    assert len(scripts) + len(refusals) == len(mixed)


@pytest.mark.parametrize("source", [5, None, {"id": "x"}, "no such file"])
def test_no_source_of_scripts(source):
    with pytest.raises(OptionError, match=r"^scripts: "):
        load_scripts(source)


def test_scripts_round_trip_with_the_public_fields(tmp_path):
    odd = READ._replace(id="b", turn_num=0, dialogue_history=(Message("user", '引号 "\u2028\n\ttab \\'),))
    path = tmp_path / "out.jsonl"
    path.write_text(write_scripts([READ, odd]), encoding="utf-8")
    assert load_scripts(path) == (READ, odd)
    first = json.loads(path.read_text(encoding="utf-8").split("\n")[0])
    assert list(first) == list(script())
    assert first["dialogue_history"] == history(3)
