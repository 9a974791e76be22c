"""Speed of matches that ask their caller (``agents.training``): how many replies a second they take.

    python -m benchmarks.performance.training
    python -m benchmarks.performance.training --games tictactoe_v0 --json result.json

Learners sit on all rated seats, reply with a random legal move (in games whose moves cannot be listed, with one that the
environment draws), and read updates. Staff is scripted. The first table is of one match after the other, in processor time; the
second of many at once, each of whose replies takes as long as a model may, in wall time.
"""

import asyncio
import json
import random
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from agents.training import Deal, Match, Question, deals
from benchmarks.options import option, parse
from llmarena_envs.catalogue import NAMES

STAFF = {"writer_editor_v0": {"judge": "random"}, "debate_v0": {"judge": "random"}}
STAFF["simulation_v0"] = {"judge": "random", "user": "random"}


@dataclass(frozen=True)
class Options:
    """Options of the benchmark."""

    games: tuple[str, ...] = option((), "games to measure; all of them by default")
    seconds: float = option(1.0, "least processor time of a game", smoke=0.01)
    at_once: int = option(256, "matches played at once", smoke=8)
    milliseconds: float = option(20.0, "what a reply takes in these", smoke=1.0)
    seed: int = option(0, "seed of the matches and of the moves")
    json: str = option("", "file to write the result to, as JSON")
    smoke: bool = option(False, "the smallest size, which only shows that everything runs")


class Mover:
    """Draws the replies of a match's learners."""

    def __init__(self, deal: Deal) -> None:
        self.match: Match = deal.match()
        self._env = self.match.env.unwrapped
        self._choose = random.Random(deal.seed)
        self._rng = np.random.default_rng(deal.seed)

    def reply(self, question: Question) -> str:
        """Returns a random legal move."""
        if question.legal:
            return self._choose.choice(question.legal)
        return str(self._env.random_action(question.agent, self._rng))


def one_by_one(chosen: Sequence[Deal], seconds: float) -> float:
    """Returns the replies a second of processor time, of one match after the other."""
    start, replies = time.process_time(), 0
    while (spent := time.process_time() - start) < seconds:
        for deal in chosen:
            mover = Mover(deal)
            question = mover.match.start_sync()
            while question is not None:
                question = mover.match.reply_sync(mover.reply(question))
            replies += len(mover.match.steps)
    return replies / spent


async def all_at_once(chosen: Sequence[Deal], seconds: float) -> float:
    """Returns the replies a second of wall time, where each reply takes so many seconds."""

    async def play(deal: Deal) -> int:
        mover = Mover(deal)
        question = await mover.match.start()
        while question is not None:
            await asyncio.sleep(seconds)
            question = await mover.match.reply(mover.reply(question))
        return len(mover.match.steps)

    start = time.perf_counter()
    replies = await asyncio.gather(*[play(deal) for deal in chosen])
    return sum(replies) / (time.perf_counter() - start)


def run(options: Options) -> dict[str, Any]:
    """Measures, and returns ``options`` and for each of ``games`` its replies a second ``one_by_one`` and ``at_once``."""
    names = options.games or NAMES
    games = {}
    for name in names:
        seeds = range(options.seed, options.seed + options.at_once)
        chosen = list(deals(name, seeds, None, staff=STAFF.get(name)))
        games[name] = {
            "one_by_one": round(one_by_one(chosen[:16], options.seconds)),
            "at_once": round(asyncio.run(all_at_once(chosen, options.milliseconds / 1000))),
        }
    return {"options": asdict(options), "games": games}


def table(result: dict[str, Any]) -> str:
    """Returns the figures as a Markdown table."""
    options = result["options"]
    rows = [
        f"| game | one by one | {options['at_once']} at once, {options['milliseconds']:g} ms a reply |",
        "|---|---|---|",
    ]
    return "\n".join(
        rows + [f"| {name} | {game['one_by_one']:,} | {game['at_once']:,} |" for name, game in result["games"].items()]
    )


def main() -> None:
    """Measures, prints the table, and writes the JSON file if one is asked for."""
    options = parse(Options, __doc__)
    result = run(options)
    print(table(result))
    if options.json:
        Path(options.json).write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
