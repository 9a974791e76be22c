"""Asserts of tasks: right and wrong programs, and programs that cheat."""

import pytest

from llmarena_envs.sandbox import Limits, Sandbox, SandboxError, check_asserts, find_sandbox

GOOD = "def f(x):\n    return sorted(set(x))\n\ndef area(r):\n    return 3.14159 * r * r\n"
ASSERTS = [
    "assert f([3, 1, 3]) == [1, 3]",
    "assert [1] == f([1])",
    "assert f([]) == [], 'empty'",
    "assert not f([])",
    "assert len(f([2, 2])) == 1",
    "assert abs(area(2) - 12.566) < 0.01",
    "assert math.isclose(area(1), math.pi, rel_tol=1e-3)",
    "assert area(0) == 0 and area(1) > 3",
    "assert f('ab')[0] in {'a', 'c'}",
]


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    return find_sandbox()


def test_a_right_program_passes_and_is_judged_outside(sandbox: Sandbox) -> None:
    checked = check_asserts(sandbox, GOOD, ASSERTS, setup="import math")
    assert [(check.passed, check.outside) for check in checked.checks] == [(True, True)] * len(ASSERTS), checked.checks
    assert checked.passed and checked.result.status == "ok"


def test_generators_and_the_like_are_converted_where_the_program_is(sandbox: Sandbox) -> None:
    program = (
        "def f(n):\n    yield from range(n)\n"
        "class Stack:\n    def __len__(self): return 2\n    def __iter__(self): return f(2)"
    )
    asserts = [
        "assert list(f(3)) == [0, 1, 2]",
        "assert sorted(f(2)) == [0, 1]",
        "assert sum(f(4)) == 6 and next(f(1)) == 0",
        "assert len(Stack()) == 2",
        "assert tuple(Stack())[1] == 1",
        "assert f(3) == [0, 1, 2]",
    ]
    checked = check_asserts(sandbox, program, asserts)
    assert [(check.passed, check.outside) for check in checked.checks] == [(True, True)] * 5 + [(False, True)]
    assert "generator" in checked.checks[5].detail


def test_values_of_the_standard_library_are_data(sandbox: Sandbox) -> None:
    program = (
        "from collections import deque\nfrom datetime import date, timedelta\nfrom decimal import Decimal\n"
        "from fractions import Fraction\ndef f(x): return {'q': deque([x]), 'd': [Decimal(x), Fraction(x, 2)]}\n"
        "def later(day, n): return day + timedelta(n)\ndef r(n): return range(n), bytearray(b'a')"
    )
    setup = "from collections import deque\nfrom datetime import date, datetime\nfrom fractions import Fraction as F"
    asserts = [
        "assert f(1) == {'q': deque([1]), 'd': [1, F(1, 2)]}",
        "assert later(date(2024, 2, 28), 2) == date(2024, 3, 1)",
        "assert r(2) == (range(2), b'a')",
        "assert isinstance(later(date(2024, 2, 28), 2), datetime)",
    ]
    checked = check_asserts(sandbox, program, asserts, setup=setup)
    got = [(check.passed, check.outside) for check in checked.checks]
    assert got == [(True, True), (True, True), (True, True), (False, True)], checked.checks


def test_a_wrong_program_fails_where_it_is_wrong(sandbox: Sandbox) -> None:
    checked = check_asserts(sandbox, GOOD.replace("sorted(set(x))", "sorted(x)"), ASSERTS, setup="import math")
    assert [check.passed for check in checked.checks] == [False, True, True, True, False, True, True, True, True]
    assert checked.checks[0].detail == "it does not hold" and checked.checks[0].outside
    assert not checked.passed


def test_what_cannot_be_taken_apart_is_judged_beside_the_program(sandbox: Sandbox) -> None:
    program = (
        GOOD
        + "class Box:\n    def __init__(self, x): self.x = x\n    def __eq__(self, other): return self.x == other.x\n"
    )
    asserts = [
        "assert all(f([i]) == [i] for i in range(3))",
        "assert Box(1) == Box(1)",
        "assert Box(1) == Box(2)",
        "assert isinstance(Box(1), Box)",
        "assert Box(3).x == 3",
        "assert f([1]) == [1]",
    ]
    checked = check_asserts(sandbox, program, asserts)
    got = [(check.passed, check.outside) for check in checked.checks]
    assert got == [(True, False), (True, False), (False, False), (True, False), (True, True), (True, True)]


@pytest.mark.slow
def test_a_setup_that_needs_the_program(sandbox: Sandbox) -> None:
    asserts = ["assert candidate([2, 1]) == [1, 2]", "assert f([2, 1]) == [1, 2]", "assert f([2, 1]) == wanted"]
    checked = check_asserts(sandbox, GOOD, asserts, setup="candidate = f\nwanted = f([1])")
    got = [(check.passed, check.outside) for check in checked.checks]
    assert got == [(True, False), (True, False), (False, False)]


EVERYTHING = """
class Everything(int):
    def __eq__(self, other): return True
    def __sub__(self, other): return 0
    __ne__ = __lt__ = __gt__ = lambda self, other: True
    __hash__ = int.__hash__
"""


