"""Speed of the environments beside PettingZoo's classic games and OpenSpiel, random play, one core.

    python -m benchmarks.performance.environments
    python -m benchmarks.performance.environments --games tictactoe --rounds 31 --json result.json
    python -m cProfile -s tottime -m benchmarks.performance.environments --games tictactoe --only "llmarena text"

For every game, the contestants alternate, playing a slice of whole matches each, round after round in this one process, so that
disturbances of the machine affect all of them. A contestant's figure is the number of decisions a second of
processor time: resets and the final steps of finished agents are part of the time, but are not counted as decisions.
``llmarena seeded`` also seeds every match anew, as an experiment does; the others continue with their generators.

All contestants are played by the same policy, which is as cheap as it can be: the legal actions (the array that
``mask.nonzero()`` makes of the action mask, or the list that the contestant supplies) and a multiplication to pick one.
Only where actions are texts, ``random_action`` of the environment draws and writes the replies, and is part of the time.

Where a peer's game is not quite ours, the peer has the easier one: OpenSpiel's auction has ten bids, ours a thousand. No peer
has a public goods game; it is compared with Goofspiel, where four players bid one of ten cards at once, five times.
"""

import itertools
import json
import platform
import random
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pettingzoo
from pettingzoo.env_registry.exceptions import FailedToImport

import llmarena_envs
from benchmarks.options import option, parse
from llmarena_envs.core.options import check_choice


@dataclass(frozen=True)
class Options:
    """Options of the benchmark."""

    games: tuple[str, ...] = option((), "games to measure; all of them by default")
    only: tuple[str, ...] = option((), "measure only contestants whose names begin so; all of them by default")
    rounds: int = option(15, "slices a contestant plays")
    seconds: float = option(0.3, "least processor time of a slice")
    seed: int = option(0, "seed of the environments and of the policy")
    json: str = option("", "file to write the result to, as JSON")
    smoke: bool = option(False, "the smallest size, which only shows that everything runs")


Make = Callable[[int], Any]
"""``make(seed)`` makes an environment whose generator is seeded."""

Play = Callable[[Any, Callable[[], float]], int]
"""``play(environment, uniform)`` plays one match with numbers drawn from ``uniform`` and returns its decisions."""


@dataclass(frozen=True)
class Contestant:
    """Something that plays a game.

    Attributes:
        name: label in the table.
        make: makes the environment; raises ``ImportError`` if its package is missing.
        play: plays one match of it.
        install: how to install its requirements.
    """

    name: str
    make: Make
    play: Play
    install: str = "pip install llmarena-envs"


def play_aec(env: Any, uniform: Callable[[], float], seed: int | None = None) -> int:
    """Plays a PettingZoo environment that supplies an action mask."""
    decisions = 0
    env.reset(seed)
    for _ in env.agent_iter():
        observation, _, termination, truncation, _ = env.last()
        if termination or truncation:
            env.step(None)
        else:
            legal = observation["action_mask"].nonzero()[0]
            env.step(legal.item(int(uniform() * legal.size)))
            decisions += 1
    return decisions


def play_talk(
    env_and_rng: tuple[Any, np.random.Generator], uniform: Callable[[], float], seed: int | None = None
) -> int:
    """Plays an environment of this suite whose actions are texts: legal replies that the game draws and writes."""
    env, rng = env_and_rng
    decisions = 0
    env.reset(seed)
    game = env.unwrapped
    for agent in env.agent_iter():
        _, _, termination, truncation, _ = env.last()
        if termination or truncation:
            env.step(None)
        else:
            env.step(game.random_action(agent, rng))
            decisions += 1
    return decisions


def play_open_spiel(env: Any, uniform: Callable[[], float]) -> int:
    """Plays an environment of ``open_spiel.python.rl_environment``."""
    decisions = 0
    step = env.reset()
    while not step.last():
        legal = step.observations["legal_actions"][step.observations["current_player"]]
        step = env.step([legal[int(uniform() * len(legal))]])
        decisions += 1
    return decisions


def play_at_once(env: Any, uniform: Callable[[], float]) -> int:
    """Plays an environment of ``open_spiel.python.rl_environment`` with simultaneous moves."""
    decisions = 0
    step = env.reset()
    while not step.last():
        step = env.step([legal[int(uniform() * len(legal))] for legal in step.observations["legal_actions"]])
        decisions += len(step.rewards)
    return decisions


def seeded(play: Callable[[Any, Callable[[], float], int | None], int]) -> Play:
    """Returns ``play`` with the next of the seeds 0, 1, ... in every match."""
    seeds = itertools.count()
    return lambda env, uniform: play(env, uniform, next(seeds))


