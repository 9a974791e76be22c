"""Jobs: replies are recorded and asked for once, failures leave the rest untouched, damaged files are refused."""

import asyncio
import hashlib
import itertools
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from agents.errors import ProviderError
from agents.policy import Reply, ScriptedPolicy
from benchmarks.experiments import jobs
from benchmarks.experiments.jobs import Job, ask_job, check_job, read_job
from llmarena_envs.core.failures import Failure
from llmarena_envs.core.options import OptionError
from rating.cli.process import Interruptions
from rating.config.run_tables import PolicyConfig
from rating.errors import RunError
from rating.play.lock import Lock
from rating.play.session import Session
from tests.benchmarks.experiments.asked import Numbers
from tests.support.hostile_server import error, hostile_server, say

calls = []
"""Requests to the policies of this module, as policy and text."""


class Counting(ScriptedPolicy):
    """Draws even numbers, one a reply."""

    name = "counting"

    def __call__(self, request):
        calls.append((self.name, request))
        return str(2 * int(self.rng.integers(1_000_000)))


class Deadly(Counting):
    """Kills its process or interrupts it at a request."""

    def __init__(self, at=0, number=signal.SIGKILL):
        self.at, self.number = at, number

    def __call__(self, request):
        if len(calls) + 1 == self.at:
            calls.append(("deadly", request))
            os.kill(os.getpid(), self.number)
        return super().__call__(request)


class Failing:
    """Fails in the cases whose text has a word."""

    word = "8 more"
    fatal = False

    def __call__(self, observation):
        calls.append(("failing", observation["text"]))
        if self.word in observation["text"]:
            raise ProviderError("the line is dead", fatal=self.fatal)
        return "2 4 6"


class Slow:
    """Waits for the others; keeps count of those who wait."""

    waiting = most = 0

    def reset(self, agent, seed):
        self.seed = seed

    async def __call__(self, observation):
        Slow.waiting += 1
        Slow.most = max(Slow.most, Slow.waiting)
        await asyncio.sleep(self.seed % 7 / 1000)
        Slow.waiting -= 1
        return str(2 * self.seed)


class Person(Slow):
    """Asked one at a time."""

    unlimited_reasks = True


class Remembering:
    """Appends a digit to its last reply."""

    def reset(self, agent, seed):
        self.memory = []

    def recall(self, observation, reply):
        self.memory.append(reply)

    def __call__(self, observation):
        if len(self.memory) == 2 and Failing.word:
            raise ProviderError("not now")
        self.memory.append("2" if not self.memory else f"{self.memory[-1]}2")
        return self.memory[-1]


class Sized(Numbers):
    """A case whose text depends on its name."""

    def __init__(self, number, **sizes):
        super().__init__(f"case-{number}", **sizes)
        self.number = number

    def texts(self, request):
        rules, text = super().texts(request)
        return rules, f"{self.number}: {text}"


SPECS = {"counting": Counting, "deadly": Deadly, "failing": Failing, "slow": Slow, "person": Person, "rem": Remembering}


def job(*specs, cases=4, seed=3, **sizes):
    policies = [PolicyConfig(spec=spec) for spec in specs or ("counting",)]
    return Job("even", "judge_0", policies, [Sized(number, **sizes) for number in range(cases)], seed, SPECS)


def run(directory, asked, session=None):
    with Interruptions() as interruptions:
        return ask_job(directory, asked, interruptions, session or Session())


def accepted(asked):
    return {policy: [answer.accepted for answer in own] for policy, own in asked.answers.items()}


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    calls.clear()
    Slow.waiting = Slow.most = 0
    monkeypatch.setattr(Failing, "word", "8 more")
    monkeypatch.setattr(Failing, "fatal", False)


def lines(directory):
    return (directory / "even.jsonl").read_bytes().splitlines(keepends=True)


