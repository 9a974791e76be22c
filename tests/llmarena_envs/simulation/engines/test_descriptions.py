"""What tasks say of their engines is what the engines know."""

import json
import re
from importlib import resources

import pytest

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

FILE = resources.files("llmarena_envs.simulation.engines").joinpath("tasks_b.jsonl")
DESCRIPTIONS = {
    record["engine"]: record["task_description"]
    for record in map(json.loads, FILE.read_text(encoding="utf-8").splitlines())
}
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