def make_aec(name: str, **options: Any) -> Make:
    """Returns what makes a PettingZoo environment by its registered name."""

    def make(seed: int) -> Any:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # peers warn about their own spaces
                env = pettingzoo.make("aec", name, **options)
        except FailedToImport as error:
            raise ImportError(str(error.__cause__)) from error
        env.reset(seed=seed)
        return env

    return make


def ours(name: str, *, talk: bool = False, **options: Any) -> tuple[Contestant, ...]:
    """Returns ``env()`` of this suite with the text built at every turn, the same with seeded matches, and with vectors.

    Args:
        name: registered name without the namespace.
        talk: whether the actions beside the texts are texts as well.
        options: options of the environment.
    """
    make_text = make_aec(f"llmarena/{name}", **options)
    make_vector = make_aec(f"llmarena/{name}", obs_type="vector", **options)
    play = play_talk if talk else play_aec

    def make(seed: int) -> Any:
        env = make_text(seed)
        return (env, np.random.default_rng(seed)) if talk else env

    return (
        Contestant("llmarena text", make, play),
        Contestant("llmarena seeded", make, seeded(play)),
        Contestant("llmarena vector", make_vector, play_aec),
    )


def of_pettingzoo(name: str, **options: Any) -> Contestant:
    """Returns ``env()`` of PettingZoo's classic games."""
    make = make_aec(f"classic/{name}", **options)
    return Contestant(f"PettingZoo {name}", make, play_aec, "pip install 'pettingzoo[classic]'")


def of_open_spiel(name: str, **options: Any) -> Contestant:
    """Returns an ``rl_environment`` of OpenSpiel."""

    def make(seed: int) -> Any:
        from open_spiel.python import rl_environment

        chance = rl_environment.ChanceEventSampler(seed)
        return rl_environment.Environment(name, chance_event_sampler=chance, **options)

    return Contestant(f"OpenSpiel {name}", make, play_open_spiel, "pip install open_spiel")


def play_bare(game: Any, uniform: Callable[[], float]) -> int:
    """Plays a game of ``pyspiel`` itself, without observations."""
    decisions = 0
    state = game.new_initial_state()
    while not state.is_terminal():
        if state.is_chance_node():
            actions, weights = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(random.choices(actions, weights)[0])
        else:
            legal = state.legal_actions()
            state.apply_action(legal[int(uniform() * len(legal))])
            decisions += 1
    return decisions


def adapted(name: str) -> tuple[Contestant, ...]:
    """Returns a game of OpenSpiel through the adapter of this suite, in OpenSpiel's loop, and bare."""

    def load(seed: int) -> Any:
        import pyspiel

        return pyspiel.load_game(name)

    bare = Contestant(f"pyspiel {name}", load, play_bare, "pip install open_spiel")
    return (*ours(f"openspiel:{name}-v0"), of_open_spiel(name), bare)


# Heads-up with the stacks, the blinds and the order of play of PettingZoo's game; OpenSpiel has no half-pot raise.
HEADS_UP = {"betting": "nolimit", "numPlayers": 2, "numRounds": 4, "blind": "1 2", "firstPlayer": "1 1 1 1"}
DECK = {"numSuits": 4, "numRanks": 13, "numHoleCards": 2, "numBoardCards": "0 3 1 1"}
FULL_HANABI: dict[str, Any] = {"colors": 5, "ranks": 5, "hand_size": 5, "info_tokens": 8, "life_tokens": 3}
# The default of ours, under the names of the peers' options.
SMALL_HANABI = {"colors": 2, "ranks": 5, "hand_size": 2, "max_information_tokens": 3, "max_life_tokens": 1}
FIVE_BIDS_AT_ONCE = {"players": 4, "num_cards": 10, "num_turns": 5, "imp_info": True}

