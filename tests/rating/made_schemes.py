"""Schemes of made runs."""

from typing import Any

from rating.config.run_file import RunConfig
from rating.play.run import Run
from rating.schemes.base import Scheme


def scheme_of(environment: str, *policies: str, **keys: Any) -> Scheme:
    """Returns the scheme of an environment in a run of random policies with these names."""
    table = {
        "environment": [{"name": environment, **keys}],
        "policy": [{"name": name, "spec": "random"} for name in policies],
    }
    return Run(RunConfig.model_validate(table)).scheme(environment)
