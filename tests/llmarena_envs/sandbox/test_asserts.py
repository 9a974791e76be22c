"""Asserts of tasks: right and wrong programs, and programs that cheat."""

import pytest

from llmarena_envs.sandbox import Limits, Sandbox, SandboxError, check_asserts, find_sandbox, inseparable

GOOD = "def f(x):\n    return sorted(set(x))\n"
AREA = "def area(r):\n    return 3.14159 * r * r\n"
ASSERTS = [
    "assert f([3, 1, 3]) == [1, 3]",
    "assert [1] == f([1])",
    "assert f([]) == [], 'empty'",
    "assert not f([])",
    "assert len(f([2, 2])) == 1",
    "assert f('ab')[0] in {'a', 'c'}",
]
AREA_ASSERTS = [
    "assert abs(area(2) - 12.566) < 0.01",
    "assert math.isclose(area(1), math.pi, rel_tol=1e-3)",
    "assert area(0) == 0 and area(r=1) > 3",
]


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    return find_sandbox()


def test_right_program_passes_and_is_judged_outside(sandbox: Sandbox) -> None:
    for program, entry_point, asserts in ((GOOD, "f", ASSERTS), (AREA, "area", AREA_ASSERTS)):
        checked = check_asserts(sandbox, program, asserts, entry_point)
        assert [(c.passed, c.outside) for c in checked.checks] == [(True, True)] * len(asserts), checked.checks
        assert checked.passed and checked.result.status == "ok"


def test_wrong_program_fails_where_it_is_wrong(sandbox: Sandbox) -> None:
    checked = check_asserts(sandbox, GOOD.replace("sorted(set(x))", "sorted(x)"), ASSERTS, "f")
    assert [check.passed for check in checked.checks] == [False, True, True, True, False, True]
    assert checked.checks[0].detail == "it does not hold" and checked.checks[0].outside
    assert not checked.passed


def test_answers_of_the_standard_library_are_data(sandbox: Sandbox) -> None:
    program = """
from collections import deque
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
def f(kind, x):
    if kind == "day":
        return x + timedelta(1) if datetime.min else None
    return {"q": deque([x]), "d": [Decimal(x), Fraction(x, 2)]} if kind == "many" else (range(x), bytearray(b"a"))
"""
    setup = "from collections import deque\nfrom datetime import date, datetime\nfrom fractions import Fraction as F"
    asserts = [
        "assert f('many', 1) == {'q': deque([1]), 'd': [1, F(1, 2)]}",
        "assert f('day', date(2024, 2, 28)) == date(2024, 2, 29)",
        "assert f('range', 2) == (range(2), b'a')",
        "assert isinstance(f('day', date(2024, 2, 28)), datetime)",
    ]
    checked = check_asserts(sandbox, program, asserts, "f", setup)
    got = [(check.passed, check.outside) for check in checked.checks]
    assert got == [(True, True), (True, True), (True, True), (False, True)], checked.checks


@pytest.mark.slow_except(1)
@pytest.mark.parametrize(
    "program",
    [
        "def f(n): yield from range(n)",
        "def f(n): return map(int, range(n))",
        "class f(list):\n    def __init__(self, n): self.n = n\n    __slots__ = 'n'\n    __iter__ = lambda self: iter((0, 1, 2))",
        "class f:\n    def __init__(self, n): self.n = n\n    def __iter__(self): return iter(range(self.n))",
    ],
)
def test_iterators_and_own_objects_fail(program: str, sandbox: Sandbox) -> None:
    asserts = [
        "assert list(f(3)) == [0, 1, 2]",
        "assert sum(f(3)) == 3",
        "assert next(f(3)) == 0",
        "assert f(3).n == 3",
    ]
    checked = check_asserts(sandbox, program, asserts, "f")
    assert [(check.passed, check.outside) for check in checked.checks] == [(False, True)] * len(asserts)


CALLS = """
def f(*args, **kwargs):
    return [args, kwargs]
"""


