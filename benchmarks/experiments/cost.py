"""What a row will cost before it is played: matches, calls and tokens of a model in it, estimated from scripted play."""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from agents.play import play
from agents.records import Turn
from agents.registry import make_policy
from llmarena_envs.catalogue import load_environment, make_environment, module_name
from rating.running.contests import make_scheme
from rating.running.run_file import RunConfig
from rating.running.run_tables import EnvironmentConfig
from rating.schedules.schedule import Stop

SAMPLES = 3
"""Matches from which the length of prompts and matches is estimated: of random play, or of those who write at length."""

WRITERS = {"debate_v0": "verbose"}
"""By environment whose prompts are mostly what players have written: a policy that writes as much as it may, as models do."""

REPLY_TOKENS = 150
"""Tokens that a model is taken to write in a reply at least, its reasoning included."""

_CHARACTERS_A_TOKEN = {"en": 4.0, "zh": 1.5}


@dataclass(frozen=True)
class Cost:
    """What one policy does in one environment.

    Attributes:
        environment: its name.
        alike: whether every policy has as many matches.
        least: matches until the run may stop.
        most: matches after which it stops.
        calls: replies asked for in ``most`` matches.
        tokens_in: tokens read in them.
        tokens_out: tokens written in them.
    """

    environment: str
    alike: bool
    least: int
    most: int
    calls: int
    tokens_in: int
    tokens_out: int


def expected_costs(config: RunConfig) -> list[Cost]:
    """Returns what a policy that plays everything costs in each environment of a run: the one that plays most."""
    return [_cost(config, item) for item in config.environment]


def describe(costs: Sequence[Cost]) -> list[str]:
    """Returns a line for each environment."""
    lines = []
    for cost in costs:
        matches = f"{cost.most}" if cost.least >= cost.most else f"{cost.least} to {cost.most}"
        noun = "match" if matches == "1" else "matches"
        whose = "of each policy" if cost.alike else "of the policy that has most, those included in which it serves"
        about = "about" if cost.least >= cost.most else "at most about"
        lines.append(
            f"{cost.environment}: {matches} {noun} {whose}; for a model {about} {_rounded(cost.calls)} calls,"
            f" {_rounded(cost.tokens_in)} tokens in, {_rounded(cost.tokens_out)} out"
        )
    return lines


def _cost(config: RunConfig, item: EnvironmentConfig) -> Cost:
    schedule = make_scheme(config, item.name).schedule()
    pool = config.pool(item.name)
    # Whoever is the field of the others plays more than is asked of a policy under test.
    tested = [name for name in pool if name != item.opponent] or pool
    enough = config.stop.min_matches
    matches = Counter[str]()
    seats: dict[str, Counter[int]] = {name: Counter() for name in tested}
    least = 0
    while not isinstance(batch := schedule.next_batch(), Stop):
        for match in batch:
            for name in set(match.policies) & set(tested):
                matches[name] += 1
                seats[name].update(seat for seat, policy in enumerate(match.policies) if policy == name)
        if not least and min(matches[name] for name in tested) >= enough:
            least = max(matches.values())
    costly = max(tested, key=lambda name: (sum(seats[name].values()), name))
    lengths = _lengths(config, item)
    calls, read, written = (
        sum(count * lengths[seat][part] for seat, count in seats[costly].items()) for part in range(3)
    )
    most = matches[costly]
    waits = (
        load_environment(item.name).declaration.scheme == "duels" if not item.scheme else bool(config.stop.half_width)
    )
    language = str(config.options(item.name).get("language", "en"))
    return Cost(
        item.name,
        len({matches[name] for name in tested}) == 1 or waits,
        least if waits and least else most,
        most,
        math.ceil(calls),
        math.ceil(read / _CHARACTERS_A_TOKEN[language]),
        math.ceil(max(calls * REPLY_TOKENS, written / _CHARACTERS_A_TOKEN[language])),
    )


def _lengths(config: RunConfig, item: EnvironmentConfig) -> list[tuple[float, float, float]]:
    """Returns, for every seat, mean turns, characters read and characters written in a match."""
    turns, read, written = (defaultdict[int, float](float) for _ in range(3))
    history = load_environment(item.name).declaration.history
    spec = WRITERS.get(module_name(item.name), "random")
    for seed in range(SAMPLES):
        # Of options that change from deal to deal, such as scripts, the values are taken at equal distances.
        dealt = {name: values[seed * len(values) // SAMPLES] for name, values in item.by_deal.items()}
        env = make_environment(item.name, {**config.options(item.name), **dealt})
        agents = list(env.possible_agents)
        episode = play(
            env, {agent: make_policy(spec, item.name) for agent in agents}, seed, config.turn_settings(item.name)
        )
        for seat, agent in enumerate(agents):
            own = [turn for turn in episode.turns if turn.agent == agent]
            rules = len(env.unwrapped.observe(agent)["rules"])
            turns[seat] += len(own) / SAMPLES
            read[seat] += _read(own, rules, history) / SAMPLES
            written[seat] += sum(len(turn.attempts[-1].reply) for turn in own) / SAMPLES
        env.close()
    return list(zip(turns.values(), read.values(), written.values(), strict=True))


def _read(turns: Sequence[Turn], rules: int, history: str) -> int:
    """Returns the characters a player is sent over a match; with its full history, everything said before at every turn."""
    sent = before = 0
    for turn in turns:
        sent += rules + before + len(turn.read)
        if history == "full":
            before += len(turn.read) + len(turn.attempts[-1].reply)
    return sent


def _rounded(number: int) -> str:
    """Writes a number with two digits that count."""
    if number < 100:
        return str(number)
    digits = 10 ** (len(str(number)) - 2)
    return f"{round(number / digits) * digits:,}"
