import copy
import pickle
from pathlib import Path

import pytest

from llmarena_envs import writer_editor_v0
from llmarena_envs.core.options import OptionError
from llmarena_envs.sandbox import SandboxError
from llmarena_envs.writer_editor import pass_rate
from llmarena_envs.writer_editor.pass_rate import SandboxedPassRate, find_pass_rate
from llmarena_envs.writer_editor.task_types import Problem
from llmarena_envs.writer_editor.tasks import load_problems

HERE = Path(__file__).parent
TESTS = ("assert add(1, 2) == 3", "assert add(0, 0) == 0", "assert add(-1, 1) == 0", "assert isclose(add(0.5, 0.5), 1)")
PROBLEM = Problem("add", "Add.", "add", "def add(a, b):\n    return a + b", TESTS, "from math import isclose")


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


@pytest.mark.parametrize("name", ["mbpp.jsonl", "human_eval.jsonl"])
def test_problems_in_the_layouts_of_others_are_tested(name):
    for problem in load_problems(HERE / name):
        assert SandboxedPassRate()(problem.code, problem) == 1
        assert SandboxedPassRate()(f"def {problem.entry_point}(*values):\n    return 'wrong'", problem) == 0


@pytest.mark.slow
def test_a_match_tells_what_the_first_and_the_last_program_pass():
    record = {"text": "Add.", "code": PROBLEM.code, "test_list": TESTS, "test_setup_code": PROBLEM.test_setup_code}
    env = pickle.loads(pickle.dumps(copy.deepcopy(writer_editor_v0.raw_env(tasks=[record]))))
    env.reset(seed=0)
    for reply in ("def add(a, b): return 0", "No.", "def add(a, b): return a * b", "over", "abstain"):
        env.step(env.parse(reply, env.agent_selection))
    assert (env.infos["judge_0"]["pass_first"], env.infos["judge_0"]["pass_last"]) == (0.5, 0.25)


def test_where_nothing_isolates_nothing_is_tested_unless_a_backend_is_named(monkeypatch):
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
