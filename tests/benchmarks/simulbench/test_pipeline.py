"""The steps of SimulBench on files: each reads the output of the previous step, resumes, and refuses bad rows."""

import json

import pytest

from benchmarks.experiments.command import main
from benchmarks.experiments.cost import expected_costs
from benchmarks.simulbench.__main__ import PAPER
from benchmarks.simulbench.answers import ScriptOptions, plan_answers
from benchmarks.simulbench.collect import Options as CollectOptions
from benchmarks.simulbench.collect import plan as plan_collect
from benchmarks.simulbench.tasks import Options as TaskOptions
from benchmarks.simulbench.tasks import ask as ask_tasks
from llmarena_envs.simulation.dialogues import load_dialogues
from llmarena_envs.simulation.labels import label_scripts
from llmarena_envs.simulation.scripts import Message, Script, load_scripts, write_scripts
from llmarena_envs.simulation.tasks import load_tasks, shipped_tasks, write_tasks

pytestmark = pytest.mark.slow

SIMULATORS = ("perfect", "silent")


def run(out, row, *words):
    return main(PAPER, [row, *words, "--workers", "1", "--out", str(out)])


def steps(out):
    """The command lines of all steps, each with the file of the one before."""
    engines = str(out.parent / "engines.jsonl")
    simulators = ("--alone", "--policy", *SIMULATORS)
    scripts = str(out / "extract-scripts-exact.jsonl")
    return {
        "tasks": ("--smoke",),
        "collect": ("--tasks", engines, "--dialogues", "2"),
        "extract": ("--dialogues", str(out / "collect-dialogues.jsonl")),
        "evaluate": ("--scripts", scripts, "--tasks", engines, *simulators),
        "compare": ("--scripts", scripts, "--tasks", engines, "--subset", "All", *simulators),
    }


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """Results of the whole pipeline, on two tasks with engines and one without."""
    directory = tmp_path_factory.mktemp("pipeline")
    chosen = [each for each in shipped_tasks("en") if each.id in ("engine-sql", "engine-key-value", "vending-machine")]
    (directory / "engines.jsonl").write_text(write_tasks(chosen), encoding="utf-8")
    for row, words in steps(directory / "out").items():
        assert run(directory / "out", row, *words) == 0, row
    return directory / "out"


def table(out, row, name, key):
    report = json.loads((out / f"{row}.json").read_text(encoding="utf-8"))
    found = next(each for each in report["tables"] if each["name"] == name)
    return {
        line[key]: {title.removesuffix(" (measured)"): cell for title, cell in line.items()} for line in found["rows"]
    }


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_created_tasks_can_be_collected_on(out):
    tasks = load_tasks(out / "tasks-created.jsonl")
    assert {task.type for task in tasks} == {"stateless", "stateful"}
    assert {task.act for task in tasks}.isdisjoint(task.act for task in shipped_tasks("en"))
    creators = table(out, "tasks", "creators", "creator")
    assert creators["templates"]["kept, % of those asked for"]["value"] == 100
    assert creators["careless"]["kept, % of those asked for"]["value"] == 50
    assert sum(each["in the file"] for each in creators.values()) == len(tasks)


def test_every_task_has_its_dialogues(out):
    dialogues = load_dialogues(out / "collect-dialogues.jsonl")
    assert len({(each.source_id, each.source_file_name) for each in dialogues}) == 6
    assert {(each.turns, each.source_file_name) for each in dialogues} == {(4, "good-1"), (4, "good-2")}
    assert {each.engine for each in dialogues} == {"sql", "key_value", ""}
    first, second = (each for each in dialogues if each.source_id == "engine-sql")
    assert first.dialogue_history[0] == second.dialogue_history[0]
    assert first.dialogue_history != second.dialogue_history


def test_scripts_begin_with_the_first_wrong_answer(out):
    dialogues = {each.id: each for each in load_dialogues(out / "collect-dialogues.jsonl")}
    for observer in ("exact", "content"):
        scripts = load_scripts(out / f"extract-scripts-{observer}.jsonl")
        assert {script.id.rpartition("-")[0] for script in scripts} == dialogues.keys()
        assert observer != "content" or {script.turn_num for script in scripts} == {0}
    observers = table(out, "extract", "observers", "observer")
    assert observers["exact"]["the known turn, % of dialogues whose truth is known"]["value"] == 100
    assert observers["exact"]["the known turn, % of dialogues whose truth is known"]["n"] == 6


def test_scores_equal_the_judges(out):
    scripts = load_scripts(out / "extract-scripts-exact.jsonl")
    labels = dict(zip([script.id for script in scripts], label_scripts(scripts), strict=True))
    scores = lines(out / "evaluate-scores.jsonl")
    assert len(scores) == 2 * len(scripts)
    for line in scores:
        assert line["label"] == labels[line["id"]]
        known = line["source_id"].startswith("engine")
        right = line["simulator"] == "perfect"
        assert line["exact"] in ((right or (not line["response"] and line["score"] == 10),) if known else (None,))
        assert line["score"] == line["ratings"]["exact"]
        assert line["score"] == 10 or not right
    kept = load_scripts(out / "evaluate-scripts.jsonl")
    silent = {line["id"]: line["score"] for line in scores if line["simulator"] == "silent"}
    assert {script.id for script in kept} == {name for name, score in silent.items() if score != 10}


def test_comparisons_use_both_orders(out):
    scripts = load_scripts(out / "extract-scripts-exact.jsonl")
    comparisons = lines(out / "compare-comparisons.jsonl")
    assert sorted(line["id"] for line in comparisons) == sorted(script.id for script in scripts)
    for line in comparisons:
        assert line["simulators"] == ["perfect", "silent"]
        assert line["responses"][1] == ""
        wanted = 0.5 if line["responses"][0] == "" else 1.0
        assert (line["result"], line["verdicts"]) == (wanted, {"exact": [wanted, wanted]})