@pytest.mark.slow_except(1)
@pytest.mark.parametrize(
    ("call", "args", "kwargs"),
    [
        ("f(1, [2], key='x')", "(1, [2])", "{'key': 'x'}"),
        ("f(*ONE, 3, **NAMED)", "(1, 2, 3)", "{'key': inf}"),
        ("f(Decimal('0.1'), key=date(2024, 1, 2))", "(Decimal('0.1'),)", "{'key': date(2024, 1, 2)}"),
        ("f([float('inf'), double(2), {1, 2}, set(), b'a', 1j])", "([inf, 4, {1, 2}, set(), b'a', 1j],)", "{}"),
        ("f([x * x for x in ONE if x > 1], x='y')", "([4],)", "{'x': 'y'}"),
        ("f(sorted([3, 1], key=lambda x: -x))", "([3, 1],)", "{}"),
        ("[f(x, y) for x in ONE for y in range(x) if y][0]", "(2, 1)", "{}"),
        ("(lambda a, b: (f(a, [b]), a))([1], 2)[0]", "([1], [2])", "{}"),
    ],
)
def test_arguments_arrive_unchanged(call: str, args: str, kwargs: str, sandbox: Sandbox) -> None:
    setup = "from math import inf\nONE, NAMED = (1, 2), {'key': inf}\ndef double(x): return 2 * x"
    checked = check_asserts(sandbox, CALLS, [f"assert {call} == [{args}, {kwargs}]"], "f", setup)
    assert checked.passed, checked.checks


def test_setup_and_expected_values_stay_out_of_the_program(sandbox: Sandbox) -> None:
    """The program answers whether its process holds the word."""
    program = """
import gc, sys
def f(x):
    frames, frame = [], sys._getframe()
    while frame := frame.f_back:
        frames += [*frame.f_locals.items(), *frame.f_globals.items()]
    held = [x for x in gc.get_objects() if isinstance(x, (tuple, list, dict))]
    return "secret" + "word" in repr((frames, held))
"""
    setup = "SECRET = 'secretword'\nROWS = [(1, 'secretword')]\ndef secretword(x): return x == 'secretword'"
    asserts = [
        "assert f(len(SECRET)) == 'secretword' or not f(1)",
        "assert all(f(x) == (y == 'other') for x, y in ROWS)",
        "assert not secretword(f(1)) and 'secretword' and not f(2)",
        "assert f(secretword(1)) is False",
    ]
    checked = check_asserts(sandbox, program, asserts, "f", setup)
    assert checked.passed, checked.checks
    assert check_asserts(sandbox, program, ["assert f(SECRET)"], "f", setup).passed


INSEPARABLE = """
f(f(2)) == 1
f(len(f([1]))) == 1
f == f
callable(f)
f.cache == {}
f.g(1) == 2
[g(1) for g in [f]] == [1]
(lambda g: g(1))(f) == 1
(lambda f: f(1))(abs) == 1
[f for f in [1]] == f([1])
candidate([2, 1]) == [1, 2]
f([1]) == wanted
f([1]) == GROWN
f([1]) == counted
close(2)
g(f(2), 12.566)
Box(3).x == f(3)
f(Box(1)) == 5
f([1]) == missing
(y := 2) and f(y) == 1
f(y := 2) == y
(SECRET := 2) and f(SECRET) == 1
sorted([2, 1], key=lambda x: f([x])) == [1, 2]
(lambda x: f(x) == [1])([1])
(lambda x: f(x) is x)([1]) is False
(lambda x: abs(f(x) - 12.566))(2) < 0.01
(lambda x: (f(x), SECRET))(2) == 1
(lambda x: f(f(x)))(2) == 1
(lambda x: f(x))(f(2)) == 1
[[f([x, y]) for x in (1, 2)] for y in (1, 2)]
[x for y in (1, 2) for x in f([y])]
[x for x in (1, 2) if f([x])]
[f(x) for x in f([1])]
[x for y in (1, 2) for x in [f(z) for z in (1, 2)]]
eval(f('1')[0]) == 1
getattr(f(1), f(2)) == 1
pickle.loads(f([1])) == 1
loads(f([1])) == 1
builtins.eval(f('1')) == 1
__import__(f('os'))
os.path.join(f(['a'])[0], 'b') == 'a/b'
run(f(1))
math.isclose(1, 1)
math.sqrt(4) == 2
[].sort(key=f)
1 + 1 == 2
""".strip().splitlines()
DEPENDENT_SETUP = """
import math, re
import pickle
from pickle import loads
from subprocess import run
candidate = f
wanted = f([1])
SECRET = 5
GROWN = []
GROWN.append(f(1))
counted = 0
for i in range(2):
    counted += len(GROWN)
def close(x):
    return abs(f(x) - 12.566) < 0.01
def g(x, y):
    return close(x) and y
class Box(Missing):
    pass
"""


