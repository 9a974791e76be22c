"""Overhead of a model call over the bare SDK, cost per call of a whole run, and memory of waiting games.

    python -m benchmarks.performance.models
    python -m benchmarks.performance.models --json result.json

The server answers at once and runs in a separate process, so only this side is measured. Three tables:

* calls: histories of twenty messages, 500 requests under way; the bare SDK, built as its measurements recommend (aiohttp, the
  messages passed by without being walked), and ``LLMPolicy`` with gate, retries and reports take turns in one process.
* run: public goods, twenty rounds with the whole history, 500 matches under way; processor time of the command ``llmarena run``
  over the calls that it made, so matches, reading and records are included.
* waiting: greatest memory of a run with 10,000 matches that all wait for a slow server.
"""

import asyncio
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import openai

from agents.models import LLMPolicy, ModelService
from benchmarks.options import option, parse
from benchmarks.performance.chat_server import running

REPLY = '{"coins": 3}'
ROUNDS = 20
PLAYERS = 4
MESSAGES = 20
WORDS = 60
"""Of each message."""


@dataclass(frozen=True)
class Options:
    """Options of the benchmark."""

    in_flight: int = option(500, "requests, and matches of the run, under way at once", smoke=20)
    calls: int = option(3000, "calls of each contestant in a round", smoke=60)
    rounds: int = option(5, "rounds of both contestants", smoke=1)
    matches: int = option(500, "matches of the run", smoke=4)
    waiting: int = option(10_000, "matches that wait at once", smoke=20)
    json: str = option("", "file to write the result to, as JSON")
    smoke: bool = option(False, "the smallest size, which only shows that everything runs")


@dataclass(frozen=True)
class Contestant:
    """What calls cost one of the two clients.

    Attributes:
        name: the client.
        rate: calls a second, median over the rounds.
        milliseconds: processor time of this process for a call, median over the rounds.
    """

    name: str
    rate: float
    milliseconds: float


@dataclass(frozen=True)
class Run:
    """Result of a run.

    Attributes:
        calls: made by it.
        milliseconds: processor time of its process for a call, less the time of a run without calls.
        rate: calls a second, start and leaderboards included.
        megabytes: greatest resident memory, in millions of bytes.
    """

    calls: int
    milliseconds: float
    rate: float
    megabytes: float


@dataclass(frozen=True)
class Result:
    """All three tables; ``ratio`` is the median over the rounds of our calls a second over the SDK's."""

    ours: Contestant
    sdk: Contestant
    ratio: float
    run: Run
    waiting: Run


def measure(options: Options) -> Result:
    """Measures everything."""
    with running(REPLY) as url:
        ours, sdk, ratio = asyncio.run(_compare(url, options))
        run = _run(url, options.matches, options.in_flight, ROUNDS)
    with running(REPLY, latency=0.0 if options.smoke else 20.0) as url:
        waiting = _run(url, options.waiting, options.waiting, 1)
    return Result(ours, sdk, ratio, run, waiting)


def table(result: Result) -> str:
    """Returns the results as tables in Markdown."""
    lines = ["| client | calls a second | ms of processor time a call | ratio |", "|---|---|---|---|"]
    for contestant, ratio in ((result.ours, result.ratio), (result.sdk, 1.0)):
        lines.append(f"| {contestant.name} | {contestant.rate:.0f} | {contestant.milliseconds:.2f} | {ratio:.2f} |")
    lines += [
        "",
        "| run | calls | ms of processor time a call | calls a second | memory, MB |",
        "|---|---|---|---|---|",
    ]
    for name, run in (("matches", result.run), ("waiting matches", result.waiting)):
        lines.append(f"| {name} | {run.calls:,} | {run.milliseconds:.2f} | {run.rate:.0f} | {run.megabytes:.0f} |")
    return "\n".join(lines)


def main(options: Options) -> Result:
    """Measures everything and prints the tables."""
    os.environ.setdefault("OPENAI_API_KEY", "no-key")
    result = measure(options)
    print(table(result))
    if options.json:
        Path(options.json).write_text(json.dumps(asdict(result), indent=2), encoding="utf-8")
    return result