GAMES: dict[str, tuple[Contestant, ...]] = {
    "tictactoe": (*ours("tictactoe-v0"), of_pettingzoo("tictactoe-v3"), of_open_spiel("tic_tac_toe")),
    "connect_four": (*ours("connect_four-v0"), of_pettingzoo("connect_four-v3"), of_open_spiel("connect_four")),
    "holdem": (
        *ours("holdem-v0", rules="rlcard"),
        of_pettingzoo("texas_holdem_no_limit-v6"),
        of_open_spiel("universal_poker", **HEADS_UP, **DECK, stack="100 100", bettingAbstraction="fcpa"),
    ),
    "hanabi_small": (
        *ours("hanabi-v0"),
        of_pettingzoo("hanabi-v5", players=2, **SMALL_HANABI),
        of_open_spiel("hanabi", players=2, **SMALL_HANABI),
    ),
    "hanabi": (*ours("hanabi-v0", **FULL_HANABI), of_pettingzoo("hanabi-v5"), of_open_spiel("hanabi")),
    "bid": (*ours("bid-v0"), of_open_spiel("first_sealed_auction", max_value=10)),
    "public_goods": (
        *ours("public_goods-v0"),
        replace(of_open_spiel("goofspiel", **FIVE_BIDS_AT_ONCE), play=play_at_once),
    ),
    "bargain": (*ours("bargain-v0", talk=True), of_open_spiel("bargaining")),
    "openspiel_breakthrough": adapted("breakthrough"),
    "openspiel_leduc_poker": adapted("leduc_poker"),
    "openspiel_backgammon": adapted("backgammon"),
}
"""The contestants of each game; ratios are relative to the first one of PettingZoo, otherwise of OpenSpiel."""


def slice_speed(contestant: Contestant, env: Any, rng: random.Random, seconds: float) -> float:
    """Returns the decisions a second of one slice of whole matches."""
    decisions = 0
    start = time.process_time()
    while True:
        decisions += contestant.play(env, rng.random)
        spent = time.process_time() - start
        if spent >= seconds:
            return decisions / spent


def measure(contestants: tuple[Contestant, ...], options: Options) -> dict[str, Any]:
    """Lets the contestants of one game play alternately.

    Returns:
        ``speeds``: for each contestant that is installed the decisions a second, ``median`` and ``best`` of its slices, and
        ``ratio``, the median over the rounds of its speed divided by the reference's; ``reference``: the name of it;
        ``missing``: how to install the others.
    """
    environments, missing = {}, {}
    for contestant in contestants:
        if options.only and not contestant.name.startswith(options.only):
            continue
        try:
            environments[contestant.name] = contestant.make(options.seed)
        except ImportError as error:
            missing[contestant.name] = f"{contestant.install} ({error})"
    present = [contestant for contestant in contestants if contestant.name in environments]
    peers = [contestant.name for contestant in present if not contestant.name.startswith("llmarena")]
    reference = peers[0] if peers else present[0].name
    rngs = {contestant.name: random.Random(options.seed) for contestant in present}
    slices: dict[str, list[float]] = {contestant.name: [] for contestant in present}
    for round_number in range(-1, options.rounds):  # the first round warms up
        for contestant in present:
            name = contestant.name
            speed = slice_speed(contestant, environments[name], rngs[name], options.seconds)
            if round_number >= 0:
                slices[name].append(speed)
    speeds = {
        name: {
            "median": round(median(values)),
            "best": round(max(values)),
            "ratio": round(median(a / b for a, b in zip(values, slices[reference], strict=True)), 2),
        }
        for name, values in slices.items()
    }
    return {"speeds": speeds, "reference": reference, "missing": missing}


def versions() -> dict[str, str]:
    """Returns the versions of all measured packages that are installed."""
    found = {"python": platform.python_version(), "llmarena-envs": llmarena_envs.__version__}
    for package in ("numpy", "pettingzoo", "rlcard", "open_spiel"):
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


def run(options: Options) -> dict[str, Any]:
    """Measures every game asked for.

    Returns:
        ``options``, ``versions`` and, under ``games``, what ``measure`` returns for each game.
    """
    for game in options.games:
        check_choice("games", game, GAMES)
    size = replace(options, rounds=2, seconds=0.01) if options.smoke else options
    names = options.games or tuple(GAMES)
    return {
        "options": {**asdict(size), "games": names},
        "versions": versions(),
        "games": {name: measure(GAMES[name], size) for name in names},
    }


def table(result: dict[str, Any]) -> str:
    """Returns the result as a table for people."""
    lines = []
    for game, measured in result["games"].items():
        lines.append(f"{game}: decisions a second, ratio to {measured['reference']}")
        for name, speed in measured["speeds"].items():
            lines.append(
                f"  {name:36} median {speed['median']:>9,}   best {speed['best']:>9,}   ratio {speed['ratio']:>6.2f}"
            )
        lines += [f"  {name:36} not installed: {how}" for name, how in measured["missing"].items()]
    return "\n".join(lines)


def main() -> None:
    """Measures, prints the table and writes the JSON file if one is asked for."""
    options = parse(Options, __doc__)
    result = run(options)
    print(table(result))
    if options.json:
        Path(options.json).write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