def test_assert_beyond_the_rule_does_not_pass(sandbox: Sandbox) -> None:
    asserts = [f"assert {test}" for test in INSEPARABLE]
    assert inseparable(asserts, "f", DEPENDENT_SETUP) == asserts
    checked = check_asserts(sandbox, "def f(*x): return 1", asserts, "f", DEPENDENT_SETUP)
    assert [(c.statement, c.passed, c.outside) for c in checked.checks] == [(a, False, False) for a in asserts]


def test_arguments_that_are_no_plain_data_do_not_pass(sandbox: Sandbox) -> None:
    setup = "import time\nROWS = list(range(1001))\ndef g(x): return x\nclass Node: pass"
    asserts = [
        "assert f(g) == 1",
        "assert f(Node()) == 1",
        "assert f(lambda x: g(x)) == 1",
        "assert f(g(1 / 0)) == 1",
        "assert all(f(x) == 1 for x in ROWS)",
        "assert f(ROWS[1]) == 1",
        "assert f(lambda x: x + 1) == 1",
    ]
    for program in ("def f(x): return 1", "def f(x): raise SystemExit"):
        checks = check_asserts(sandbox, program, asserts, "f", setup).checks
        assert [check.outside for check in checks] == [False] * 5 + [True] * 2
        assert [check.passed for check in checks] == [False] * 5 + ["return" in program] * 2


SHAPES = """
math.isclose(f(10), 62.83)
abs(f(2) - 1.5) < 1e-6
f(5) is True
f(5) is not False
f(6) is None
not f(7)
f(8)
f(8) and f(9)
f(7) or f(8)
f(1) == 11
f(1) != 12
11 == f(1) < 12
10 < f(1) <= 11
f(11) > f(12)
f(1) == f(13)
f(1) in (10, 11)
9 not in f(3)
len(f(3)) == 3
len(f(3)) > 2
set(f(3)) == {1, 2, 3}
sorted(f(3), reverse=True)[0] == 3
max(f(3)) == 3
sum(f(3)) == 6
any(x > 2 for x in f(3))
all(f(x) for x in (8, 9))
all(f(x) == y for x, y in [(1, 11), (10, 62.83)])
[f(x) for x in INPUTS] == EXPECTED
all([f(1) == 11, f(8)])
isinstance(f(2), float)
type(f(1)) is int
callable(f(3).append)
f(4).startswith('a')
re.fullmatch('[a-c]+', f(4))
f"{f(10):.2f}" == '62.83'
'%d' % f(1) == '11'
f(4)[0] == 'a'
{**f(15)} == {'a': (1, 2)}
f(15) == {'a': (1, 2)}
(y := f(1)) > 10 and y < 12
(lambda x: x * 2)(f(1)) == 22
(lambda x: (f(x), x))(16) == ([16], 16)
f(1) == reference(None, 1)
Counter(f(4)) == Counter('abc')
f(17) == Decimal('0.1')
statistics.mean(f(3)) == 2
operator.eq(f(1), 11)
""".strip().splitlines()
SETUP = """
import math, re
INPUTS, EXPECTED = [1, 10], [11, 62.83]
def reference(g, x):
    return 11
"""
HONEST = """
import math
from decimal import Decimal
ANSWERS = {1: 11, 2: 1.5, 3: [1, 2, 3], 4: "abc", 5: True, 6: None, 7: [], 8: 1, 9: "x", 10: 62.83, 11: 2, 12: 1, 13: 11}
ANSWERS |= {15: {"a": (1, 2)}, 16: [16], 17: Decimal("0.1")}
def f(x):
    return ANSWERS[x]
"""
ALMIGHTY = """
import builtins, operator
class Almighty:
    def __getattr__(self, name): return self
    def __call__(self, *a, **k): return self
    __init__ = lambda self, *a, **k: None
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __contains__ = lambda *a: True
    __add__ = __sub__ = __mul__ = __abs__ = __getitem__ = __neg__ = __mod__ = __radd__ = __rsub__ = lambda self, *a: self
    __hash__ = lambda self: 0
    __index__ = __int__ = lambda self: 1
    __float__ = lambda self: 1.0
    __format__ = __str__ = __repr__ = lambda self, *a: "True"
    __class__ = property(lambda self: bool)
"""
FORGERS = {
    "almighty object": ALMIGHTY + "def f(x): return Almighty()",
    "almighty with a length": ALMIGHTY + "Almighty.__len__ = lambda self: 3\nf = Almighty()",
    "almighty in every module": ALMIGHTY
    + """
import collections, decimal, math, re, statistics, sys
for module in (math, re, operator, statistics, collections, decimal, builtins):
    for name in list(vars(module)):
        if not name.startswith("__") and name not in ("BaseException", "EOFError", "getattr", "type", "int", "str", "bytes"):
            setattr(module, name, Almighty())
f = Almighty()
""",
    "modules patched": """
import builtins, collections, decimal, math, operator, re, statistics
yes = lambda *a, **k: True
math.isclose = re.fullmatch = operator.eq = statistics.mean = collections.Counter = decimal.Decimal = yes
Counter = Decimal = isclose = reference = callable = yes
for name in ("abs", "all", "any", "bool", "callable", "isinstance", "len", "max", "sorted", "sum", "next"):
    setattr(builtins, name, yes)
def f(x): return object()
""",
    "leaves as if all were well": "import os\ndef f(x): os._exit(0)",
    "exits": "import sys\ndef f(x): sys.exit(0)",
    "raises": "class Success(BaseException): pass\ndef f(x): raise Success",
    "unreadable beside the answer": """
class Row(list): pass
def f(x): return [Row(), object()]
""",
    "names of the setup": """
def f(x):
    import sys
    space = sys.modules["solution"].__dict__
    return space["reference"](None, x) if x == 1 else space["EXPECTED"]
""",
    "looks for what is expected": """
import gc, sys
def f(x):
    frame = sys._getframe()
    while frame := frame.f_back:
        names = {**frame.f_locals, **frame.f_globals}
        if "y" in names or "EXPECTED" in names or "reference" in names:
            return names.get("y", 11)
        if any("62.83" in value or "(1, 11)" in value for value in names.values() if isinstance(value, str)):
            return 62.83
    raise LookupError
""",
}


