import copy
import pickle
from pathlib import Path

import pytest

from llmarena_envs import writer_editor_v0
from llmarena_envs.core.options import OptionError
from llmarena_envs.sandbox import SandboxError, inseparable
from llmarena_envs.writer_editor import pass_rate
from llmarena_envs.writer_editor.pass_rate import SandboxedPassRate, find_pass_rate
from llmarena_envs.writer_editor.task_types import Problem
from llmarena_envs.writer_editor.tasks import load_problems, shipped_problems

HERE = Path(__file__).parent
TESTS = ("assert add(1, 2) == 3", "assert add(0, 0) == 0", "assert add(-1, 1) == 0", "assert isclose(add(0.5, 0.5), 1)")
PROBLEM = Problem("add", "Add.", "add", "def add(a, b):\n    return a + b", TESTS, "from math import isclose")


@pytest.mark.slow_except(3)
@pytest.mark.parametrize(
    ("program", "share"),
    [
        (PROBLEM.code, 1),
        ("def add(a, b):\n    return a * b", 0.25),
        ("def add(a, b):\n    return abs(a) + b", 0.75),
        ("def add(a, b):\n    raise ValueError", 0),
        ("def add(a, b):", 0),
        ("", 0),
        ("import os\nos._exit(0)", 0),
        ("class Everything:\n    def __eq__(self, other): return True\n\ndef add(a, b): return Everything()", 0),
        ("def add(a, b):\n    return open('/etc/passwd').read() and a + b", 0),
    ],
)
def test_the_share_of_the_tests_that_a_program_passes(program, share):
    assert find_pass_rate()(program, PROBLEM) == share


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mbpp.jsonl", "human_eval.jsonl"])
def test_problems_in_the_layouts_of_others_are_tested(name):
    for problem in load_problems(HERE / name):
        assert SandboxedPassRate()(problem.code, problem) == 1
        assert SandboxedPassRate()(f"def {problem.entry_point}(*values):\n    return 'wrong'", problem) == 0


FORGERS = {
    "equals everything": """
class Everything:
    __eq__ = __contains__ = __bool__ = lambda *a: True
    __getitem__ = __getattr__ = __call__ = __abs__ = __sub__ = lambda self, *a, **k: self
    __len__ = __index__ = lambda self: 1
    __hash__ = lambda self: 0
def NAME(*a, **k): return Everything()
""",
    "replaces the library": """
import builtins, math, operator
math.isclose = operator.eq = lambda *a, **k: True
for name in ("abs", "all", "any", "sorted", "sum"):
    setattr(builtins, name, lambda *a, **k: True)
def NAME(*a, **k): return object()
""",
    "leaves": "import os\ndef NAME(*a, **k): os._exit(0)",
    "raises": "def NAME(*a, **k): raise SystemExit(0)",
    "looks around": """
import gc, sys
def NAME(*a, **k):
    frame = sys._getframe()
    while frame := frame.f_back:
        for value in [*frame.f_locals.values(), *frame.f_globals.values()]:
            if isinstance(value, str) and "assert" in value and "NAME(" in value:
                return eval(value.partition(" == ")[2])
    return next(eval(x.partition(" == ")[2]) for x in gc.get_objects() if isinstance(x, str) and x.startswith("assert NAME"))
""",
    "reads the solutions": """
import json, os, site
def NAME(*a, **k):
    for folder in [*site.getsitepackages(), FOLDER]:
        path = folder + "/llmarena_envs/writer_editor/data/problems.jsonl"
        if os.path.exists(path):
            space = {}
            exec(next(json.loads(line)["code"] for line in open(path) if '"entry_point": "NAME"' in line), space)
            return space["NAME"](*a, **k)
""",
}


def test_every_test_of_the_packaged_problems_is_judged_outside():
    problems = shipped_problems()
    assert [inseparable(p.test_list, p.entry_point, p.test_setup_code) for p in problems] == [[]] * len(problems)
    assert "tests:" not in writer_editor_v0.raw_env().sources()[1].version


@pytest.mark.parametrize("problem", shipped_problems(), ids=lambda problem: problem.task_id)
def test_packaged_solutions_pass_all_their_tests(problem):
    exec("\n".join((problem.test_setup_code, problem.code, *problem.test_list)), {})


@pytest.mark.slow
def test_packaged_solutions_pass_in_the_sandbox():
    assert {SandboxedPassRate()(problem.code, problem) for problem in shipped_problems()[::8]} == {1}


@pytest.mark.slow
@pytest.mark.parametrize("name", FORGERS)
@pytest.mark.parametrize("entry_point", ["swapped_ends", "joined_stock", "zigzag", "heating_times", "cost_of_sold"])
def test_forging_programs_pass_no_test_of_packaged_problems(name, entry_point):
    (problem,) = [problem for problem in shipped_problems() if problem.entry_point == entry_point]
    program = FORGERS[name].replace("NAME", entry_point).replace("FOLDER", repr(str(HERE.parents[2])))
    assert SandboxedPassRate()(program, problem) == 0


def test_tests_inside_the_program_are_counted_but_not_scored():
    tests = ["assert add(1, 2) == 3", "assert sorted([2, 1], key=lambda x: add(x, 0)) == [1, 2]"]
    record = {"text": "Add.", "code": PROBLEM.code, "test_list": tests}
    env = writer_editor_v0.raw_env(tasks=[record])
    assert "tests: 1 cannot be judged apart from the program" in env.sources()[1].version
    assert SandboxedPassRate()(PROBLEM.code, PROBLEM._replace(test_list=tuple(tests))) == 0.5


@pytest.mark.slow
def test_match_reports_pass_rates_of_first_and_last_program():
    record = {"text": "Add.", "code": PROBLEM.code, "test_list": TESTS, "test_setup_code": PROBLEM.test_setup_code}
    env = pickle.loads(pickle.dumps(copy.deepcopy(writer_editor_v0.raw_env(tasks=[record]))))
    env.reset(seed=0)
    for reply in ("def add(a, b): return 0", "No.", "def add(a, b): return a * b", "over", "abstain"):
        env.step(env.parse(reply, env.agent_selection))
    assert (env.infos["judge_0"]["pass_first"], env.infos["judge_0"]["pass_last"]) == (0.5, 0.25)


def test_without_isolation_only_a_named_backend_tests(monkeypatch):
    def nothing(name):
        raise SandboxError(f"no {name} here")

    monkeypatch.setattr(pass_rate, "find_sandbox", nothing)
    pass_rate._why_missing.cache_clear()
    try:
        assert find_pass_rate() is None
        with pytest.raises(OptionError, match="sandbox: no bubblewrap here"):
            writer_editor_v0.env(sandbox="bubblewrap")
        env = writer_editor_v0.raw_env()
        env.reset(seed=0)
        for reply in ("def f(): pass", "over", "abstain"):
            env.step(reply)
        assert env.infos["writer_0"]["pass_last"] == -1
    finally:
        pass_rate._why_missing.cache_clear()