@pytest.mark.parametrize("row", ["f2", "f3a", "f3b", "t2"])
def test_one_evaluation_serves_every_table(row, out, tmp_path):
    assert run(tmp_path, row, "--run", str(out / "evaluate"), "--same", "GPT-4o=perfect") == 0
    text = (tmp_path / f"{row}.md").read_text(encoding="utf-8")
    assert ("GPT-4o = perfect" in text) == (row != "t2")


def test_bad_rows_are_refused_with_their_place_and_the_others_kept(out, tmp_path):
    good = (out / "extract-scripts-exact.jsonl").read_text(encoding="utf-8").splitlines()
    first = json.loads(good[0])
    bad = [
        "no JSON",
        json.dumps(first | {"id": "x", "turn_num": 3, "dialogue_history": first["dialogue_history"][:1]}),
        json.dumps(first | {"id": "y", "type": "stateles"}),
        good[0],
    ]
    path = tmp_path / "scripts.jsonl"
    path.write_text("\n".join([*good[:3], *bad, *good[3:]]), encoding="utf-8")
    assert run(tmp_path / "out", "evaluate", "--scripts", str(path), "--alone", "--policy", "silent") == 0
    report = json.loads((tmp_path / "out" / "evaluate.json").read_text(encoding="utf-8"))
    refused = [note for note in report["notes"] if note.startswith("refused")]
    assert [f"line {number}:" in note for number, note in enumerate(refused, start=4)] == [True] * 4
    assert len(lines(tmp_path / "out" / "evaluate-scores.jsonl")) == len(good)


def test_tasks_with_an_unsuitable_engine_are_refused(tmp_path):
    good = next(task for task in shipped_tasks("en") if task.engine == "key_value")
    tasks = [
        good,
        good._replace(id="a", act="A", engine="key_valeu"),
        good._replace(id="b", act="B", task_description="Be a server."),
    ]
    (tmp_path / "tasks.jsonl").write_text(write_tasks(tasks), encoding="utf-8")
    assert run(tmp_path, "collect", "--tasks", str(tmp_path / "tasks.jsonl"), "--dialogues", "1") == 0
    report = json.loads((tmp_path / "collect.json").read_text(encoding="utf-8"))
    assert ["'a'" in note and "key_value" in note for note in report["notes"]] == [True, False]
    assert "First request" in report["notes"][1]
    assert len(load_dialogues(tmp_path / "collect-dialogues.jsonl")) == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["evaluate", "--scripts", "foreign.jsonl"],
            "does not know the right answers to 1 of 1 scripts, the first '1'",
        ),
        (["compare", "--scripts", "foreign.jsonl", "--subset", "All"], "does not know the right answers"),
        (["collect", "--tasks", "prompts.csv"], "expected one on which 'user' can be the user, got none among 1"),
        (["compare", "--alone", "--policy", "perfect"], "two simulators"),
        (["extract", "--dialogues", "bad.jsonl"], "expected at least one dialogue"),
    ],
)
def test_impossible_steps_are_refused_before_play(words, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.jsonl").write_text('{"id": 1}\n', encoding="utf-8")
    (tmp_path / "prompts.csv").write_text("act,prompt\nOracle,Be an oracle.\n", encoding="utf-8")
    script = Script("1", "o", "Oracle", "Be an oracle.", "stateful", "o-1", 0, (Message("user", "Be an oracle."),))
    (tmp_path / "foreign.jsonl").write_text(write_scripts([script]), encoding="utf-8")
    assert main(PAPER, words) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    ("row", "message"), [("collect", "expected mode = 'script'"), ("compare", "expected a run of simulation_v0, got")]
)
def test_run_of_another_game_is_refused(row, message, out, tmp_path, capsys):
    assert run(tmp_path / "out", "f2", "--run", str(out / row)) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_models_sample_as_in_the_paper_by_default():
    config = plan_collect(CollectOptions(smoke=True, number=1, user="openai:one"))["dialogues"]
    user = next(policy for policy in config.policy if not policy.rated)
    assert user.options == {"temperature": 1.2, "max_tokens": 300}
    assert config.environment[0].staff == {"user": [user.title]}
    config = plan_collect(CollectOptions(number=1, user="openai:one:temperature=0.5"))["dialogues"]
    assert config.find_policy("openai:one:temperature=0.5 as user").options == {"max_tokens": 300}
    (job,) = ask_tasks({}, TaskOptions(policy=("openai:one", "openai:two:temperature=0.3"), alone=True))
    assert [policy.options for policy in job.policies] == [{"temperature": 1.2}, {}]


def test_costs_follow_the_scripts_of_the_file(tmp_path):
    description = "Be a desk. First request: " + "word " * 2_000
    fields = {"id": 1, "source_id": 1, "act": "Desk", "task_description": description, "type": "stateless"}
    fields |= {"source_file_name": "a", "turn_num": 0, "dialogue_history": [{"role": "user", "content": description}]}
    path = tmp_path / "scripts.jsonl"
    path.write_text("".join(json.dumps(fields | {"id": number}) + "\n" for number in range(5)), encoding="utf-8")
    options = ScriptOptions(scripts=str(path), policy=("silent",), judge=("always",), alone=True)
    (cost,) = expected_costs(plan_answers(options)["answers"])
    assert cost.calls == 5
    assert cost.tokens_in > 5 * len(description) / 4
