"""The policies of SimulBench: scripted simulators of known quality, and policies with the settings of the paper."""

from collections.abc import Iterable, Sequence

import numpy as np

from agents.baselines.simulation import INFORMED
from agents.baselines.simulation.right_answers import ADVICE, has_engine, is_known
from agents.registry import split_spec
from benchmarks.experiments.pool import Scripted, pool
from benchmarks.experiments.row import RowOptions
from llmarena_envs.core.options import OptionError
from llmarena_envs.simulation.tasks import Task
from rating.config.run_file import RunConfig
from rating.config.run_tables import PolicyConfig

SIMULATION = "simulation_v0"

SCRIPTED: Scripted = {
    SIMULATION: (
        "perfect",
        "good=flawed:hard=0.2,stale=0.05,omission=0.05,chatter=0.1",
        "fair=flawed:hard=0.4,stale=0.1,arithmetic=0.1,format=0.1,chatter=0.1",
        "poor=flawed:hard=0.6,stale=0.2,arithmetic=0.1,out_of_character=0.1,format=0.2,chatter=0.2",
        "silent",
    )
}
"""The simulators, the best first.

Exact answers of ``good``, ``fair`` and ``poor``: 80, 60 and 20 %; to hard requests 64, 36 and 8 %.
"""

COLLECTED: Scripted = {SIMULATION: ("good=flawed:stale=0.05,omission=0.05",)}
"""The simulator in the dialogues for scripts: about two of three dialogues have no error, as in the paper."""

USER = "user"
JUDGES = ("exact",)

USER_TEMPERATURE = 1.2
"""Temperature of the user and of the task creator, as in the code of SimulBench (arXiv 2409.07641)."""

USER_TOKENS = 300
"""Maximum number of tokens of a request, as in that code."""

_MODEL = "openai:"


def as_role(spec: str, role: str, **settings: float) -> PolicyConfig:
    """Returns an unrated policy for a role; a model gets the given sampling settings, unless its spec has its own.

    Args:
        spec: the policy.
        role: name suffix in the run file, since the policy may play as itself too.
        **settings: options of language models.
    """
    name, own = split_spec(spec)
    missing = {key: value for key, value in settings.items() if key not in own}
    if not name.startswith(_MODEL) or not missing:
        return PolicyConfig(spec=spec, rated=False)
    return PolicyConfig(name=f"{spec} as {role}", spec=spec, options=missing, rated=False)


def with_staff(config: RunConfig, policy: PolicyConfig) -> RunConfig:
    """Returns a run with a further policy, unless it is in the pool already."""
    if policy.title in {other.title for other in config.policy}:
        return config
    return config.model_copy(update={"policy": [*config.policy, policy]})


def with_temperature(policy: PolicyConfig, temperature: float) -> PolicyConfig:
    """Returns a policy of the pool; a model gets the temperature, unless its spec has its own."""
    name, own = split_spec(policy.spec)
    if not name.startswith(_MODEL) or "temperature" in own:
        return policy
    return policy.model_copy(update={"options": {**policy.options, "temperature": temperature}})


def playable(tasks: Sequence[Task], turns: int, user: str, others: Iterable[str]) -> list[Task]:
    """Returns the tasks playable by all players; see ``is_playable``.

    Raises:
        OptionError: if no task is playable.
    """
    others = list(others)
    found = [task for task in tasks if is_playable(task, turns, user, others)]
    if not found:
        raise OptionError(
            f"tasks: expected one on which {user!r} can be the user, got none among {len(tasks)}; {ADVICE}"
        )
    return found


def is_playable(task: Task, turns: int, user: str, others: Iterable[str]) -> bool:
    """Whether every player can play its part in a dialogue.

    Args:
        task: the task; all players can play one with an engine.
        turns: of the dialogue.
        user: spec of the user; a scripted one makes the requests of shipped dialogues.
        others: specs of simulators and judges; scripted ones do not know the answers to the requests of other users.
    """
    if is_informed(user):
        return is_known(task, (task.task_description,), turns)
    return has_engine(task) or not any(map(is_informed, others))


def simulators(options: RowOptions, scripted: Scripted) -> list[str]:
    """Returns the specs of the simulators of a row."""
    return [policy.spec for policy in pool(options, [SIMULATION], scripted)]


def is_informed(spec: str) -> bool:
    """Whether a policy is a scripted one that needs right answers."""
    return split_spec(spec)[0] in INFORMED


def chosen(size: int, most: int, seed: int) -> list[int]:
    """Returns the sorted indices of randomly drawn cases.

    Args:
        size: number of cases.
        most: maximum number of drawn cases; 0 for all.
        seed: root seed.
    """
    if not most or most >= size:
        return list(range(size))
    return sorted(np.random.default_rng(seed).permutation(size)[:most].tolist())
