"""Creation of policies by name, as used on the command line and in run files.

``random``, ``minimax:depth=4``, ``human``, ``PROVIDER/MODEL`` (``agents.providers``), ``openai:MODEL``,
``hf:PATH_OR_ID``, ``package.module:factory``; options follow after a colon, as in
``openai:MODEL:temperature=0.5,base_url=http://localhost:8000/v1``.
"""

import importlib
import importlib.util
import inspect
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from agents.player import Player
from agents.policy import Policy
from llmarena_envs.catalogue import NAMES, load_environment, module_name
from llmarena_envs.core.options import OptionError, check_choice, nearest, parse_options

if TYPE_CHECKING:
    from agents.models import ModelService

Factory = Callable[..., Policy]

_MODELS = {"openai": "agents.models.llm:LLMPolicy", "hf": "agents.models.local.policy:HFPolicy"}
_INSTALL_AS = {"torch": "llmarena-envs[local]", "transformers": "llmarena-envs[local]"}
_BEFORE_OPTIONS = re.compile(r":(?=\s*\w+\s*=)")


def baselines(environment: str) -> dict[str, Factory]:
    """Returns the scripted policies for an environment by name.

    Args:
        environment: module name such as ``tictactoe_v0``. Policies of ``agents.baselines.<game>`` replace general ones of the
            same name. A third-party environment has its own in a module ``baselines`` next to the module of its class:
            ``dilemma.baselines`` for a class in ``dilemma.env``.

    Raises:
        OptionError: if there is no such environment, or its policies cannot be imported.
    """
    environment = module_name(environment)
    general = dict(importlib.import_module("agents.baselines.general").BASELINES)
    raw_env = load_environment(environment)
    if raw_env.action_examples:  # text actions cannot be listed
        del general["first_legal"], general["mcts"]
    elif not raw_env.can_resample:
        del general["mcts"]
    if environment in NAMES:
        module = f"agents.baselines.{environment.rsplit('_v', 1)[0]}"
        return {**general, **importlib.import_module(module).BASELINES}
    if environment.startswith("openspiel/"):
        from agents.baselines import openspiel

        return {**general, **openspiel.baselines(raw_env)}
    return {**general, **_others_baselines(environment, raw_env.__module__)}


def _others_baselines(environment: str, module: str) -> dict[str, Factory]:
    """Returns the policies in the package of a third-party environment, if any."""
    package = module.rpartition(".")[0]
    name = f"{package}.baselines"
    if not package or importlib.util.find_spec(name) is None:
        return {}
    try:
        found = getattr(importlib.import_module(name), "BASELINES", {})
    except (Exception, SystemExit) as error:  # third-party code can raise anything on import
        raise OptionError(
            f"players of environment {environment!r} ({name}): {type(error).__name__}: {error}"
        ) from error
    if not isinstance(found, Mapping) or not all(
        isinstance(key, str) and callable(each) for key, each in found.items()
    ):
        raise OptionError(
            f"players of environment {environment!r} ({name}): expected BASELINES to be a table of policies by name,"
            f" got {found!r:.80}"
        )
    return dict(found)


def split_spec(spec: str) -> tuple[str, dict[str, Any]]:
    """Splits ``name:key=value,key=value`` into name and options.

    The name can hold colons; the options begin at the first key. Values are parsed as integers, numbers, ``true`` or ``false`` if
    possible, else kept as text. ``provider/model`` becomes ``openai:model`` with the options of the provider
    (``agents.providers``), and ``hf/PATH_OR_ID`` becomes ``hf:PATH_OR_ID``.

    Raises:
        OptionError: if the options have another form.
    """
    name, *given = _BEFORE_OPTIONS.split(spec, maxsplit=1)
    options = parse_options(given[0].split(","), f"policy {spec!r}") if given else {}
    if name.startswith("hf/"):
        return f"hf:{name.removeprefix('hf/')}", options
    if "/" not in name:
        return name, options
    from agents.providers import find_preset  # with pydantic, which takes long to import

    preset = find_preset(name)
    return (name, options) if preset is None else (f"openai:{preset.model}", {**preset.options, **options})


def names_module(spec: str) -> bool:
    """Returns whether the name of a policy is ``package.module:factory``."""
    kind, _, rest = split_spec(spec)[0].partition(":")
    return bool(rest) and kind not in _MODELS


def is_model(spec: str) -> bool:
    """Returns whether a policy is a built-in language model: ``PROVIDER/MODEL``, ``openai:MODEL`` or ``hf:PATH_OR_ID``."""
    kind, _, rest = split_spec(spec)[0].partition(":")
    return bool(rest) and kind in _MODELS


def is_scripted(spec: str, environment: str) -> bool:
    """Returns whether a policy is a scripted one of an environment."""
    return split_spec(spec)[0] in baselines(environment)


