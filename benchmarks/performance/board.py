"""Cost of the live board for a large run: the first page, and an update after one more match has ended.

    python -m benchmarks.performance.board
    python -m benchmarks.performance.board --matches 10000 --calls 16

The run is one of tic-tac-toe between four scripted policies; one match of each pair is played and entered again and again under
other numbers, with a log of calls as if each turn had been a model's. The board may compute for a tenth of the time at most, so
its cost also limits how often ratings are updated.
"""

import itertools
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from agents.models.calls import Call, CallStatus
from agents.play import play
from agents.registry import make_policy
from benchmarks.options import option, parse
from llmarena_envs.catalogue import make_environment
from rating.play import run_directory
from rating.store.calls import LoggedCall
from rating.store.records import Match, outcome_of
from rating.store.store import Store
from rating.viewer.web.watched import Watched

T = TypeVar("T")

POLICIES = ("random", "first_legal", "greedy", "minimax")
RUN_FILE = '[[environment]]\nname = "tictactoe_v0"\n' + "".join(f'[[policy]]\nspec = "{name}"\n' for name in POLICIES)
TIME = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Options:
    """Options of the benchmark."""

    matches: int = option(10_000, "matches of the run")
    calls: int = option(16, "calls of models a match")
    smoke: bool = option(False, "a short run, which only shows that everything runs")


def make_run(directory: Path, matches: int, calls: int) -> tuple[Store, Callable[[int], None]]:
    """Makes a run of so many matches, and returns its store and what enters one more match with its calls."""
    _, store = run_directory.create(directory, RUN_FILE, "the run of the benchmark")
    log = store.call_log()
    pairs = list(itertools.permutations(POLICIES, 2))
    env = make_environment("tictactoe_v0", {})
    agents = list(env.possible_agents)
    episodes = [
        play(env, {agent: make_policy(name, "tictactoe_v0") for agent, name in zip(agents, pair, strict=True)}, seed=0)
        for pair in pairs
    ]

    def enter(number: int) -> None:
        episode, pair = episodes[number % len(pairs)], pairs[number % len(pairs)]
        match = Match("tictactoe_v0", number, pair, number // 2)
        store.add_match(match)
        for turn in episode.turns:
            store.add_turn(match, turn)
        for index in range(calls):
            call = Call("m", "", agents[index % 2], 1, CallStatus.OK, prompt_tokens=500, completion_tokens=20)
            log.write(LoggedCall(TIME, match.environment, match.id, pair[index % 2], call))
        outcome = outcome_of(match, agents, episode)
        store.finish(match, replace(outcome, number=number), digest=episode.digest)

    for number in range(matches):
        enter(number)
    return store, enter


def timed(what: str, compute: Callable[[], T]) -> T:
    """Computes something and prints the processor time that took."""
    begin = time.process_time()
    result = compute()
    print(f"{what:45} {time.process_time() - begin:7.3f} s", flush=True)
    return result


def main() -> None:
    """Runs the benchmark and prints its figures."""
    options = parse(Options, __doc__)
    matches = 60 if options.smoke else options.matches
    with tempfile.TemporaryDirectory() as folder:
        store, enter = make_run(Path(folder) / "run", matches, options.calls)
        watched = Watched(Path(folder) / "run")
        moment = timed(f"{matches:,} matches read for the first time", watched.moment)
        timed("ratings, plots and costs for the first time", lambda: watched.tables(moment))
        enter(matches)
        moment = timed("matches, after one more has ended", watched.moment)
        timed("ratings, plots and costs, after one more", lambda: watched.tables(moment))
        timed("matches, when nothing has happened", watched.moment)
        store.close()


if __name__ == "__main__":
    main()
