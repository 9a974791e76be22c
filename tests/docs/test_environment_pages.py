"""The module docstring of an environment is its documentation page and the source of the rules for models."""

import ast
import importlib
import inspect
import json
import re
from pathlib import Path
from typing import Any

import pytest
from gymnasium.spaces import Discrete

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


def test_the_script_writes_the_pages(tmp_path: Path) -> None:
    build_pages().main(tmp_path)
    for name in NAMES:
        assert (tmp_path / "environments" / f"{name}.md").read_bytes() == (
            DOCS / "environments" / f"{name}.md"
        ).read_bytes()


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


class FakeChatModel:
    """Answers like a chat model that picks one of the legal actions named in the last message."""

    def __init__(self) -> None:
        self.conversations: list[list[str]] = []

    def __call__(self, messages: list[str]) -> str:
        self.conversations.append(list(messages))
        legal = json.loads(messages[-1].rsplit("Legal actions: ", 1)[1])
        return f"I have thought about it.\nAction: {legal[0]}"


@pytest.mark.parametrize("name", NAMES)
def test_a_chat_agent_plays_by_the_docstring(name: str) -> None:
    """A match in the manner of PettingZoo's LangChain tutorial: docstring as system message, action by regular expression."""
    env: Any = importlib.import_module(f"llmarena_envs.{name}").env()
    env.reset(seed=1)
    model = FakeChatModel()
    returns = dict.fromkeys(env.possible_agents, 0.0)
    rules = _docstring(name)
    for agent in env.agent_iter():
        observation, reward, termination, truncation, info = env.last()
        returns[agent] += reward
        assert not info["illegal"]
        if termination or truncation:
            env.step(None)
        elif isinstance(env.action_space(agent), Discrete):
            legal = observation["action_mask"].nonzero()[0].tolist()
            reply = model([rules, f"{observation['text']}\nLegal actions: {legal}"])
            action = re.search(r"Action: (\d+)", reply)
            assert action is not None
            env.step(int(action.group(1)))
        else:
            env.step(env.unwrapped.random_action(agent, env.unwrapped.np_random))
    assert all(rules and messages[0] == rules for messages in model.conversations)
    assert set(returns) == set(env.possible_agents)
