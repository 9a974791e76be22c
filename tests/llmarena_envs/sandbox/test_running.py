"""Ordinary programs give right results, and every outcome of a run is reported."""

import math
from collections.abc import Mapping

import pytest

from llmarena_envs.sandbox import BACKENDS as NAMES
from llmarena_envs.sandbox import Limits, Sandbox, SandboxError, Value, call, find_sandbox
from tests.llmarena_envs.sandbox.machine import BACKENDS

ORDINARY = {
    "generators": (
        "def f(n):\n    a, b = 0, 1\n    for _ in range(n):\n        yield a\n        a, b = b, a + b",
        "list(f(8))",
        [0, 1, 1, 2, 3, 5, 8, 13],
    ),
    "inheritance": (
        "class A:\n    def f(self): return 'a'\nclass B(A):\n    def f(self): return super().f() + 'b'",
        "B().f()",
        "ab",
    ),
    "heapq": (
        "import heapq\ndef f(x):\n    heapq.heapify(x)\n    return [heapq.heappop(x) for _ in range(3)]",
        "f([5, 1, 4, 2])",
        [1, 2, 4],
    ),
    "dataclasses": (
        "from __future__ import annotations\nfrom dataclasses import dataclass, field, asdict\n@dataclass(order=True)\n"
        "class P:\n    x: int\n    y: list[int] = field(default_factory=list)",
        "asdict(max(P(1), P(3, [2])))",
        {"x": 3, "y": [2]},
    ),
    "recursion": (
        "from functools import lru_cache\n@lru_cache(None)\ndef f(n): return n if n < 2 else f(n - 1) + f(n - 2)",
        "f(90)",
        2880067194370816120,
    ),
    "recursion without a cache": ("def f(n): return 0 if n == 0 else 1 + f(n - 1)", "f(900)", 900),
    "typing": (
        "from typing import Generic, NamedTuple, Optional, TypeVar, get_type_hints\nT = TypeVar('T')\n"
        "class S(Generic[T]):\n    def __init__(self) -> None: self.s: list[T] = []\n    def top(self) -> Optional[T]: ...\n"
        "class N(NamedTuple):\n    a: int\n    b: str = 'b'",
        "(N(1), sorted(get_type_hints(S.top)))",
        ((1, "b"), ["return"]),
    ),
    "regular expressions": (
        "import re\ndef f(t): return re.findall(r'(\\w+)@(\\w+)', t)",
        "f('a@b, c@d')",
        [("a", "b"), ("c", "d")],
    ),
    "itertools": (
        "from itertools import accumulate, groupby, permutations",
        "[*permutations('ab'), *accumulate([1, 2, 3])]",
        [("a", "b"), ("b", "a"), 1, 3, 6],
    ),
    "math": (
        "import math, statistics, fractions\ndef f(): return math.inf, -0.0, math.comb(5, 2), statistics.mean([1, 2])",
        "f()",
        (math.inf, -0.0, 10, 1.5),
    ),
    "collections": (
        "from collections import Counter, OrderedDict, defaultdict, deque\ndef f(t):\n    d = defaultdict(list)\n"
        "    for c in t: d[c].append(1)\n    return Counter(t), d, list(deque(t, 2))",
        "f('aab')",
        ({"a": 2, "b": 1}, {"a": [1, 1], "b": [1]}, ["a", "b"]),
    ),
    "json": (
        "import json\ndef f(x): return json.loads(json.dumps(x))",
        "f({'a': [1, None, 2.5, 'ü']})",
        {"a": [1, None, 2.5, "ü"]},
    ),
    "datetime": (
        "from datetime import date, timedelta\nfrom zoneinfo import ZoneInfo\ndef f():\n"
        "    return (date(2024, 2, 28) + timedelta(2)).isoformat()",
        "f()",
        "2024-03-01",
    ),
    "comprehensions": ("sq = {n: {n * n} for n in range(3)}", "sq", {0: {0}, 1: {1}, 2: {4}}),
    "decorators and closures": (
        "def twice(g):\n    def h(*a, **k): return g(*a, **k), g(*a, **k)\n    return h\n@twice\n"
        "def f(x, *, y=1): return x + y",
        "f(1, y=2)",
        (3, 3),
    ),
    "context managers": (
        "from contextlib import contextmanager\nlog = []\n@contextmanager\ndef c():\n    log.append('in')\n"
        "    yield 1\n    log.append('out')\nwith c() as v: log.append(v)",
        "log",
        ["in", 1, "out"],
    ),
    "pattern matching": (
        "def f(x):\n    match x:\n        case [a, *b]: return a, b\n        case {'k': v}: return v\n"
        "        case _: return None",
        "(f([1, 2]), f({'k': 3}), f(0))",
        ((1, [2]), 3, None),
    ),
    "enums, protocols and slots": (
        "from enum import Enum, auto\nfrom abc import ABC, abstractmethod\nclass C(Enum):\n    R = auto()\n"
        "class S(ABC):\n    __slots__ = ('a',)\n    @abstractmethod\n    def g(self): ...\n"
        "class Q(S):\n    def g(self): return C.R.name",
        "Q().g()",
        "R",
    ),
    "strings and bytes": (
        "import string, textwrap, base64\ndef f(s): return f'{s!r:>6}|{base64.b64encode(s.encode())}'",
        "f('né')",
        "  'né'|b'bsOp'",
    ),
    "threads": (
        "from concurrent.futures import ThreadPoolExecutor\ndef f():\n    with ThreadPoolExecutor(3) as p:\n"
        "        return list(p.map(lambda x: x * x, range(4)))",
        "f()",
        [0, 1, 4, 9],
    ),
    "asyncio": (
        "import asyncio\nasync def g(x):\n    await asyncio.sleep(0)\n    return x\ndef f(): return asyncio.run(g(3))",
        "f()",
        3,
    ),
    "decimals and complex numbers": (
        "from decimal import Decimal\ndef f(): return str(Decimal('0.1') * 3), (1 + 2j) ** 2",
        "f()",
        ("0.3", -3 + 4j),
    ),
    "exceptions": (
        "def f():\n    try:\n        {}['x']\n    except KeyError as e:\n        return repr(e)\n    finally:\n        pass",
        "f()",
        "KeyError('x')",
    ),
    "a main block": (
        "def f(): return __name__\nif __name__ == '__main__':\n    raise SystemExit(input())",
        "f()",
        "solution",
    ),
    "tree of nodes": (
        "class Node:\n    def __init__(self, v, l=None, r=None): self.v, self.l, self.r = v, l, r\n"
        "def f(n): return [] if n is None else f(n.l) + [n.v] + f(n.r)",
        "f(Node(2, Node(1), Node(3)))",
        [1, 2, 3],
    ),
}


