"""Names of policies: what stands on a command line or in a run file, made into a policy.

``random``, ``minimax:depth=4``, ``human``, ``openai:MODEL``, ``package.module:factory``.
"""

import importlib
import importlib.util
from collections.abc import Callable, Mapping
from typing import Any

from agents.policy import READS, Policy
from llmarena_envs.core.options import OptionError, nearest, parse_options


def baselines(environment: str) -> dict[str, Callable[..., Policy]]:
    """Returns the scripted policies for an environment by name.

    Args:
        environment: module name such as ``tictactoe_v0``. The players of ``agents.baselines.<game>`` come before the
            general ones of the same name; an environment without such a module has the general ones only.
    """
    general = importlib.import_module("agents.baselines.general").BASELINES
    module = f"agents.baselines.{environment.rsplit('.', 1)[-1].rsplit('_v', 1)[0]}"
    if importlib.util.find_spec(module) is None:
        return dict(general)
    return {**general, **importlib.import_module(module).BASELINES}


def split_spec(spec: str) -> tuple[str, dict[str, Any]]:
    """Splits ``name:key=value,key=value`` into name and options.

    Values are read as integers, numbers or ``true`` and ``false`` where they look like one, else as text.
    """
    name, _, tail = spec.partition(":")
    if "=" not in tail:
        return spec, {}
    return name, parse_options(tail.split(","), f"policy {spec!r}")


def make_policy(spec: str, environment: str, options: Mapping[str, Any] | None = None) -> Policy:
    """Makes a new policy.

    Args:
        spec: name, with options after a colon, or ``openai:MODEL``, or ``package.module:factory``.
        environment: the environment it is to play, e.g. ``tictactoe_v0``.
        options: further options, which come before those in ``spec``.

    Raises:
        OptionError: if there is no such policy for the environment, or it does not take the options.
    """
    name, own = split_spec(spec)
    own = {**own, **(options or {})}
    kind, _, rest = name.partition(":")
    known = baselines(environment)
    factory: Callable[..., Policy]
    if name in known:
        factory = known[name]
    elif kind == "human" and not rest:
        from agents.human import HumanPolicy

        factory = HumanPolicy
    elif kind == "openai" and rest:
        from agents.llm import LLMPolicy

        factory, own = LLMPolicy, {"model": rest, **own}
    elif rest:
        factory = _import_factory(kind, rest, spec)
    else:
        choices = [*known, "human", "openai:MODEL", "package.module:factory"]
        raise OptionError(
            f"policy: expected one of {', '.join(choices)} for {environment}, got {spec!r}{nearest(name, choices)}"
        )
    try:
        policy = factory(**own)
    except TypeError as error:
        raise OptionError(f"policy {spec!r} does not take these options: {error}") from error
    reads = getattr(policy, "reads", "text")
    if not callable(policy) or reads not in READS:
        raise OptionError(f"policy {spec!r}: expected a callable that reads one of {READS}, got {policy!r} ({reads!r})")
    return policy


def _import_factory(module: str, attribute: str, spec: str) -> Callable[..., Policy]:
    try:
        target = importlib.import_module(module)
    except ImportError as error:
        raise OptionError(f"policy {spec!r}: cannot import {module!r} ({error})") from error
    factory = getattr(target, attribute, None)
    if not callable(factory):
        raise OptionError(f"policy {spec!r}: expected a callable {attribute!r} in {module}, got {factory!r}")
    return factory
