"""Warnings about the judges of a run: scripted judges of models, and judges of a player's family."""

from collections.abc import Iterator, Mapping

from agents.families import family_of
from agents.registry import is_model, is_scripted
from llmarena_envs.catalogue import load_environment
from rating.config.run_file import RunConfig
from rating.config.run_tables import EnvironmentConfig

JUDGE = "judge"
"""The role that scores players."""

_TOURNAMENT = "tournament"


def scripted_judge_warnings(config: RunConfig) -> list[str]:
    """Returns a warning for each environment in which scripted policies judge models."""
    found = []
    for item in config.environment:
        models = [name for name in config.pool(item.name) if is_model(config.find_policy(name).spec)]
        judges = [name for name in _judges(config, item) if is_scripted(config.find_policy(name).spec, item.name)]
        if models and judges:
            found.append(
                f"{item.name}: scripted judges ({', '.join(judges)}) score models ({', '.join(models)}): the scores say nothing"
                " about the models"
            )
    return found


def family_warnings(config: RunConfig, families: Mapping[str, str]) -> list[str]:
    """Returns a warning for each judge that is a player too, or of the same family as players.

    ``families`` holds further families, see ``agents.families``.
    """
    return [warning for item in config.environment for warning in _family_warnings(config, item, families)]


def _family_warnings(config: RunConfig, item: EnvironmentConfig, families: Mapping[str, str]) -> Iterator[str]:
    fixed = item.staff.get(JUDGE)
    if not fixed and item.tournament and item.tournament.exclude_family:
        return
    players = {name: _family(config, name, families) for name in config.pool(item.name)}
    for judge in _judges(config, item):
        family = _family(config, judge, families)
        related = [name for name, own in players.items() if name != judge and family and own == family]
        if related:
            yield f"{item.name}: judge {judge} is of the family ({family}) of {', '.join(related)}"
        if fixed and judge in players:
            yield f"{item.name}: judge {judge} is also a player"


def _family(config: RunConfig, name: str, families: Mapping[str, str]) -> str:
    return family_of(name, families) or family_of(config.find_policy(name).spec, families)


def _judges(config: RunConfig, item: EnvironmentConfig) -> list[str]:
    """Returns the judges of an environment: fixed ones, or the pool if a tournament chooses committees."""
    if fixed := item.staff.get(JUDGE):
        return list(dict.fromkeys(fixed))
    if item.scheme != _TOURNAMENT or load_environment(item.name).declaration.verdicts is None:
        return []
    excluded = item.tournament.exclude if item.tournament else []
    return [name for name in config.pool(item.name) if name not in excluded]
