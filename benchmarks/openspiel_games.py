"""The table of OpenSpiel's games: players, information, length, texts, tokens of a match, and the score of search.

    python -m benchmarks.openspiel_games > docs/reference/openspiel_games.md
    python -m benchmarks.openspiel_games --games chess,go --matches 10

Length and tokens are means over random matches. The score is that of OpenSpiel's tree search with 50 simulations a move against
random play, in per cent, over matches in all seats: 100 for a win, 50 for a draw; a dash for a game that search does not play, or
whose matches take longer than the limit.
"""

import sys
import time
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np

from agents.play import play
from agents.registry import baselines, make_policy
from benchmarks.options import option, parse
from llmarena_envs.adapters import make_adapted
from llmarena_envs.openspiel.listing import GAMES, LISTED, REFUSED, rules_of
from llmarena_envs.openspiel.rendering import rendering_of

CHARACTERS_A_TOKEN = 4.0


@dataclass(frozen=True)
class Options:
    """Options of the table."""

    games: tuple[str, ...] = option(GAMES, "names of games; all of them by default")
    matches: int = option(6, "random matches, and matches of search", smoke=2)
    seconds: float = option(15.0, "no score of games whose first match of search takes longer")
    simulations: int = option(50, "simulations a move")
    smoke: bool = option(False, "two games, which only shows that everything runs")


def length(name: str, matches: int) -> tuple[float, float]:
    """Returns the mean number of turns of random matches, and of tokens that all seats read."""
    env, rng = make_adapted(name), np.random.default_rng(0)
    turns, tokens = [], []
    for seed in range(matches):
        env.reset(seed=seed)
        count = characters = 0
        while env.agents and not env.terminations[env.agent_selection]:
            observation = env.observe(env.agent_selection)
            characters += len(observation["rules"]) + len(observation["text"])
            env.step(env.unwrapped.random_action(env.agent_selection, rng))
            count += 1
        turns.append(count)
        tokens.append(characters / CHARACTERS_A_TOKEN)
    return fmean(turns), fmean(tokens)


def score(name: str, options: Options) -> float | None:
    """Returns the score of search against random play in per cent; ``None`` if it is not measured."""
    if "mcts" not in baselines(name):
        return None
    env = make_adapted(name)
    scores = []
    for number in range(options.matches):
        begin = time.process_time()
        seat = env.possible_agents[number % len(env.possible_agents)]
        specs = {
            agent: f"mcts:simulations={options.simulations}" if agent == seat else "random"
            for agent in env.possible_agents
        }
        policies = {agent: make_policy(spec, name) for agent, spec in specs.items()}
        rewards = play(env, policies, number).rewards
        own, others = rewards[seat], [reward for agent, reward in rewards.items() if agent != seat]
        scores.append(fmean([1.0 if own > other else 0.5 if own == other else 0.0 for other in others]))
        if not number and time.process_time() - begin > options.seconds:
            return None
    return 100 * fmean(scores)


def row(game: str, options: Options) -> list[Any]:
    """Returns the cells of a game."""
    name = f"openspiel/{game}"
    rules = make_adapted(name).unwrapped
    position, texts = rules.game, rules_of(game)
    information = "all" if position.is_public else "hidden"
    turns, tokens = length(name, options.matches)
    found = score(name, options)
    languages = ", ".join(texts.texts) if texts and rendering_of(game) else "OpenSpiel's"
    return [
        f"`{game}`",
        rules.title,
        len(position.agents),
        "simultaneous" if LISTED[game].simultaneous else "sequential",
        information,
        f"{turns:.0f}",
        languages,
        f"{tokens:,.0f}",
        "-" if found is None else f"{found:.0f}",
    ]


def main() -> None:
    """Prints the page."""
    options = parse(Options, __doc__)
    print("# Games of OpenSpiel\n")
    print(
        "Made by `python -m benchmarks.openspiel_games`. Means over",
        options.matches,
        "random matches; tokens are those that all",
    )
    print(
        "seats read, at four characters a token. Score: tree search with",
        options.simulations,
        "simulations a move against random play.\n",
    )
    header = (
        "name",
        "game",
        "players",
        "moves",
        "information",
        "turns",
        "texts",
        "tokens a match",
        "score of search, %",
    )
    print("|", " | ".join(header), "|")
    print("|", " | ".join("---" for _ in header), "|")
    for game in options.games[:2] if options.smoke else options.games:
        print("|", " | ".join(map(str, row(game, options))), "|", flush=True)
        print(game, file=sys.stderr)
    print("\nNot supported:\n")
    for game, reason in REFUSED.items():
        print(f"- `{game}`: {reason}.")


if __name__ == "__main__":
    main()
