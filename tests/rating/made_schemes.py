"""Schemes of made runs and of made settings."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from llmarena_envs.core.declaration import Declaration
from rating.config.run_file import RunConfig
from rating.play.run import Run
from rating.schemes.base import Scheme
from rating.schemes.setting import Begun, EnvironmentSetting, Pool, Setting, Stopping

GROUPS = {"environment": EnvironmentSetting, "pool": Pool, "stopping": Stopping, "begun": Begun}


def scheme_of(environment: str, *policies: str, **keys: Any) -> Scheme:
    """Returns the scheme of an environment in a run of random policies with these names."""
    table = {
        "environment": [{"name": environment, **keys}],
        "policy": [{"name": name, "spec": "random"} for name in policies],
    }
    return Run(RunConfig.model_validate(table)).scheme(environment)


def made_setting(agents: int | Sequence[str] = 2, policies: Sequence[str] = ("a", "b"), **keys: Any) -> Setting:
    """Returns the setting of a made game; keys of its groups are given flat."""
    names = tuple(agents) if not isinstance(agents, int) else tuple(f"player_{seat}" for seat in range(agents))
    keys = {"name": "game_v0", "declaration": Declaration(), "agents": names, "policies": tuple(policies), **keys}
    groups = {
        name: group(**{each.name: keys.pop(each.name) for each in fields(group) if each.name in keys})
        for name, group in GROUPS.items()
    }
    return Setting(**groups, **keys)
