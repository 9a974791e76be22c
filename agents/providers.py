"""Presets of model servers: ``provider/model``, such as ``openai/gpt-5``, in place of an address, a key variable and parameters.

The table is ``providers.toml``. A file of the same form, whose path is in the environment variable ``LLMARENA_PROVIDERS``, adds
providers or replaces them.
"""

import os
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from llmarena_envs.core.options import OptionError

VARIABLE = "LLMARENA_PROVIDERS"
"""Environment variable with the path of the user's own table."""


REASONING_TOKENS = 16_000
"""``max_tokens`` of reasoning models."""


class Provider(BaseModel):
    """A model server.

    Attributes:
        base_url: address; ``${NAME}`` stands for an environment variable.
        api_key_env: environment variable with the key.
        key: whether the server needs a key.
        docs: page of its documentation.
        max_tokens_field: request field for the maximum number of tokens of a reply.
        reasoning: models that need room for reasoning tokens: names, or beginnings of names followed by ``*``.
        no_temperature: models that take no temperature.
        options: further options of ``LLMPolicy`` for all its models.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    base_url: str = Field(min_length=1)
    api_key_env: str = Field(min_length=1)
    key: Literal["required", "optional"] = "required"
    docs: str = ""
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    reasoning: list[str] = Field(default_factory=list)
    no_temperature: list[str] = Field(default_factory=list)
    options: Mapping[str, Any] = Field(default_factory=dict)

    def options_of(self, model: str) -> dict[str, Any]:
        """Returns the options of ``LLMPolicy`` for a model."""
        found: dict[str, Any] = {name: getattr(self, name) for name in ("base_url", "api_key_env", "max_tokens_field")}
        if _suits(model, self.reasoning):
            found["max_tokens"] = REASONING_TOKENS
        if _suits(model, self.no_temperature):
            found["temperature"] = "default"
        return {**found, **self.options}


def _suits(model: str, names: Sequence[str]) -> bool:
    return any(model.startswith(name[:-1]) if name.endswith("*") else model == name for name in names)


class Preset(NamedTuple):
    """A model of a provider.

    Attributes:
        model: name of the model on the server.
        options: options of ``LLMPolicy``.
    """

    model: str
    options: dict[str, Any]


def find_preset(spec: str) -> Preset | None:
    """Returns the preset of ``provider/model``, or ``None`` if the text before the slash is no provider.

    Raises:
        OptionError: if the user's own table is invalid.
    """
    name, _, model = spec.partition("/")
    provider = providers().get(name)
    return Preset(model, provider.options_of(model)) if provider is not None and model else None


def needs_key(base_url: str) -> bool:
    """Returns whether an address belongs to a provider without free access."""
    return any(provider.base_url == base_url and provider.key == "required" for provider in providers().values())


def providers() -> dict[str, Provider]:
    """Returns all providers by name.

    Raises:
        OptionError: if the user's own table is invalid.
    """
    return _read(os.environ.get(VARIABLE, ""))


@cache
def _read(own: str) -> dict[str, Provider]:
    text = (resources.files("agents") / "providers.toml").read_text(encoding="utf-8")
    tables = tomllib.loads(text)
    if own:
        try:
            tables |= tomllib.loads(Path(own).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise OptionError(f"{VARIABLE}: expected the path of a TOML file, got {own!r}: {error}") from error
    found = {}
    for name, table in tables.items():
        try:
            found[name] = Provider.model_validate(table)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, (name, *first["loc"])))
            raise OptionError(f"{VARIABLE}: {own}: {where}: {first['msg'].lower()}") from error
    return found
