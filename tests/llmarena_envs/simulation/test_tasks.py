"""Tasks: the forms of their files, errors that name the line, and the good rows of a bad file."""

import json

import pytest

from llmarena_envs.core.options import OptionError
from llmarena_envs.simulation.tasks import Task, import_tasks, load_tasks, write_tasks
from tests.llmarena_envs.simulation.records import TASKS

READ = (
    Task(
        "Toy Counter", "Count what I send. First request: two pears", "things to count", "stateful", "000#Toy_Counter"
    ),
    Task("Capitals", "Print my text in capitals. First request: moss", "a text", "stateless", "7"),
)


def test_records_a_file_of_them_and_a_table_are_the_same(tmp_path):
    lines = tmp_path / "tasks.jsonl"
    lines.write_text("\ufeff" + "\r\n".join(map(json.dumps, TASKS)) + "\r\n\r\n", encoding="utf-8")
    table = tmp_path / "tasks.csv"
    rows = [
        ",".join(str(task[name]) for name in ("act", "id", "type", "request_type", "task_description"))
        for task in TASKS
    ]
    table.write_text("\n".join(["act,id,type,request_type,task_description", *rows]), encoding="utf-8")
    assert load_tasks(TASKS) == load_tasks(lines) == load_tasks(str(table)) == READ


def test_table_of_prompts_is_read_as_tasks(tmp_path):
    path = tmp_path / "prompts.csv"
    path.write_text(
        'act,prompt\n"Linux, Terminal","Be a terminal.\nMy first command is ""pwd""."\nPoet,Write.\n', encoding="utf-8"
    )
    terminal, poet = tasks = load_tasks(path)
    assert terminal == Task(
        "Linux, Terminal", 'Be a terminal.\nMy first command is "pwd".', "", "stateful", "Linux, Terminal"
    )
    assert (poet.task_description, poet.type) == ("Write.", "stateful")
    assert load_tasks([task._asdict() for task in tasks]) == tasks
    path.write_text("act,prompt,type\nPoet,Write.,stateless\n", encoding="utf-8")
    assert load_tasks(path)[0].type == "stateless"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ('act,prompt\nPoet,"Write\nme."\nPoet,Write.\n', "line 4: id: 'Poet' occurs twice; first at .*line 2"),
        ("act,prompt\nPoet,\n", "line 2: expected a field 'prompt' with a text"),
        ("act,prompt,type\nPoet,Write.,TEXT\n", "line 2: type: expected stateless or stateful, got 'TEXT'"),
        ("act,prompt,type\nPoet,Write.,\n", "line 2: expected a field 'type'"),
        ('act,prompt\nPoet,Write "me", please\nA,"b"c\n', "line 2: expected 2 columns, got 3"),
        ("name,prompt\nPoet,Write.\n", "line 1: expected names of columns such as act"),
    ],
)
def test_wrong_row_of_prompts_is_named(tmp_path, rows, message):
    path = tmp_path / "prompts.csv"
    path.write_text(rows, encoding="utf-8")
    with pytest.raises(OptionError, match=rf"^tasks: .*prompts.csv, {message}"):
        load_tasks(path)


def test_missing_id_is_the_act_and_missing_language_the_options():
    record = {name: value for name, value in TASKS[0].items() if name != "id"}
    (task,) = load_tasks([record | {"act": "Toy\n Counter", "engine": "sql"}], "zh")
    assert (task.id, task.act, task.engine, task.language) == ("Toy Counter", "Toy Counter", "sql", "zh")
    assert load_tasks([record | {"language": "zh"}])[0].language == "zh"


WRONG = [
    ({"type": "statefull"}, r"type: expected stateless or stateful, got 'statefull'; did you mean 'stateful'"),
    ({"type": 1}, r"type: expected a text, got 1"),
    ({"type": None}, r"expected a field 'type'"),
    ({"act": " "}, r"expected a field 'act'"),
    ({"task_description": None}, r"expected a field 'task_description' with a text, got fields \['act', 'id', "),
    ({"task_description": ["x"]}, r"task_description: expected a text"),
    ({"task_description": "x" * 20_001}, r"task_description: expected at most 20000 characters"),
    ({"request_type": "\ud800"}, r"request_type: expected a text in Unicode"),
    ({"id": "000#Toy_Counter"}, r"id: '000#Toy_Counter' occurs twice; first at .*line 1$"),
    ({"id": 1.5}, r"id: expected a text, got 1.5"),
    ({"engine": 5}, r"engine: expected a text"),
]


@pytest.mark.parametrize(("change", "message"), WRONG)
def test_a_wrong_task_is_named(tmp_path, change, message):
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(map(json.dumps, [TASKS[0], TASKS[1] | change])), encoding="utf-8")
    with pytest.raises(OptionError, match=rf"^tasks: .*mine.jsonl, line 2: {message}"):
        load_tasks(path)


def test_valid_tasks_of_a_bad_file_are_kept(tmp_path):
    wrong = [json.dumps(TASKS[1] | {"id": f"wrong {number}"} | change) for number, (change, _) in enumerate(WRONG)]
    lines = [json.dumps(TASKS[0]), "{", "[]", "[" * 100_000, *wrong, '"text"', json.dumps(TASKS[1])]
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    tasks, refusals = import_tasks(path)
    assert tasks == READ
    places = [str(refusal).removeprefix(f"tasks: {path}, line ").split(":")[0] for refusal in refusals]
    assert places == [str(number) for number in range(2, len(lines))]


def test_valid_rows_of_a_bad_table_are_kept(tmp_path):
    path = tmp_path / "mine.csv"
    head = "act,task_description,request_type,type\n"
    path.write_text(f'{head}a,b,c,stateless\na,b,c,d,e\nx,"y"z,c,stateless\nf,g,h,stateful\n', encoding="utf-8")
    tasks, refusals = import_tasks(path)
    assert [task.act for task in tasks] == ["a", "f"]
    assert [str(refusal).partition("line ")[2][:2] for refusal in refusals] == ["3:", "4:"]


@pytest.mark.parametrize("indent", [None, 2])
def test_task_file_can_be_one_list(tmp_path, indent):
    records = [
        {"act": act, "task_description": "d", "request_type": "r", "type": "stateless"} for act in ("a", "", "c")
    ]
    path = tmp_path / "tasks.json"
    path.write_text("\ufeff" + json.dumps(records, indent=indent))
    tasks, refusals = import_tasks(path)
    assert [task.act for task in tasks] == ["a", "c"]
    assert [str(refusal).partition(": expected")[0] for refusal in refusals] == [f"tasks: {path}, record 2"]


@pytest.mark.parametrize("source", [5, None, {"act": "x"}, "no such file", "builtim"])
def test_no_source_of_tasks(source):
    for load in (load_tasks, import_tasks):
        with pytest.raises(OptionError, match=r"^tasks: "):
            load(source)


def test_tasks_round_trip_with_the_public_fields(tmp_path):
    tasks = (*READ, READ[1]._replace(id="c", engine="sql", language="zh", task_description='引号 "\u2028\n\ttab \\'))
    path = tmp_path / "out.jsonl"
    path.write_text(write_tasks(tasks), encoding="utf-8")
    assert load_tasks(path) == tasks
    first = json.loads(path.read_text(encoding="utf-8").split("\n")[0])
    assert list(first) == ["id", "task_description", "request_type", "type", "act"]