@pytest.mark.slow_except(4)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_programs(name: str, backend: str, sandboxes: Mapping[str, Sandbox]) -> None:
    program, expression, wanted = ORDINARY[name]
    result = sandboxes[backend].run(program, [expression])
    assert (result.status, result.detail, result.output) == ("ok", "", "")
    assert result.values == (Value("returned", wanted),)
    assert type(result.values[0].value) is type(wanted)


@pytest.fixture(scope="module", params=BACKENDS)
def sandbox(request: pytest.FixtureRequest, sandboxes: Mapping[str, Sandbox]) -> Sandbox:
    return sandboxes[request.param]


def test_output_is_returned_in_order(sandbox: Sandbox) -> None:
    program = (
        "import sys, os\nprint('a', flush=True)\nprint('ü', file=sys.stderr)\nos.write(1, b'\\xff')\nprint('c', end='')"
    )
    result = sandbox.run(program)
    assert (result.status, result.output, result.cut) == ("ok", "a\nü\n\\xffc", False)
    assert result.backend == sandbox.name and {"files", "network", "processes", "memory"} <= set(result.in_force)


def test_exception_shows_its_line_without_the_runner(sandbox: Sandbox) -> None:
    result = sandbox.run("def f():\n    return 1 / 0\nf()\n")
    assert (result.status, result.detail) == ("error", "ZeroDivisionError: division by zero")
    assert "line 2, in f\n    return 1 / 0" in result.output and "runner" not in result.output
    broken = sandbox.run("def f(:\n")
    assert broken.status == "error" and broken.detail.startswith("SyntaxError")


@pytest.mark.slow_except(2)
@pytest.mark.parametrize(("left", "status"), [("0", "ok"), ("None", "ok"), ("3", "error"), ("'why'", "error")])
def test_leaving_by_exit(left: str, status: str, sandbox: Sandbox) -> None:
    assert sandbox.run(f"import sys\nsys.exit({left})").status == status


def test_too_much_output_is_cut(sandbox: Sandbox) -> None:
    result = sandbox.run("print('x' * 1000)", limits=Limits(output=100))
    assert (result.status, result.cut, result.output) == ("output", True, "x" * 100)
    exactly = sandbox.run("print('x' * 99)", limits=Limits(output=100))
    assert (exactly.status, exactly.cut) == ("ok", False)


def test_calls_run_in_order_and_continue_after_an_exception(sandbox: Sandbox) -> None:
    program = "seen = []\ndef f(x):\n    seen.append(x)\n    return 10 // x"
    result = sandbox.run(program, [call("f", 2), call("f", 0), "g(1)", "1 +", "seen"])
    assert result.status == "ok"
    assert [value.answer for value in result.values] == ["returned", "raised", "raised", "raised", "returned"]
    assert result.values[1].detail.startswith("ZeroDivisionError")
    assert (result.values[0].value, result.values[4].value) == (5, [2, 0])