def test_replies_are_asked_for_once_and_read_again(tmp_path):
    wanted = job("counting", "slow", cases=3, count=4, batch=2, calls=3)
    asked = run(tmp_path, wanted)
    assert not asked.missing
    assert {len(each) for own in accepted(asked).values() for each in own} == {4}
    assert asked.replies == sum(answer.calls for own in asked.answers.values() for answer in own) == 2 * 3 * 4
    before, requests = lines(tmp_path), len(calls)
    assert len(before) == 1 + asked.replies
    assert hashlib.sha256(b"".join(sorted(before))).hexdigest() == asked.digest
    assert (tmp_path / "even.jsonl").stat().st_mode & 0o77 == 0
    again = run(tmp_path, wanted)
    assert (again, accepted(again)) == (asked, accepted(asked))
    assert (len(calls), lines(tmp_path)) == (requests, before)
    recorded = read_job(tmp_path, job("other", cases=3, count=4, batch=2, calls=3))  # of the policies that were asked
    assert (recorded.digest, accepted(recorded)) == (asked.digest, accepted(asked))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_job_is_resumed(tmp_path, number, monkeypatch):
    monkeypatch.setattr(jobs, "CONCURRENCY", 1)
    wanted = job("deadly", cases=5, count=2)
    whole = run(tmp_path / "whole", wanted)
    calls.clear()
    monkeypatch.setitem(SPECS, "deadly", lambda: Deadly(6, number))
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "part", wanted)
    assert 1 < len(lines(tmp_path / "part")) < len(lines(tmp_path / "whole"))
    monkeypatch.setitem(SPECS, "deadly", Deadly)
    calls.clear()
    assert run(tmp_path / "part", wanted).digest == whole.digest
    assert 0 < len(calls) < 10


KILLED = """
import sys
from pathlib import Path
from rating.cli.process import Interruptions
from tests.benchmarks.experiments import test_jobs
test_jobs.SPECS["deadly"] = lambda: test_jobs.Deadly(int(sys.argv[2]))
test_jobs.run(Path(sys.argv[1]), test_jobs.job("deadly", "slow", cases=30, count=2))
"""


@pytest.mark.slow
def test_a_killed_job_is_resumed(tmp_path):
    def start(directory, at):
        return subprocess.run([sys.executable, "-c", KILLED, directory, str(at)], cwd=Path.cwd()).returncode

    codes = [start(tmp_path / "part", at) for at in (9, 17, 11, 0)]
    assert codes == [-signal.SIGKILL, -signal.SIGKILL, -signal.SIGKILL, 0]
    assert start(tmp_path / "whole", 0) == 0
    wanted = job("deadly", "slow", cases=30, count=2)
    part, whole = read_job(tmp_path / "part", wanted), read_job(tmp_path / "whole", wanted)
    assert (part.digest, part.missing, part.replies) == (whole.digest, [], 120)


@pytest.mark.parametrize("cut", [1, 7, 90])
def test_a_line_without_an_end_is_asked_for_again(tmp_path, cut):
    asked = run(tmp_path, job())
    whole = b"".join(lines(tmp_path))
    (tmp_path / "even.jsonl").write_bytes(whole[:-cut])
    assert len(read_job(tmp_path, job()).missing) == 1
    calls.clear()
    assert run(tmp_path, job()).digest == asked.digest
    assert len(calls) == 1
    assert b"".join(lines(tmp_path)) == whole


def test_a_memory_is_restored_in_the_middle_of_a_case(tmp_path, monkeypatch):
    wanted = job("rem", cases=1, count=3)
    assert run(tmp_path, wanted).missing == [("rem", "case-0")]
    monkeypatch.setattr(Failing, "word", "")
    assert accepted(run(tmp_path, wanted)) == {"rem": [(2, 22, 222)]}


def test_a_failed_provider_leaves_the_others_to_go_on(tmp_path, caplog, monkeypatch):
    wanted = job("failing", "counting", cases=3, count=6, batch=3)
    monkeypatch.setattr(Failing, "word", "1: 3 more than [2, 4, 6]")
    asked = run(tmp_path, wanted)
    assert asked.missing == [("failing", "case-1")]
    assert asked.notes() == ["failing: case-1 is not answered and left out"]
    assert [len(own) for own in asked.answers.values()] == [2, 3]
    assert asked.replies == 2 * 2 + 1 + 3 * 6  # the first batch of the failed one stays
    assert "failing, case-1: the line is dead" in caplog.text
    monkeypatch.setattr(Failing, "word", "never")
    calls.clear()
    assert not run(tmp_path, wanted).missing
    assert [policy for policy, _ in calls] == ["failing"] * 2  # the first reply again, since it has no recall


