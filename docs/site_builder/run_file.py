"""The page of the run file, made of the tables that check it."""

import inspect
import json
import re
from collections import deque
from collections.abc import Iterable
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from agents.turn import TurnSettings
from llmarena_envs.core.declaration import Declaration
from rating.config.run_file import Preset, RunConfig, preset_turns
from rating.config.run_tables import EnvironmentConfig, TurnsConfig
from rating.schemes.registry import SCHEMES
from site_builder.markdown import table

_INTRODUCTION = """# The run file

Generated from the validation code by `python docs/build_pages.py`. Unknown keys and values of another type are refused, and
play begins only after all environments and policies of the file were created. The
[quickstart](../quickstart.md#rate-a-language-model) has an example. See also [models and their
options](../models.md#options), [prices and budgets](../models.md#costs), [stop rules](../schedules.md#stopping-rules),
[schedules](../schedules.md), [tournaments](../tournaments.md), [ways of
comparing](../environment_guide.md#rating-schemes), [batches that run
ahead](../performance.md#filling-many-slots) and [changes to a run in
progress](../running.md#changing-a-run-in-progress).

The same environment can be played twice in one run, with different options and a label after `#`: `tictactoe_v0#hint` and
`tictactoe_v0#no_hint`. Both are played on the same deals. Without a run file, `--policy minimax@tictactoe_v0,connect_four_v0`
names a policy that plays only some of the environments.
"""

_DOCUMENTED_IN: dict[type, type] = {TurnsConfig: TurnSettings}
"""Tables whose keys are explained where they are used."""

_CHOICES: dict[tuple[type, str], Iterable[str]] = {(EnvironmentConfig, "scheme"): SCHEMES}
"""Names that keys take which are checked elsewhere."""

_PRESETS = """The defaults are those of the preset. For `unparsable` and `illegal` of `standard`, and `unparsable` and `reasks` of
`llmarena`, an environment can declare others; a run file overrides these too.
"""

_NAMES = {str: "text", int: "integer", float: "number", bool: "true or false", dict: "table", list: "list"}


def page() -> str:
    """Returns the page, as Markdown: every table once, those at the top of the file before those within others."""
    paths: dict[type[BaseModel], str] = {RunConfig: ""}
    titles = {"": "The whole run"}
    parts = [_INTRODUCTION]
    waiting: deque[type[BaseModel]] = deque([RunConfig])
    while waiting:
        model = waiting.popleft()
        path = paths[model]
        meanings = _meanings(_DOCUMENTED_IN.get(model, model))
        rows = []
        for name, field in model.model_fields.items():
            key = field.alias or name
            inner, listed = _model_in(field.annotation)
            if inner is not None and inner not in paths:
                paths[inner] = f"{path}.{key}" if path else key
                titles[paths[inner]] = f"`[[{paths[inner]}]]`" if listed else f"`[{paths[inner]}]`"
                waiting.append(inner)
            kind = _written(_type_of(model, name, field), field.metadata)
            if inner is not None:
                kind = f"[{'tables' if listed else 'table'}](#{paths[inner].replace('.', '')})"
            defaults = _of_presets(name) if model is TurnsConfig else [_default(field)]
            rows.append((f"`{key}`", kind, *defaults, meanings[name]))
        summary = _plain((inspect.getdoc(model) or "").partition("Attributes:")[0])
        heads = [f"default, `{name}`" for name in get_args(Preset)] if model is TurnsConfig else ["default"]
        parts += [f"## {titles[path]}\n", f"{summary}\n", *([_PRESETS] if model is TurnsConfig else [])]
        parts.append(table(("key", "type", *heads, "meaning"), rows) + "\n")
    return "\n".join(parts)


def _type_of(model: type[BaseModel], name: str, field: FieldInfo) -> Any:
    """Returns the type of a key, including allowed names."""
    choices = _CHOICES.get((model, name))
    return Literal[tuple(choices)] if choices else field.annotation


def _of_presets(name: str) -> list[str]:
    """Returns what each preset has for a key of ``[turns]``, as the file writes it."""
    return [f"`{json.dumps(getattr(preset_turns(preset, Declaration()), name))}`" for preset in get_args(Preset)]


def _meanings(documented: type) -> dict[str, str]:
    """Returns the description of each attribute in a docstring in Google style."""
    section = (inspect.getdoc(documented) or "").partition("Attributes:\n")[2]
    found: dict[str, list[str]] = {}
    for line in section.splitlines():
        if line and not line.startswith(" "):
            break
        head = re.match(r" {4}(\w+): (.*)", line)
        if head:
            found[head[1]] = [head[2]]
        elif found and line.strip():
            found[[*found][-1]].append(line.strip())
    return {name: _plain(" ".join(lines)) for name, lines in found.items()}


def _plain(text: str) -> str:
    """Returns a docstring's text as Markdown on one line."""
    return " ".join(text.replace("``", "`").split())


def _model_in(annotation: Any) -> tuple[type[BaseModel] | None, bool]:
    """Returns the table that a key holds, and whether it is a list of them; ``None`` where it holds something else."""
    if inspect.isclass(annotation) and issubclass(annotation, BaseModel):
        return annotation, False
    for each in get_args(annotation):
        inner, _ = _model_in(each)
        if inner is not None:
            return inner, get_origin(annotation) is list
    return None, False


def _written(annotation: Any, metadata: list[Any] | None = None) -> str:
    """Returns a type in words."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _written(arguments[0], [*arguments[1:], *(metadata or [])])
    if origin in (Union, UnionType):
        return " or ".join(_written(each, metadata) for each in arguments if each is not type(None))
    if origin is Literal:
        return ", ".join(f'`"{each}"`' for each in arguments)
    if origin is list:
        return f"list of {_plural(_written(arguments[0]))}"
    if origin is dict:
        return f"table of {_plural(_written(arguments[1]))}"
    if annotation is Any:
        return "any value"
    return _NAMES.get(annotation, getattr(annotation, "__name__", str(annotation))) + _bounds(metadata or [])


def _plural(words: str) -> str:
    plurals = {"text": "texts", "number": "numbers", "any value": "values"}
    return plurals.get(words, words.replace("list of", "lists of"))


def _bounds(metadata: list[Any]) -> str:
    """Returns the allowed range of a number, in words."""
    words = []
    for bound in [each for item in metadata for each in getattr(item, "metadata", [item])]:
        for name, text in (("ge", "from"), ("gt", "above"), ("le", "to"), ("lt", "below")):
            value = getattr(bound, name, None)
            if value is not None:
                words.append(f"{text} {value}")
    return f" {' '.join(words)}" if words else ""


def _default(field: FieldInfo) -> str:
    """Returns the default of a key in the syntax of the file; empty for none, or for a table."""
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    if value is None or isinstance(value, BaseModel) or value in ("", [], {}):
        return ""
    return f"`{json.dumps(value)}`"