async def _compare(url: str, options: Options) -> tuple[Contestant, Contestant, float]:
    """Lets both clients take turns."""
    rules, *history = _conversation()
    service, sdk = ModelService(), _bare_sdk(url)
    policies = [_policy(url, service, history) for _ in range(options.in_flight)]

    async def ours(caller: int) -> None:
        # The history is restored, to make every call send as much.
        policy = policies[caller]
        _remember(policy, history)
        await policy({"rules": rules["content"], "text": history[-1]["content"]})

    async def bare(caller: int) -> None:
        body = {"messages": [rules, *history]}
        reply = await sdk.chat.completions.create(
            model="echo", messages=[], temperature=0.0, max_completion_tokens=1024, extra_body=body
        )
        assert reply.choices[0].message.content == REPLY

    figures: dict[str, list[tuple[float, float]]] = {"ours": [], "sdk": []}
    for call in (ours, bare):  # opens the connections
        await _drive(call, options.in_flight, options.in_flight)
    for number in range(options.rounds):
        order = [("ours", ours), ("sdk", bare)]
        for name, call in order if number % 2 else order[::-1]:
            figures[name].append(await _drive(call, options.calls, options.in_flight))
    await service.close()
    await sdk.close()
    ratios = [mine[0] / theirs[0] for mine, theirs in zip(figures["ours"], figures["sdk"], strict=True)]
    return (
        _contestant("LLMPolicy", figures["ours"]),
        _contestant(f"openai {openai.__version__}", figures["sdk"]),
        statistics.median(ratios),
    )


async def _drive(call: Callable[[int], Awaitable[None]], calls: int, in_flight: int) -> tuple[float, float]:
    """Makes calls, so many at once; returns calls a second and milliseconds of processor time a call."""
    numbers = iter(range(calls))

    async def caller(index: int) -> None:
        for _ in numbers:
            await call(index)

    wall, processor = time.perf_counter(), time.process_time()
    await asyncio.gather(*[caller(index) for index in range(min(in_flight, calls))])
    return calls / (time.perf_counter() - wall), 1000 * (time.process_time() - processor) / calls


def _contestant(name: str, figures: list[tuple[float, float]]) -> Contestant:
    rates, milliseconds = zip(*figures, strict=True)
    return Contestant(name, statistics.median(rates), statistics.median(milliseconds))


def _bare_sdk(url: str) -> openai.AsyncOpenAI:
    limits = type(openai.DEFAULT_CONNECTION_LIMITS)(max_connections=4096, max_keepalive_connections=4096)
    timeout = openai.Timeout(600, connect=60)
    http = openai.DefaultAioHttpClient(limits=limits, timeout=timeout)
    return openai.AsyncOpenAI(base_url=url, api_key="no-key", max_retries=0, timeout=timeout, http_client=http)


def _conversation() -> list[dict[str, str]]:
    """Returns the rules and a history that ends with the text to answer, ``MESSAGES`` in all."""
    text = " ".join(f"word{number}" for number in range(WORDS))
    roles = ["system", *(("user", "assistant") * MESSAGES)][:MESSAGES]
    return [{"role": role, "content": f"{index} {text}"} for index, role in enumerate(roles)]


def _policy(url: str, service: ModelService, history: list[dict[str, str]]) -> LLMPolicy:
    policy = LLMPolicy("echo", base_url=url, history="full", service=service)
    _remember(policy, history)
    return policy


def _remember(policy: LLMPolicy, history: list[dict[str, str]]) -> None:
    """Begins a match whose earlier turns are the history but its last message."""
    policy.reset("player_0", 0)
    for asked, replied in zip(history[0:-1:2], history[1:-1:2], strict=True):
        policy.recall({"rules": "", "text": asked["content"]}, replied["content"])


def _run(url: str, matches: int, in_flight: int, rounds: int) -> Run:
    """Plays a run with the command line, and measures its process."""
    with tempfile.TemporaryDirectory() as directory:
        run_file = Path(directory) / "run.toml"
        run_file.write_text(_run_file(url, matches, in_flight, rounds), encoding="utf-8")
        command = [sys.executable, "-m", "rating.cli", "run", str(run_file), "--out", f"{directory}/run"]
        start = time.perf_counter()
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise RuntimeError(f"llmarena run ended with {process.returncode}")
        seconds = time.perf_counter() - start
    calls = matches * PLAYERS * rounds
    processor = usage.ru_utime + usage.ru_stime - _start_up()
    return Run(calls, 1000 * processor / calls, calls / seconds, usage.ru_maxrss * 1024 / 1e6)


def _start_up() -> float:
    """Returns the processor time of a command that does nothing, in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    code = "import rating.cli.run, agents.models, openai"
    subprocess.run([sys.executable, "-c", code], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def _run_file(url: str, matches: int, in_flight: int, rounds: int) -> str:
    """Returns a run of one environment; all its batches can be in flight at once."""
    settings: dict[str, Any] = {"seed": 1, "concurrency": in_flight, "ahead": matches, "executor": "asyncio"}
    lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
    lines += ["[stop]", f"matches = {matches}", f"max_matches = {matches}"]
    lines += ["[[environment]]", 'name = "public_goods_v0"', f"options = {{ rounds = {rounds} }}"]
    for player in range(PLAYERS):
        lines += ["[[policy]]", 'spec = "openai:echo"', f'name = "model {player}"']
        lines += [f'options = {{ base_url = "{url}", history = "full" }}']
    return "\n".join(lines)


if __name__ == "__main__":
    main(parse(Options, __doc__))