@pytest.mark.slow
def test_a_call_without_end_leaves_the_rest_unanswered(sandbox: Sandbox) -> None:
    result = sandbox.run("def f():\n    while True: pass", ["1", "f()", "2"], Limits(seconds=2))
    assert (result.status, [value.answer for value in result.values]) == ("timeout", ["returned", "missing", "missing"])


def test_a_call_that_takes_all_memory(sandbox: Sandbox) -> None:
    result = sandbox.run("", ["len([0] * 10**9)", "1"])
    assert (result.status, [value.answer for value in result.values]) == ("memory", ["missing", "missing"])


def test_the_same_program_prints_the_same(sandbox: Sandbox) -> None:
    program = "import random\nprint({str(i) for i in range(50)}, random.random(), hash('a'))"
    assert sandbox.run(program).output == sandbox.run(program).output


STRANGE = """
import os

class Pickled:
    def __reduce__(self):
        return os.system, ("touch /tmp/pickled",)

class Everything(dict):
    def __eq__(self, other): return True
    def items(self): return [("forged", 1)]
    __hash__ = None

class Text(str):
    def __eq__(self, other): return True
    def __str__(self): return "forged"
    __hash__ = str.__hash__

class Number(int):
    def __index__(self): return 99
    __int__ = __index__

class Posing:
    @property
    def __class__(self): return int

deep = []
for _ in range(10**5):
    deep = [deep]
loop = []
loop.append(loop)
"""


@pytest.mark.slow_except(3)
@pytest.mark.parametrize(
    ("expression", "answer", "value"),
    [
        ("Pickled()", "unreadable", None),
        ("Posing()", "unreadable", None),
        ("print", "unreadable", None),
        ("(i for i in range(3))", "unreadable", None),
        ("deep", "unreadable", None),
        ("loop", "unreadable", None),
        ("'x' * 10**7", "unreadable", None),
        ("[0] * 10**6", "unreadable", None),
        ("10 ** 10**5", "unreadable", None),
        ("{i * (2**61 - 1) for i in range(100)}", "unreadable", None),
        ("dict.fromkeys(range(1000)).keys() - set(range(999))", "returned", {999}),
        ("Everything(a=1)", "returned", {"a": 1}),
        ("Text('honest')", "returned", "honest"),
        ("Number(7)", "returned", 7),
        ("[True, None, b'\\xff', float('inf')]", "returned", [True, None, b"\xff", math.inf]),
        ("{(1, 2): frozenset([3])}", "returned", {(1, 2): frozenset([3])}),
        ("{'dict': [[1, 2]], 'tuple': []}", "returned", {"dict": [[1, 2]], "tuple": []}),
        ("'\\ud800\\x00'", "returned", "\ud800\x00"),
        ("9" * 4000, "returned", int("9" * 4000)),
    ],
)
def test_values_are_plain_data(expression: str, answer: str, value: object, sandbox: Sandbox) -> None:
    result = sandbox.run(STRANGE, [expression, "1"])
    assert result.status == "ok"
    assert (result.values[0].answer, result.values[0].value) == (answer, value)
    assert type(result.values[0].value) is type(value)


def test_a_program_larger_than_its_limit_is_refused(sandbox: Sandbox) -> None:
    result = sandbox.run("#" * 100, ["1"], Limits(program=50))
    assert result.status == "refused" and "limit of 50" in result.detail
    assert result.values[0].answer == "missing"


@pytest.mark.slow_except(1)
def test_a_large_program_and_many_calls(sandbox: Sandbox) -> None:
    result = sandbox.run("x = 1\n" * 50_000, [f"x + {i}" for i in range(500)])
    assert [value.value for value in result.values] == list(range(1, 501))


def test_unpaired_surrogate_is_an_error_of_the_program(sandbox: Sandbox) -> None:
    assert sandbox.run("x = '\ud800'").status in ("ok", "error")
    assert sandbox.run("x = 1\x00").status == "error"


@pytest.mark.parametrize(
    "change", [{"seconds": 0}, {"seconds": math.nan}, {"memory": -1}, {"output": True}, {"values": "1"}]
)
def test_limits_are_checked(change: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="expected a number above 0"):
        Limits(**change)  # type: ignore[arg-type]


def test_calls_are_written_from_plain_data() -> None:
    assert call("f", 1, "a'b", [None, (2,)], {"k": {3}}) == """f(1, "a'b", [None, (2,)], {'k': {3}})"""
    assert call("box.open") == "box.open()"
    for name, arguments in (("f(x)", ()), ("", ()), ("f", (object(),)), ("f", (print,))):
        with pytest.raises(ValueError, match="expected"):
            call(name, *arguments)


def test_unknown_name_error_lists_the_names() -> None:
    with pytest.raises(SandboxError, match="sandlock, bubblewrap"):
        find_sandbox("chroot")
    assert set(NAMES) == {"sandlock", "bubblewrap", "docker", "unisolated"}