def make_policy(
    spec: str, environment: str, options: Mapping[str, Any] | None = None, *, service: "ModelService | None" = None
) -> Policy:
    """Creates a policy.

    Args:
        spec: name, with options after a colon, or ``PROVIDER/MODEL``, ``openai:MODEL``, ``hf:PATH_OR_ID``, or
            ``package.module:factory``.
        environment: the environment to play, e.g. ``tictactoe_v0``.
        options: further options; they take precedence over options in ``spec``.
        service: the language models of a run; by default each policy has its own service.

    Raises:
        OptionError: if there is no such policy for the environment, it does not accept the options, or a required package is not
            installed.
    """
    history = load_environment(environment).declaration.history
    policy = create_policy(spec, baselines(environment), environment, options, service=service, history=history)
    if Player(policy).wants_all_legal and not _is_enumerated(environment):
        games = ", ".join(name for name in NAMES if _is_enumerated(name))
        raise OptionError(
            f"policy {spec!r} chooses among the legal moves, which {environment} cannot list, since replies are free text there;"
            f" it plays {games}"
        )
    return policy


def create_policy(
    spec: str,
    scripted: Mapping[str, Factory],
    purpose: str,
    options: Mapping[str, Any] | None = None,
    *,
    service: "ModelService | None" = None,
    history: str | None = None,
) -> Policy:
    """Creates a policy without an environment, as ``make_policy`` does for one.

    Args:
        spec: as in ``make_policy``.
        scripted: scripted policies by name.
        purpose: what the policy is for, in error messages.
        options: as in ``make_policy``.
        service: as in ``make_policy``.
        history: default history of a language model.

    Raises:
        OptionError: as ``make_policy``.
    """
    name, own = split_spec(spec)
    own = {**own, **(options or {})}
    kind, _, rest = name.partition(":")
    try:
        if name in scripted:
            policy = _call(scripted[name], own, spec)
        elif name == "human":
            policy = _call(_human, own, spec)
        elif kind in _MODELS and rest:
            defaults: dict[str, Any] = {"model": rest, "service": service}
            if history is not None and not {"history_turns", "history_tokens"} & own.keys():
                defaults["history"] = history
            module, _, attribute = _MODELS[kind].partition(":")
            policy = _call(getattr(importlib.import_module(module), attribute), {**defaults, **own}, spec)
        elif rest and kind not in scripted:
            policy = _call(_import_factory(kind, rest, spec), own, spec)
        else:
            choices = [*scripted, "human", "PROVIDER/MODEL", "openai:MODEL", "hf:PATH_OR_ID", "package.module:factory"]
            raise OptionError(
                f"policy: expected one of {', '.join(choices)} for {purpose}, with options as in name:key=value, "
                f"got {spec!r}{nearest(kind, choices)}"
            )
    except ModuleNotFoundError as error:
        package = _INSTALL_AS.get(error.name or "", error.name)
        raise OptionError(
            f"policy {spec!r} needs {error.name!r}, which is not installed: pip install '{package}'"
        ) from error
    try:
        Player(policy)
    except OptionError as error:
        raise OptionError(f"policy {spec!r}: {error}") from error
    return policy


def _is_enumerated(environment: str) -> bool:
    """Returns whether the actions of an environment are enumerated, so that legal moves can be listed."""
    return not load_environment(environment).action_examples


def _call(factory: Factory, options: dict[str, Any], spec: str) -> Policy:
    """Calls the factory if it accepts the options."""
    parameters = inspect.signature(factory).parameters
    if not any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters.values()):
        for option in options:
            if not parameters:
                raise OptionError(f"policy {spec!r}: expected no options, got {option!r}")
            check_choice(f"policy {spec!r}: option", option, parameters)
    try:
        inspect.signature(factory).bind(**options)
    except TypeError as error:
        raise OptionError(f"policy {spec!r}: {error}; expected options for {list(parameters)}") from error
    return factory(**options)


def _human() -> Policy:
    from agents.human import HumanPolicy

    return HumanPolicy()


def _import_factory(module: str, attribute: str, spec: str) -> Factory:
    if not all(part.isidentifier() for part in module.split(".")):
        raise OptionError(f"policy {spec!r}: expected package.module:factory, got {module!r} for the module")
    try:
        target = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise  # the module exists and needs another package
        raise OptionError(
            f"policy {spec!r}: cannot import {module!r} ({error}); a module of your own must be installed, or stand in the "
            f"current directory or one of PYTHONPATH{nearest(module, ['openai', 'human'])}"
        ) from error
    factory = getattr(target, attribute, None)
    if not callable(factory):
        raise OptionError(
            f"policy {spec!r}: expected a callable {attribute!r} in {module}, got {factory!r}"
            f"{nearest(attribute, [name for name, value in vars(target).items() if callable(value) and name[0] != '_'])}"
        )
    return factory
