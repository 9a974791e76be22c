"""Rules for an environment before its first match: options, their documentation, the order of calls."""

import ast
import inspect
import re
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from llmarena_envs.core.text_env import TextEnv
from llmarena_envs.testing.trial import Trial, shown

_HEAD = re.compile(r"^\* (`\w+=[^`\n]*`(?:,\s++`\w+=[^`\n]*`)*+):", re.MULTILINE)
_DEFAULT = re.compile(r"`(\w+)=([^`\n]*)`")


def the_environment_is_made_with_its_options(trial: Trial) -> None:
    """``env_fn(**options)`` makes an environment, also with ``render_mode``; the ``language`` of the options has all texts."""
    for more in ({}, {"render_mode": "ansi"}):
        env = trial.make(**more)
        trial.expect(env.possible_agents, "possible_agents before reset()", env.possible_agents)


def arguments_are_documented(trial: Trial) -> None:
    """The docstring of the environment's module has a section ``### Arguments`` with every argument and its default.

    An item begins with one or more arguments, ``* `rounds=3`: number of rounds``; a default is a literal or the name of a
    constant of the module. Only existing arguments are documented.
    """
    init = type(trial.make().unwrapped).__init__
    arguments = {
        name: parameter.default
        for name, parameter in list(inspect.signature(init).parameters.items())[1:]
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    }
    module = sys.modules[init.__module__]
    page = inspect.cleandoc(module.__doc__ or "")
    section = re.split(r"^#{2,3} ", page.partition("### Arguments\n")[2], maxsplit=1, flags=re.MULTILINE)[0]
    documented = {name: text for head in _HEAD.findall(section) for name, text in _DEFAULT.findall(head)}
    where = f"'### Arguments' in the docstring of {init.__module__}"
    for name, default in arguments.items():
        item = f"`{name}={shown(default)}`"
        trial.expect(name in documented, f"{where} to have an item '* {item}: ...'", list(documented))
        trial.expect(_value(documented[name], module) == (type(default), default), f"{where}: {item}", documented[name])
    unknown = [name for name in documented if name not in arguments]
    trial.expect(not unknown, f"{where} to name arguments of the constructor only: {list(arguments)}", unknown)


def _value(text: str, module: ModuleType) -> tuple[type, Any] | None:
    """Returns type and value of a default: a literal, or the name of a constant of the module."""
    if hasattr(module, text):
        value = getattr(module, text)
    else:
        try:
            value = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            return None
    return type(value), value


CALLS: dict[str, Callable[[Any], Any]] = {
    "step(None)": lambda env: env.step(None),
    "last()": lambda env: env.last(),
    "agent_iter()": lambda env: next(iter(env.agent_iter()), None),
    "observe(agent)": lambda env: env.observe(env.possible_agents[0]),
}


def calls_before_reset_are_refused(trial: Trial) -> None:
    """Before ``reset``, the calls of a match raise an error that names it: ``env_fn`` applies an ``OrderWrapper``."""
    for name, call in CALLS.items():
        env = trial.make()
        try:
            call(env)
        except Exception as error:
            trial.expect("reset" in str(error), f"{name} to raise an error that names reset()", shown(error))
        else:
            trial.fail(f"{name} before reset() to be refused, e.g. by OrderWrapper", "no error")


def every_obs_type_can_be_observed(trial: Trial) -> None:
    """The environment also works with its other ``obs_types``, and the first observations are in their spaces."""
    raw = trial.make().unwrapped
    others = [obs_type for obs_type in raw.obs_types if obs_type != raw.obs_type] if isinstance(raw, TextEnv) else []
    for obs_type in others:
        env = trial.make(obs_type=obs_type)
        env.reset(seed=trial.seeds[0])
        for agent in env.possible_agents:
            observation, space = env.observe(agent), env.observation_space(agent)
            trial.expect(
                space.contains(observation), f"with obs_type={obs_type!r} a member of {space}", observation, agent
            )


RULES = (arguments_are_documented, calls_before_reset_are_refused)
