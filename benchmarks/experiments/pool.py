"""The policies of a row: the scripted ones of every game, and those named on the command line."""

import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from benchmarks.experiments.row import RowOptions
from llmarena_envs.catalogue import NAMES, module_name
from llmarena_envs.core.options import OptionError
from rating.cli.run import read_policies
from rating.config.run_file import RunConfig, explanation
from rating.config.run_tables import EnvironmentConfig, PolicyConfig, StopConfig

Scripted = Mapping[str, Sequence[str]]
"""Scripted policies by environment: each a spec, or ``NAME=SPEC``."""

_NAMED = re.compile(r"(?P<name>[a-z_]+)=(?P<spec>.+)")


def plan_run(
    options: RowOptions,
    environments: Sequence[EnvironmentConfig],
    *,
    stop: Mapping[str, Any],
    scripted: Scripted,
    **settings: Any,
) -> RunConfig:
    """Returns a run with the scripted policies and those named on the command line.

    Args:
        options: of the row.
        environments: environments of the run.
        stop: keys of ``StopConfig``; a fixed number of matches raises the limit, unless the limit is given too.
        scripted: the scripted policies of each environment.
        **settings: further keys of the run file; the schedule is a round robin, as in the papers, by default.

    Raises:
        OptionError: if no policy remains, or a setting has no valid value.
    """
    policies = _some_pool(options, [item.name for item in environments], scripted)
    limit = {"max_matches": max(stop["matches"], StopConfig().max_matches)} if "matches" in stop else {}
    try:
        return RunConfig(
            environment=list(environments),
            policy=policies,
            seed=options.seed,
            workers=options.workers,
            stop=StopConfig(**{**limit, **stop}),
            **{"schedule": "round_robin", **settings},
        )
    except ValidationError as error:
        raise OptionError(explanation(error)) from error


def job_pool(options: RowOptions, job: str, scripted: Scripted) -> list[PolicyConfig]:
    """Returns the policies of a job, by name.

    Raises:
        OptionError: if no policy remains.
    """
    return sorted(_some_pool(options, [job], scripted), key=lambda policy: policy.title)


def _some_pool(options: RowOptions, environments: Sequence[str], scripted: Scripted) -> list[PolicyConfig]:
    policies = pool(options, environments, scripted)
    if not policies:
        raise OptionError("policy: expected somebody to measure; name a policy with --policy, or leave --alone out")
    return policies


def pool(options: RowOptions, environments: Sequence[str], scripted: Scripted) -> list[PolicyConfig]:
    """Returns the policies of a run: scripted ones first, each in the environments it plays."""
    plays: dict[tuple[str, str], list[str]] = {}
    for environment in environments if not options.alone else ():
        for entry in scripted[environment]:
            named = _NAMED.fullmatch(entry)
            plays.setdefault((named["name"], named["spec"]) if named else ("", entry), []).append(environment)
    specs, restricted = read_policies(list(options.policy), [*NAMES])
    for spec in specs:
        wanted = restricted.get(spec, environments)
        own = [name for name in environments if name in wanted or module_name(name) in wanted]
        if own:
            plays["", spec] = own
        else:
            print(f"  {spec} is left out: it is named for {', '.join(wanted)} only", file=sys.stderr)
    return [
        PolicyConfig(name=name, spec=spec, environments=own if len(own) < len(environments) else [])
        for (name, spec), own in plays.items()
    ]
