"""Cost of the report of a large run: its size, the time to write it, and how fast a browser opens, sorts and searches it.

    python -m benchmarks.performance.report_page
    python -m benchmarks.performance.report_page --matches 100000
    python -m benchmarks.performance.report_page --models

The run is one of tic-tac-toe; a hundred matches are played and entered again and again under other numbers. With ``--models``
every policy is a model that replies from a script, well and badly, with the whole match as history, so the page holds
requests and prompts. The page is opened in headless Chromium (``--chromium``), which needs the extra ``browser``.
"""

import itertools
import random
import resource
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agents.models import LLMPolicy, ModelService
from agents.models.service import Target
from agents.play import play
from agents.policy import Policy, Reply
from agents.registry import make_policy
from agents.turn import TurnSettings
from benchmarks.options import option, parse
from llmarena_envs.catalogue import make_environment
from rating.store.records import Match, Record, outcome_of
from rating.viewer.report.contents import EMPTY
from rating.viewer.report.page import write_page
from rating.viewer.report.replays import Replays

ENVIRONMENT = "tictactoe_v0"
NAMES = ("random", "first_legal", "greedy", "minimax")
SETTINGS = TurnSettings(illegal="random_legal")
PATTERNS = 100
"""Matches that are played; the others repeat them."""

# In the page: one action, and the time until the browser has laid out and painted its result.
_TIMED = """async (act) => {
  const begin = performance.now();
  new Function(act)();
  document.body.offsetHeight;
  const made = performance.now();
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  return [made - begin, performance.now() - begin];
}"""
# The browser may lay the page out before it paints it, so the entry may come later.
_FIRST_PAINT = """() => new Promise((done) => {
  new PerformanceObserver((list) => {
    const [paint] = list.getEntriesByName("first-contentful-paint");
    if (paint) done(paint.startTime);
  }).observe({ type: "paint", buffered: true });
})"""
_CLICK = "document.querySelector({!r}).click()"
_TYPE = 'const box = document.getElementById("search"); box.value = {!r}; box.dispatchEvent(new Event("input"))'
_CHOOSE = "const box = document.getElementById({!r}); box.value = {!r}; box.dispatchEvent(new Event('change'))"
ACTIONS = {
    "next page": _CLICK.format("#next"),
    "last page": _CLICK.format("#last"),
    "sorted by seats": _CLICK.format("button[data-column=policies]"),
    "sorted by result": _CLICK.format("button[data-column=result]"),
    "sorted by turns": _CLICK.format("button[data-column=turns]"),
    "sorted by id": _CLICK.format("button[data-column=id]"),
    "sorted by id, downwards": _CLICK.format("button[data-column=id]"),
    "search for a name": _TYPE.format("greedy"),
    "search for the beginning of an id": _TYPE.format("ab"),
    "all again": _CLICK.format("#clear"),
    "those with a bad reply": _CHOOSE.format("replies", "bad"),
    "those of a pair": _CHOOSE.format("policy", "minimax")
    + ";"
    + _CHOOSE.format("other", "random").replace("box", "second"),
}


@dataclass(frozen=True)
class Options:
    """Options of the benchmark."""

    matches: int = option(50_000, "matches of the run", smoke=120)
    models: bool = option(False, "whether models play, with requests and prompts")
    chromium: str = option("/usr/bin/chromium", "the browser")
    smoke: bool = option(False, "a short run, which only shows that everything runs")


class Script(ModelService):
    """Replies with a move that is possibly taken, and now and then without one."""

    def __init__(self) -> None:
        super().__init__()
        self._rng = random.Random(0)

    async def complete(self, target: Target, request: Mapping[str, Any], *, agent: str, sample: str) -> Reply:
        """Returns a reply."""
        draw = self._rng.randrange
        text = (
            "I give up"
            if not draw(9)
            else f"Let me think about it.\n{'XO'[agent[-1] == '1']}: ({1 + draw(3)}, {1 + draw(3)})"
        )
        return Reply(
            text,
            prompt_tokens=draw(900),
            completion_tokens=draw(90),
            detail={"finish_reason": "stop", "model": target.model},
            calls=1,
            request_id=f"req-{draw(10**12):012}",
        )


def records(matches: int, *, models: bool) -> Iterator[Record]:
    """Yields so many records of matches."""
    service, env = Script(), make_environment(ENVIRONMENT, {})
    agents = list(env.possible_agents)

    def policy(name: str) -> Policy:
        if not models:
            return make_policy(name, ENVIRONMENT)
        return LLMPolicy(name, base_url="http://localhost/v1", history="full", service=service)

    patterns = []
    for seed, pair in zip(range(PATTERNS), itertools.cycle(itertools.permutations(NAMES, 2)), strict=False):
        seated = {agent: policy(name) for agent, name in zip(agents, pair, strict=True)}
        episode = play(env, seated, seed, SETTINGS)
        match = Match(ENVIRONMENT, seed, pair, seed)
        patterns.append(Record(match, outcome_of(match, agents, episode), episode.turns, episode.digest, 1, ""))
    for number in range(matches):
        pattern = patterns[number % len(patterns)]
        yield replace(pattern, match=replace(pattern.match, number=number))


def write(path: Path, matches: int, *, models: bool = False) -> None:
    """Writes the report of a run with so many matches."""
    env = make_environment(ENVIRONMENT, {})
    env.reset(seed=0)
    rules = {ENVIRONMENT: {agent: env.observe(agent)["rules"] for agent in env.possible_agents}}
    replays = Replays(records(matches, models=models), {}, rules, {ENVIRONMENT: SETTINGS})
    with path.open("w", encoding="utf-8") as file:
        write_page(EMPTY, replays, file)


def look(path: Path, chromium: str) -> None:
    """Opens a report in a browser and prints how long everything takes."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        with timed("open it"):
            page.goto(path.as_uri())
            page.locator("#list a").first.wait_for()
        print(f"{'first paint':40} {page.evaluate(_FIRST_PAINT) / 1000:6.2f} s", flush=True)
        with timed("show a match"):
            page.locator("#list a").first.press("Enter")
            page.locator(".turn").first.wait_for()
        for name, action in ACTIONS.items():
            made, painted = page.evaluate(f"({_TIMED})({action!r})")
            print(f"{name:40} {made:6.0f} ms, on the screen after {painted:6.0f} ms", flush=True)
        browser.close()


@contextmanager
def timed(what: str) -> Iterator[None]:
    """Prints how long something takes, and the processor time of this process."""
    begin, busy = time.perf_counter(), time.process_time()
    yield
    spent = time.process_time() - busy
    print(f"{what:40} {time.perf_counter() - begin:6.2f} s, processor time here {spent:6.2f} s", flush=True)


def main() -> None:
    """Runs the benchmark and prints its figures."""
    options = parse(Options, __doc__)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        with timed(f"write {options.matches} matches"):
            write(path, options.matches, models=options.models)
        print(f"{'size':40} {path.stat().st_size / 1e6:6.1f} MB")
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        print(f"{'memory to write it, at most':40} {peak / 1e6:6.1f} MB", flush=True)
        look(path, options.chromium)


if __name__ == "__main__":
    main()
