"""What tasks say of their engines is what the engines know."""

import json
import re
from importlib import resources

import pytest

from llmarena_envs.simulation.engines import make_engine
from llmarena_envs.simulation.engines.calendar import Calendar
from llmarena_envs.simulation.engines.cipher import FAST_ROTOR, SLOW_ROTOR, CipherMachine
from llmarena_envs.simulation.engines.key_value import COMMANDS
from llmarena_envs.simulation.engines.stack_machine import INSTRUCTIONS, StackMachine
from llmarena_envs.simulation.engines.unit_converter import UNITS, UnitConverter
from tests.llmarena_envs.simulation.engines import (
    test_calendar,
    test_cipher,
    test_key_value,
    test_regex_tester,
    test_stack_machine,
    test_unit_converter,
)


def _descriptions(*names: str) -> dict[str, str]:
    folder = resources.files("llmarena_envs.simulation.engines")
    lines = [line for name in names for line in folder.joinpath(name).read_text(encoding="utf-8").splitlines()]
    return {record["engine"]: record["task_description"] for record in map(json.loads, lines)}


DESCRIPTIONS = _descriptions("tasks_a.jsonl", "tasks_b.jsonl")
CHINESE = _descriptions("tasks_zh.jsonl")
EXAMPLES = {
    "key_value": test_key_value.EXAMPLES,
    "unit_converter": test_unit_converter.EXAMPLES,
    "regex_tester": test_regex_tester.EXAMPLES,
    "stack_machine": test_stack_machine.EXAMPLES,
    "calendar": test_calendar.EXAMPLES,
    "cipher": test_cipher.EXAMPLES,
}


@pytest.mark.parametrize("engine", EXAMPLES)
def test_the_first_example_answers_the_first_request(engine):
    assert DESCRIPTIONS[engine].endswith(f"\n\nFirst request: {EXAMPLES[engine][0][0]}")


def test_faults_of_patterns_are_described():
    for fault in test_regex_tester.FAULTS:
        assert f"\n{fault} (" in DESCRIPTIONS["regex_tester"] or f"\n{fault}\n" in DESCRIPTIONS["regex_tester"]


@pytest.mark.parametrize("engine", CHINESE)
def test_chinese_description_has_the_english_messages(engine):
    english = DESCRIPTIONS[engine].rpartition("\n\n")[0]
    messages = re.findall(r"(?:ERROR:|\(error\)|\w+Error:) (?!and )[^,:;()\n.]+[^,:;()\n. ]", english)
    names = re.findall(r"\b(?:[A-Z]{3,}|\w+_\w+)\b|\\\w", english)
    assert len(messages) > 3
    assert [text for text in [*messages, *names] if text not in CHINESE[engine]] == []


def test_chinese_first_states_and_faults():
    _, rows = make_engine("sql").state().split(";\n")
    assert f"\n{rows}\n" in CHINESE["sql"]
    assert all(name in CHINESE["key_value"] for name in COMMANDS)
    assert all(
        f"\n{fault}（" in CHINESE["regex_tester"] or f"\n{fault}\n" in CHINESE["regex_tester"]
        for fault in test_regex_tester.FAULTS
    )


def test_units_stand_in_their_order():
    for kind in {unit.kind for unit in UNITS.values()}:
        line = re.search(f"\n{kind}: (.*)", DESCRIPTIONS["unit_converter"])
        names = " ".join(part.split()[0] for part in re.split("[,;]", line[1]))
        assert UnitConverter().respond(f"units {kind}") == names


def test_first_states_and_commands():
    assert all(name in DESCRIPTIONS["key_value"] for name in COMMANDS)
    assert all(name in DESCRIPTIONS["stack_machine"] for name in INSTRUCTIONS)
    assert f"at the start it is {StackMachine().state()}" in DESCRIPTIONS["stack_machine"]
    assert f"At the start it holds\n{Calendar().respond('LIST')}\n" in DESCRIPTIONS["calendar"]
    assert all(f"W = {wiring}" in DESCRIPTIONS["cipher"] for wiring in (FAST_ROTOR, SLOW_ROTOR))
    for mode, key in re.findall("mode=(.*?) key=([^ \n]*)", CipherMachine().state()):
        assert f"\n{mode}, key {key}" in DESCRIPTIONS["cipher"] or (mode, key) == ("atbash", "none")
