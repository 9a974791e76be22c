"""Characters of a match: each turn by itself, a conversation of whole texts, and one of updates.

    python -m benchmarks.performance.texts

Matches with the rated options of each game, between players who move at random; all seats together, rules and replies included.
*Said* counts each message once: the text to train on, and the input of a server with a prefix cache. *Sent* is the sum over all
requests; each contains the conversation so far.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from agents.chat import HISTORIES, Chat
from agents.play import play
from benchmarks.options import option, parse
from llmarena_envs.catalogue import NAMES, make_environment
from llmarena_envs.core.text_env import TextEnv


@dataclass(frozen=True)
class Options:
    """Options of the benchmark."""

    games: tuple[str, ...] = option(NAMES, "games", smoke=("tictactoe_v0",))
    matches: int = option(20, "matches of each game", smoke=1)
    smoke: bool = option(False, "the smallest size, which only shows that everything runs")


@dataclass
class Size:
    """Characters of a match, or of several.

    Attributes:
        said: total of all messages, each counted once.
        sent: total of all requests.
    """

    said: int = 0
    sent: int = 0


class Reader:
    """Moves at random, and counts a model's prompts with each history.

    Args:
        env: the match's environment.
        sizes: the counts, by history.
    """

    wants_update = True

    def __init__(self, env: TextEnv, sizes: Mapping[str, Size]) -> None:
        self._env = env
        self._sizes = sizes

    def reset(self, agent: str, seed: int) -> None:
        """Begins a match."""
        self._agent = agent
        self._rng = np.random.default_rng(seed)
        self._chats = {history: Chat(history) for history in self._sizes}

    def __call__(self, observation: Any) -> str:
        """Returns a random legal reply."""
        reply = self._env.format(self._env.random_action(self._agent, self._rng), self._agent)
        for history, chat in self._chats.items():
            new = chat.hear(observation)
            size = self._sizes[history]
            size.said += len(reply) + sum(len(message["content"]) for message in new)
            size.sent += len(reply) + sum(len(message["content"]) for message in chat.messages)
            chat.say(reply)
        return reply


@dataclass(frozen=True)
class Line:
    """One line of the table, means over the matches.

    Attributes:
        game: name of the environment.
        turns: turns of all seats.
        sizes: characters of all seats by history.
    """

    game: str
    turns: float
    sizes: Mapping[str, Size]


def measure(game: str, matches: int) -> Line:
    """Plays matches of a game with its rated options."""
    sizes = {history: Size() for history in HISTORIES}
    turns = 0
    for seed in range(matches):
        env = make_environment(game)
        turns += len(play(env, {agent: Reader(env.unwrapped, sizes) for agent in env.possible_agents}, seed).turns)
        env.close()
    means = {history: Size(round(size.said / matches), round(size.sent / matches)) for history, size in sizes.items()}
    return Line(game, turns / matches, means)


def run(options: Options) -> list[Line]:
    """Measures the games."""
    return [measure(game, options.matches) for game in options.games]


def table(lines: Sequence[Line]) -> str:
    """Returns the lines as a Markdown table."""
    rows = [
        "| game | turns | single turns | full, said | full, sent | updates, said | updates, sent |",
        "|---|" + "---:|" * 6,
    ]
    for line in lines:
        single, full, updates = (line.sizes[history] for history in ("single_turn", "full", "updates"))
        numbers = [f"{number:,}" for number in (single.sent, full.said, full.sent, updates.said, updates.sent)]
        rows.append(f"| {' | '.join([line.game, f'{line.turns:.1f}', *numbers])} |")
    return "\n".join(rows)


if __name__ == "__main__":
    print(table(run(parse(Options, __doc__))))