@pytest.mark.parametrize(
    "program",
    [
        EVERYTHING + "def f(x): return Everything(5)\ndef area(r): return Everything(500)",
        EVERYTHING.replace("(int)", "") + "    __abs__ = lambda self: self\ndef f(x): return Everything()\narea = f",
        "import os\ndef f(x): os._exit(0)\narea = f",
        "import sys\ndef f(x): sys.exit(0)\narea = f",
        "raise SystemExit(0)",
        "import builtins\nbuiltins.abs = lambda x: 0\nbuiltins.bool = lambda x: True\ndef f(x): return 0\ndef area(r): return 77",
        "import json, os, sys\njson.dumps = lambda *a, **k: '{\"value\": true}'\ndef f(x): return True\ndef area(r): return True",
        "def f(x):\n    while True: pass\narea = f",
        "def f(x): raise AssertionError\narea = f",
        "def f(x): return '[1, 3]'\ndef area(r): return '12.566'",
    ],
)
def test_a_program_that_cheats_passes_nothing(program: str, sandbox: Sandbox) -> None:
    asserts = ["assert f([3, 1, 3]) == [1, 3]", "assert abs(area(2) - 12.566) < 0.01"]
    checked = check_asserts(sandbox, program, asserts, limits=Limits(seconds=1))
    assert [check.passed for check in checked.checks] == [False, False]
    assert all(check.outside and check.detail for check in checked.checks)


SPEAKS_FOR_THE_RUNNER = """
import json, os, sys
def f(x):
    frame = sys._getframe()
    while "answered" not in frame.f_locals:
        frame = frame.f_back
    channel, questions = frame.f_locals["answered"], frame.f_locals["asked"]
    size = int(os.read(questions, 8), 16)
    token = json.loads(os.read(questions, size))
    data = json.dumps({"value": VALUE, "token": token}).encode()
    os.write(channel, b"%08x" % len(data) + data)
    os._exit(0)
"""


@pytest.mark.parametrize(
    "value",
    [
        "True",
        "{'passed': True}",
        "'assert'",
        "{'tuple': 5}",
        "{'set': [[]]}",
        "{'dict': [[{}, 1]]}",
        "{'complex': 'xyz'}",
        "{'bytes': 'zz'}",
        "{'bytes': 5}",
        "{'decimal.Decimal': ['x']}",
        "{'fractions.Fraction': [1, 0]}",
        "{'builtins.bytearray': [10**12]}",
        "{'builtins.range': [1.5]}",
        "{'datetime.date': [0, 0, 0]}",
        "{'collections.deque': [{'builtins.range': [0, 10**15, 1]}]}",
        "{'fractions.Fraction': ['1e99999999']}",
        "{'builtins.range': ['a']}",
        "{'os.system': ['true']}",
        "[" * 300 + "]" * 300,
        "{'tuple': [], 'set': []}",
    ],
)
def test_a_program_that_speaks_in_the_runner_s_place_can_only_claim_values(value: str, sandbox: Sandbox) -> None:
    program = SPEAKS_FOR_THE_RUNNER.replace("VALUE", value)
    checked = check_asserts(sandbox, program, ["assert f([3, 1, 3]) == [1, 3]", "assert f([]) == []"])
    assert [check.passed for check in checked.checks] == [False, False]


def test_answers_that_cannot_be_judged_are_not_sent_back_to_the_program(sandbox: Sandbox) -> None:
    program = (
        "def f(x):\n    deep = frozenset()\n    for _ in range(99):\n        deep = frozenset([deep])\n    return deep"
    )
    checked = check_asserts(sandbox, program, ["assert f(1) == 2"])
    assert [(check.passed, check.outside) for check in checked.checks] == [(False, True)]


@pytest.mark.slow
def test_the_asserts_after_one_without_end_are_unanswered(sandbox: Sandbox) -> None:
    program = "def f(x):\n    while x: pass\n    return x"
    checked = check_asserts(
        sandbox, program, ["assert f(0) == 0", "assert f(1) == 1", "assert f(0) == 0"], limits=Limits(seconds=2)
    )
    assert [check.passed for check in checked.checks] == [True, False, False]
    assert checked.result.status == "timeout"


def test_values_without_a_literal_of_their_own(sandbox: Sandbox) -> None:
    program = "def f(x): return float(x)\ndef g(): return set(), frozenset([1]), b'\\x00', 1j, -0.0"
    asserts = [
        "assert f('inf') > 10**300",
        "assert f('nan') != f('nan')",
        "assert g() == (set(), {1}, b'\\x00', 1j, 0)",
        "assert [f('-inf')] == [-float('inf')]",
    ]
    checked = check_asserts(sandbox, program, asserts)
    assert [(check.passed, check.outside) for check in checked.checks] == [(True, True)] * 4, checked.checks


@pytest.mark.parametrize(
    "statement", ["f(1) == 1", "assert 1; assert 2", "assert", "", "import os", "assert (", "x = 1"]
)
def test_what_is_no_assert_is_an_error_of_the_task(statement: str, sandbox: Sandbox) -> None:
    with pytest.raises(ValueError, match="expected one assert statement"):
        check_asserts(sandbox, GOOD, [statement])


def test_a_setup_that_is_no_python_is_an_error_of_the_task(sandbox: Sandbox) -> None:
    with pytest.raises(ValueError, match="expected Python as the setup"):
        check_asserts(sandbox, GOOD, ["assert f([]) == []"], setup="import")


def test_a_sandbox_that_refuses_passes_nothing() -> None:
    try:
        sandbox = find_sandbox("unisolated")
    except SandboxError:
        raise AssertionError("it is always there") from None
    checked = check_asserts(sandbox, GOOD, ASSERTS, setup="import math", limits=Limits(program=10))
    assert checked.result.status == "refused" and not any(check.passed for check in checked.checks)