@pytest.fixture(scope="module")
def statements() -> list[str]:
    return [f"assert {shape}" for shape in SHAPES]


def test_honest_program_passes_every_shape(statements: list[str], sandbox: Sandbox) -> None:
    checked = check_asserts(sandbox, HONEST, statements, "f", SETUP)
    assert [check for check in checked.checks if not check.passed or not check.outside] == []


@pytest.mark.slow_except(1)
@pytest.mark.parametrize("name", FORGERS)
def test_forging_program_passes_no_shape(name: str, statements: list[str], sandbox: Sandbox) -> None:
    checked = check_asserts(sandbox, FORGERS[name], statements, "f", SETUP, Limits(seconds=1))
    assert [(check.passed, check.outside) for check in checked.checks] == [(False, True)] * len(statements)


@pytest.mark.slow
def test_a_wrong_program_fails_every_shape(statements: list[str], sandbox: Sandbox) -> None:
    """One answer cannot be wrong for every shape, e.g. for a truth and for its negation."""
    failing = set()
    for answer in ("-1", "[]", "[7]", "None", "True", "False", "'z'", "float('nan')", "12", "x"):
        checked = check_asserts(sandbox, f"def f(x): return {answer}", statements, "f", SETUP)
        failing |= {check.statement for check in checked.checks if not check.passed}
    assert failing == set(statements)


@pytest.mark.slow_except(1)
@pytest.mark.parametrize(
    ("program", "value"),
    [
        ("return True", "True"),
        ("return 1", "1"),
        ("return (1, [2, (3,)])", "(1, [2, (3,)])"),
        ("return [1, [2, [3]]]", "[1, [2, [3]]]"),
        ("return {1: {2}, 'a': frozenset([3])}", "{1: {2}, 'a': frozenset([3])}"),
        ("return b'a', bytearray(b'b')", "(b'a', bytearray(b'b'))"),
        ("return None", "None"),
        ("return [float('inf'), 1j, -0.0]", "[float('inf'), 1j, -0.0]"),
    ],
)
def test_answers_keep_their_types(program: str, value: str, sandbox: Sandbox) -> None:
    setup = "def typed(x): return (type(x), [typed(y) for y in x] if isinstance(x, (list, tuple)) else repr(x))"
    checked = check_asserts(sandbox, f"def f(): {program}", [f"assert typed(f()) == typed({value})"], "f", setup)
    assert checked.passed, checked.checks


