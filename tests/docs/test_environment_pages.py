"""The module docstring of an environment is its documentation page and the source of the rules for models."""

import ast
import importlib
import inspect
import re

import pytest

from llmarena_envs.catalogue import CATALOGUE
from tests.docs.pages import DOCS, build_pages

NAMES = [entry.name for entry in CATALOGUE]
HEADINGS = (
    "### Arguments",
    "### Observation Space",
    "### Action Space",
    "### Rewards",
    "### Episode End",
    "### Version History",
)
ROWS = ("Creation", "Agents", "Actions", "Parallel API", "Manual control", "Action values", "Observation")


def _docstring(name: str) -> str:
    module = inspect.getmodule(importlib.import_module(f"llmarena_envs.{name}").env().unwrapped)
    assert module is not None
    return module.__doc__ or ""


def test_every_page_belongs_to_an_environment() -> None:
    assert sorted(path.stem for path in (DOCS / "environments").glob("*.md")) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_page_has_the_agreed_form(name: str) -> None:
    lines = build_pages().page(name).splitlines()
    assert re.fullmatch(r"# \w.*[^.]", lines[0])
    assert [line for line in lines if line in HEADINGS] == list(HEADINGS)
    assert [line.split("|")[1].strip() for line in lines[4:] if line.startswith("|")][: len(ROWS)] == list(ROWS)
    assert f"{name}.env()" in lines[4]


@pytest.mark.parametrize("name", NAMES)
def test_the_page_names_every_argument_with_its_default(name: str) -> None:
    raw_env = importlib.import_module(f"llmarena_envs.{name}").raw_env
    section = _docstring(name).split("### Arguments")[1].split("###")[0]
    heads = "".join(re.findall(r"^\* (`[^:]+):", section, re.MULTILINE))
    documented = {key: ast.literal_eval(value) for key, value in re.findall(r"`(\w+)=([^`]+)`", heads)}
    parameters = inspect.signature(raw_env.__init__).parameters
    assert documented == {key: each.default for key, each in parameters.items() if key != "self"}
