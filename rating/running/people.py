"""Which of the names in a run are persons: what they said may be private, and they were asked until they made a legal move."""

from collections.abc import Mapping
from typing import Any

from agents.models.service import ModelService
from agents.player import Player
from agents.registry import make_policy
from llmarena_envs.core.options import OptionError
from rating.records.store import Store
from rating.running import run_directory
from rating.running.run_file import PERSON, RunConfig


def people(config: RunConfig, store: Store) -> frozenset[str]:
    """Returns the names of all persons who have ever played or served, also of those whom the run file names no more.

    Args:
        config: the run.
        store: what was recorded of it.

    Raises:
        RunError: if the record does not say who played.
    """
    environments = [item.name for item in config.environment]
    specs: dict[str, tuple[str, Mapping[str, Any]]] = {
        name: (player["spec"], {key: value for key, value in player.items() if key != "spec"})
        for name, player in run_directory.players(store).items()
    }
    for environment in environments:
        for name in config.seated(environment):
            policy = config.find_policy(name)
            specs[name] = policy.spec, policy.options
    found = {name for name, (spec, options) in specs.items() if _is_person(spec, options, environments)}
    return frozenset({PERSON, *found})


def _is_person(spec: str, options: Mapping[str, Any], environments: list[str]) -> bool:
    if spec == PERSON:
        return True
    service = ModelService(offline=True)
    for environment in environments:
        try:
            return Player(make_policy(spec, environment, options, service=service)).is_person
        except OptionError:  # it does not play here, or its package is gone
            continue
    return False