EVERYTHING = """
class Everything(int):
    def __eq__(self, other): return True
    def __sub__(self, other): return 0
    __ne__ = __lt__ = __gt__ = lambda self, other: True
    __hash__ = int.__hash__
"""


@pytest.mark.slow_except(1)
@pytest.mark.parametrize(
    "program",
    [
        EVERYTHING + "def f(x): return Everything(500)",
        EVERYTHING.replace("(int)", "") + "    __abs__ = lambda self: self\ndef f(x): return Everything()",
        "raise SystemExit(0)",
        "import builtins\nbuiltins.abs = lambda x: 0\nbuiltins.bool = lambda x: True\ndef f(x): return 77",
        "import json\njson.dumps = lambda *a, **k: '{\"value\": true}'\ndef f(x): return True",
        "def f(x):\n    while True: pass",
        "def f(x): raise AssertionError",
        "def f(x): return '[1, 3]'",
        "def f(x): return '12.566'",
    ],
)
def test_cheating_program_passes_no_test(program: str, sandbox: Sandbox) -> None:
    asserts = ["assert f([3, 1, 3]) == [1, 3]", "assert abs(f(2) - 12.566) < 0.01"]
    checked = check_asserts(sandbox, program, asserts, "f", limits=Limits(seconds=1))
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


@pytest.mark.slow_except(2)
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
def test_program_imitating_the_runner_can_only_claim_values(value: str, sandbox: Sandbox) -> None:
    program = SPEAKS_FOR_THE_RUNNER.replace("VALUE", value)
    checked = check_asserts(sandbox, program, ["assert f([3, 1, 3]) == [1, 3]", "assert f([]) == []"], "f")
    assert [check.passed for check in checked.checks] == [False, False]


def test_unjudgeable_answers_are_not_sent_back_to_the_program(sandbox: Sandbox) -> None:
    program = (
        "def f(x):\n    deep = frozenset()\n    for _ in range(99):\n        deep = frozenset([deep])\n    return deep"
    )
    checked = check_asserts(sandbox, program, ["assert f(1) == 2"], "f")
    assert [(check.passed, check.outside) for check in checked.checks] == [(False, True)]


@pytest.mark.slow
def test_the_asserts_after_one_without_end_are_unanswered(sandbox: Sandbox) -> None:
    program = "def f(x):\n    while x: pass\n    return x"
    asserts = ["assert f(0) == 0", "assert f(1) == 1", "assert f(0) == 0"]
    checked = check_asserts(sandbox, program, asserts, "f", limits=Limits(seconds=2))
    assert [check.passed for check in checked.checks] == [True, False, False]
    assert checked.result.status == "timeout"


def test_values_without_a_literal_of_their_own(sandbox: Sandbox) -> None:
    program = "def f(x): return float(x) if x else (set(), frozenset([1]), b'\\x00', 1j, -0.0)"
    asserts = [
        "assert f('inf') > 10**300",
        "assert f('nan') != f('nan')",
        "assert f(0) == (set(), {1}, b'\\x00', 1j, 0)",
        "assert [f('-inf')] == [-float('inf')]",
    ]
    checked = check_asserts(sandbox, program, asserts, "f")
    assert [(check.passed, check.outside) for check in checked.checks] == [(True, True)] * 4, checked.checks


@pytest.mark.parametrize(
    "statement", ["f(1) == 1", "assert 1; assert 2", "assert", "", "import os", "assert (", "x = 1"]
)
def test_non_assert_is_a_task_error(statement: str, sandbox: Sandbox) -> None:
    with pytest.raises(ValueError, match="expected one assert statement"):
        check_asserts(sandbox, GOOD, [statement], "f")


def test_a_setup_that_is_no_python_is_an_error_of_the_task(sandbox: Sandbox) -> None:
    with pytest.raises(ValueError, match="expected Python as the setup"):
        check_asserts(sandbox, GOOD, ["assert f([]) == []"], "f", setup="import")


def test_refusing_sandbox_passes_no_test() -> None:
    try:
        sandbox = find_sandbox("unisolated")
    except SandboxError:
        raise AssertionError("it is always there") from None
    checked = check_asserts(sandbox, GOOD, ASSERTS, "f", limits=Limits(program=10))
    assert checked.result.status == "refused" and not any(check.passed for check in checked.checks)
