"""Expected cost of a row before it is played: matches, calls and tokens per model, estimated from scripted play."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents.models.prompts.conversation import Conversation
from agents.models.prompts.form import PromptForm, read_memory
from agents.models.prompts.serialisers import ROLES
from agents.play import play
from agents.player import Player
from agents.registry import make_policy
from agents.retelling import retell
from benchmarks.experiments.asking import REPLY_TOKENS
from benchmarks.experiments.jobs import Job
from llmarena_envs.catalogue import load_environment, make_environment, module_name
from rating.config.run_file import RunConfig
from rating.config.run_tables import EnvironmentConfig
from rating.play.run import Run
from rating.schedules.batches import Stop

SAMPLES = 3
"""Matches for estimating the length of prompts and matches, by random play or the policies in the table below."""

WRITERS = {"debate_v0": "verbose"}
"""Verbose policies for environments whose prompts consist mostly of the players' texts, by environment."""

_CHARACTERS_A_TOKEN = {"en": 4.0, "zh": 1.5}


@dataclass(frozen=True)
class Cost:
    """Expected cost of one policy in one environment.

    Attributes:
        environment: its name.
        alike: whether every policy has the same number of matches.
        least: matches until the run may stop.
        most: matches after which it stops.
        calls: replies requested in ``most`` matches.
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
    """Returns the cost of the policy with the most matches in each environment of a run."""
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


def describe_job(job: Job[Any]) -> str:
    """Returns a line with the expected cost of a job for a model."""
    calls = sum(case.batches for case in job.cases)
    read = written = 0.0
    for case in job.cases:
        prompt = case.first_prompt()
        read += case.batches * len(prompt.rules + prompt.text) / _CHARACTERS_A_TOKEN[case.language]
        written += case.batches * case.reply_tokens
    noun = "case" if len(job.cases) == 1 else "cases"
    return (
        f"{len(job.cases)} {noun} for each policy; for a model at least {_rounded(calls)} calls, about"
        f" {_rounded(math.ceil(read))} tokens in, {_rounded(math.ceil(written))} out"
    )


def _cost(config: RunConfig, item: EnvironmentConfig) -> Cost:
    schedule = Run(config).scheme(item.name).schedule()
    pool = config.pool(item.name)
    # The opponent of the scheme ``field`` plays more matches than a policy under test.
    tested = [name for name in pool if name != item.opponent] or pool
    enough = config.stop.stopping().rule.least
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
    """Returns the mean turns, characters read and characters written per match for every seat."""
    turns, read, written = (Counter[str]() for _ in range(3))
    history = load_environment(item.name).declaration.history
    spec = WRITERS.get(module_name(item.name), "random")
    for seed in range(SAMPLES):
        # Options that vary across deals, such as scripts: values are taken at equal distances.
        dealt = {name: values[seed * len(values) // SAMPLES] for name, values in item.by_deal.items()}
        env = make_environment(item.name, {**config.options(item.name), **dealt})
        agents = env.possible_agents
        settings = config.turn_settings(item.name)
        episode = play(env, {agent: make_policy(spec, item.name) for agent in agents}, seed, settings)
        readers = {agent: _Reader(history) for agent in agents}
        players = {agent: Player(reader) for agent, reader in readers.items()}
        for turn, number, observation in retell(env.unwrapped, episode.turns, seed, settings, players):
            reply = turn.attempts[number].reply
            turns[turn.agent] += 1
            read[turn.agent] += readers[turn.agent].hear(observation, reply)
            written[turn.agent] += len(reply)
        env.close()
    return [(turns[agent] / SAMPLES, read[agent] / SAMPLES, written[agent] / SAMPLES) for agent in agents]


class _Reader:
    """Counts the characters a model would read in a match with the environment's default options, without calling one.

    Args:
        history: as in ``LLMPolicy``.
    """

    def __init__(self, history: str) -> None:
        memory = read_memory(history, None, None, "cap", 8_000)
        self.wants_chat = memory.wants_chat
        self._conversation = Conversation(PromptForm(memory, "system", ROLES))

    def hear(self, observation: Mapping[str, Any], reply: str) -> int:
        """Returns the characters in the prompt of a turn, and records the reply."""
        sent = sum(len(message["content"]) for message in self._conversation.hear(observation))
        self._conversation.remember(reply)
        return sent

    def __call__(self, observation: Any) -> Any:
        raise NotImplementedError


def _rounded(number: int) -> str:
    """Writes a number with two significant digits."""
    if number < 100:
        return str(number)
    digits = 10 ** (len(str(number)) - 2)
    return f"{round(number / digits) * digits:,}"