def test_a_policy_that_fails_for_good_is_asked_no_more(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(jobs, "CONCURRENCY", 1)
    monkeypatch.setattr(Failing, "word", "more")
    monkeypatch.setattr(Failing, "fatal", True)
    asked = run(tmp_path, job("failing", "counting", cases=9))
    assert len(asked.missing) == 9 == len(asked.answers["counting"])
    assert [policy for policy, _ in calls].count("failing") == 1
    assert "failing is suspended" in caplog.text
    monkeypatch.setattr(Failing, "fatal", False)
    monkeypatch.setattr(jobs, "MAX_FAILURES", 4)
    run(tmp_path, job("failing", "counting", cases=9))
    assert [policy for policy, _ in calls].count("failing") == 1 + 4


@pytest.mark.parametrize("answer", [None, 3, b"2", ["2"]])
def test_an_answer_that_is_no_text_is_a_failure(tmp_path, answer):
    SPECS["odd"] = lambda: lambda observation: answer
    assert run(tmp_path, job("odd", cases=1)).missing == [("odd", "case-0")]


def test_a_reply_that_cannot_be_recorded_is_a_failure(tmp_path):
    SPECS["odd"] = lambda: lambda observation: Reply("2", prompt_tokens=-1)
    assert run(tmp_path, job("odd", cases=1)).missing == [("odd", "case-0")]


def test_a_reply_is_recorded_as_it_is_read(tmp_path):
    SPECS["odd"] = lambda: lambda observation: Reply("\ud800 \u2028\x00", Failure.TRUNCATED, prompt_tokens=None)
    asked = run(tmp_path, job("odd", cases=1, calls=1))
    assert (asked.answers["odd"][0].unreadable, read_job(tmp_path, job(cases=1, calls=1)).digest) == (1, asked.digest)
    assert json.loads(lines(tmp_path)[1])["text"] == "? \u2028\x00"


def test_order_and_number_of_parallel_cases_do_not_affect_results(tmp_path, monkeypatch):
    wanted = job("slow", "counting", cases=20, count=3)
    parallel = run(tmp_path / "parallel", wanted)
    assert 1 < Slow.most <= 40
    monkeypatch.setattr(jobs, "CONCURRENCY", 3)
    Slow.most = 0
    bounded = run(tmp_path / "bounded", wanted)
    assert 1 < Slow.most <= 3
    backwards = run(tmp_path / "backwards", job("counting", "slow", cases=20, count=3))
    assert accepted(parallel) == accepted(bounded) == accepted(backwards)
    assert parallel.digest == bounded.digest
    assert accepted(run(tmp_path / "seed", replace(wanted, seed=4))) != accepted(parallel)


def test_a_person_is_asked_one_thing_at_a_time(tmp_path):
    assert not run(tmp_path, job("person", cases=5)).missing
    assert Slow.most == 1


def test_another_command_is_refused(tmp_path):
    run(tmp_path, job())
    for other in (job("slow"), job(seed=4), job(cases=3), job(count=2), job(calls=2)):
        with pytest.raises(RunError, match="choose another directory with --out"):
            check_job(tmp_path, other)
        with pytest.raises(RunError, match="choose another directory with --out"):
            run(tmp_path, other)
    with pytest.raises(OptionError, match="name the options with which it was asked"):
        read_job(tmp_path, job(cases=3))
    with Lock(tmp_path), pytest.raises(RunError, match="another process"):
        run(tmp_path, job())


def test_policies_are_checked_before_anything_is_asked(tmp_path):
    with pytest.raises(OptionError, match="did you mean 'counting'"):
        job("countin").check()
    SPECS["seer"] = type("Seer", (Counting,), {"reads": "vector"})
    with pytest.raises(OptionError, match="reads 'text' or 'view', got 'vector'"):
        job("seer").check()
    with pytest.raises(OptionError, match="twice"):
        job("slow", "slow").check()
    with pytest.raises(RunError, match="expected a file of recorded replies"):
        read_job(tmp_path, job())


REPLY = {
    "policy": "counting",
    "case": "case-0",
    "call": 1,
    "prompt": "0" * 64,
    "text": "2",
    "kind": "OK",
    "prompt_tokens": 0,
    "completion_tokens": None,
}


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"null",
        b"[]",
        b'"text"',
        b"{}",
        b"\xff\xfe",
        b"[" * 100_000,
        b"9" * 100_000,
        json.dumps(REPLY)[:-1].encode(),
        json.dumps(REPLY | {"more": 1}).encode(),
        json.dumps({name: value for name, value in REPLY.items() if name != "text"}).encode(),
        json.dumps(REPLY | {"call": 0}).encode(),
        json.dumps(REPLY | {"call": "1"}).encode(),
        json.dumps(REPLY | {"call": True}).encode(),
        json.dumps(REPLY | {"kind": "PROVIDER"}).encode(),
        json.dumps(REPLY | {"kind": "OK\n"}).encode(),
        json.dumps(REPLY | {"prompt": "x"}).encode(),
        json.dumps(REPLY | {"text": ["2"]}).encode(),
        json.dumps(REPLY | {"text": "\ud800"}).encode(),
        json.dumps(REPLY | {"prompt_tokens": -1}).encode(),
        json.dumps(REPLY | {"prompt_tokens": float("nan")}).encode(),
    ],
)
def test_a_damaged_line_is_named_and_nothing_is_changed(tmp_path, line):
    run(tmp_path, job())
    header, *rest = lines(tmp_path)
    for place, damaged in ((1, [line + b"\n", *rest]), (3, [header, rest[0], line + b"\n", *rest[1:]])):
        (tmp_path / "even.jsonl").write_bytes(b"".join(damaged))
        for refused in (run, read_job, check_job):
            with pytest.raises(RunError, match=rf"even.jsonl, line {place}: damaged: .{{1,300}}; restore"):
                refused(tmp_path, job())
        assert b"".join(lines(tmp_path)) == b"".join(damaged)


def test_lines_that_do_not_fit_are_refused(tmp_path, monkeypatch):
    run(tmp_path, job())
    first, *rest = lines(tmp_path)
    path, known = tmp_path / "even.jsonl", json.loads(rest[0])

    def refused(message, *added):
        path.write_bytes(b"".join([first, *rest, *(json.dumps(line).encode() + b"\n" for line in added)]))
        with pytest.raises(RunError, match=message):
            read_job(tmp_path, job())

    refused("line 6: damaged: call 1 of counting in case-0 occurs twice", known)
    refused("1 replies answer no request", known | {"call": 2})
    refused("1 replies answer no request", known | {"case": "case-9"})
    refused("1 replies answer no request", known | {"policy": "os:system"})
    rest[0] = json.dumps(known | {"prompt": "0" * 64}).encode() + b"\n"
    refused("call 1 of counting in case-0 was recorded for another request; choose another directory")
    path.write_bytes(b"")
    with pytest.raises(RunError, match="the file is empty"):
        read_job(tmp_path, job())
    monkeypatch.setattr("benchmarks.experiments.reply_log.MAX_LINE", 1_000)
    path.write_bytes(first + b"x" * 2_000)
    with pytest.raises(RunError, match="expected lines of at most"):
        read_job(tmp_path, job())


def test_settings_name_policies_and_make_none(tmp_path):
    run(tmp_path, job())
    header, *rest = lines(tmp_path)
    settings = json.loads(header)
    for policies, message in (
        ([{"spec": "x\n"}], "expected a name of at most 200 characters on one line"),
        ([{"spec": "a"}, {"spec": "a"}], "twice"),
        ([{"spec": "a", "shell": "rm"}], "shell"),
    ):
        text = json.dumps(settings | {"policies": policies}).encode() + b"\n"
        (tmp_path / "even.jsonl").write_bytes(text + b"".join(rest))
        with pytest.raises(RunError, match=f"line 1: damaged: .*{message}"):
            read_job(tmp_path, job())
    named = json.dumps(settings | {"policies": [{"spec": "tests.absent:made", "name": "counting"}]}).encode() + b"\n"
    (tmp_path / "even.jsonl").write_bytes(named + b"".join(rest))
    assert not read_job(tmp_path, job()).missing
    assert "tests.absent" not in sys.modules


def model(server):
    return PolicyConfig(spec=f"openai:mock:base_url={server.url},max_in_flight=1", name="model")


def test_a_model_is_asked_once_and_then_from_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "of nobody")
    session = Session(cache=tmp_path / "cache")
    with hostile_server(then=itertools.repeat(say("2"))) as server:
        wanted = replace(job(cases=3), policies=[model(server)])
        asked = run(tmp_path / "first", wanted, session)
        assert len(server.requests) == 1 + 3  # the first one tries the connection
        messages = server.requests[1].body["messages"]
        assert [message["role"] for message in messages] == ["system", "user"]
    monkeypatch.delenv("OPENAI_API_KEY")
    offline = replace(session, offline=True)
    check_job(tmp_path / "second", wanted, offline)
    assert run(tmp_path / "second", wanted, offline).digest == asked.digest
    more = replace(job(cases=4), policies=wanted.policies)
    assert run(tmp_path / "third", more, offline).missing == [("model", "case-3")]


def test_a_model_out_of_reach_is_said_and_settings_can_be_corrected(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "of nobody")
    with hostile_server(then=itertools.repeat(error(401))) as server:
        wanted = replace(job(cases=2), policies=[model(server), PolicyConfig(spec="counting")])
        with pytest.raises(ProviderError, match="nothing was asked, since 1 of 1 models cannot be asked"):
            run(tmp_path, wanted)
    assert not calls
    assert not run(tmp_path, job()).missing
