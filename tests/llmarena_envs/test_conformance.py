"""Every environment of the catalogue keeps every rule of the conformance suite, under several option sets."""

import importlib
import inspect
from pathlib import Path
from typing import Any

import pettingzoo
import pytest

import llmarena_envs
from llmarena_envs.catalogue import CATALOGUE, Entry, load_environment
from llmarena_envs.core.order import OrderWrapper
from llmarena_envs.core.text_env import TextEnv
from llmarena_envs.testing import actions, check_environment
from llmarena_envs.testing.time_limit import interrupted_after
from llmarena_envs.testing.trial import Trial
from tests.llmarena_envs.option_sets import option_sets

NAMES = [entry.name for entry in CATALOGUE]
CASES = [(entry, options) for entry in CATALOGUE for options in option_sets(entry.name).OPTION_SETS]

CONTEST: dict[str, Any] = {"reward_range": (-1, 1), "zero_sum": True}
ANNOUNCED: dict[str, dict[str, Any]] = {
    "tictactoe_v0": CONTEST,
    "connect_four_v0": CONTEST,
    "idiom_solitaire_v0": CONTEST,
    "debate_v0": CONTEST,
    "undercover_v0": {"reward_range": (-1, 1)},
    "hanabi_v0": {"reward_range": (-1, 25)},
    "writer_editor_v0": {"reward_range": (-1, 10)},
    "simulation_v0": {"reward_range": (-1, 10)},
}
"""Documented properties of the rewards of these environments, under any options."""


def announced(name: str, options: dict[str, Any]) -> dict[str, Any]:
    """Returns the known properties of rewards; chips are zero-sum, their signs need not be."""
    if name == "holdem_v0":
        return {"zero_sum": options.get("reward") != "win"}
    return ANNOUNCED.get(name, {})


VECTORS = ("tictactoe_v0", "bid_v0", "holdem_v0")
"""Games whose first option set with vectors is checked by default too."""


def is_quick(name: str, options: dict[str, Any]) -> bool:
    """Says whether an option set is the first of its game, or the first with vectors of a game in ``VECTORS``."""
    sets = option_sets(name).OPTION_SETS
    vectors = [each for each in sets if each.get("obs_type") == "vector" and name in VECTORS]
    return any(options is each for each in (*sets[:1], *vectors[:1]))


def case(entry: Entry, options: dict[str, Any]) -> Any:
    """Returns a parameter set; all but the quick ones are slow."""
    marks = () if is_quick(entry.name, options) else pytest.mark.slow
    return pytest.param(entry, options, id=f"{entry.name}-{options}", marks=marks)


def first_of_its_language(entry: Entry, options: dict[str, Any]) -> bool:
    """Says whether this is the first option set of a game and language."""
    language = options.get("language")
    return next(each for each in CASES if each[0] is entry and each[1].get("language") == language)[1] is options


@pytest.mark.parametrize(("entry", "options"), [case(*each) for each in CASES])
def test_the_conformance_suite_passes(entry: Entry, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    # Very long replies have a test of their own, because only the grammar decides what becomes of them.
    monkeypatch.setattr(actions, "JUNK_TEXTS", actions.SHORT_JUNK)
    module = importlib.import_module(f"llmarena_envs.{entry.name}")
    check_environment(
        module.env,
        options=options,
        parallel_env_fn=module.parallel_env if entry.simultaneous else None,
        seeds=range(2),
        **announced(entry.name, options),
    )


@pytest.mark.slow_except(1)
@pytest.mark.parametrize(
    ("entry", "options"),
    [pytest.param(*each, id=f"{each[0].name}-{each[1]}") for each in CASES if first_of_its_language(*each)],
)
def test_very_long_replies_raise_only_invalid_reply(entry: Entry, options: dict[str, Any]) -> None:
    trial = Trial(importlib.import_module(f"llmarena_envs.{entry.name}").env, None, options, range(2))
    with interrupted_after(60):
        actions.junk_replies_raise_only_invalid_reply(trial)


@pytest.mark.parametrize("name", NAMES)
def test_the_option_sets_cover_every_option(name: str) -> None:
    raw_env = importlib.import_module(f"llmarena_envs.{name}").raw_env
    cases = [*option_sets(name).OPTION_SETS, *option_sets(name).PLAYTHROUGHS.values()]
    used = {(option, value) for options in cases for option, value in options.items() if isinstance(value, str)}
    assert ("language", "zh") in used
    assert ("obs_type", "vector") in used or "vector" not in raw_env.obs_types
    options = set(inspect.signature(raw_env.__init__).parameters) - {"self", "render_mode"}
    if "vector" not in raw_env.obs_types:
        options.discard("obs_type")
    assert options == {option for case in cases for option in case}


def test_every_module_of_an_environment_is_in_the_catalogue() -> None:
    modules = sorted(path.stem for path in Path(llmarena_envs.__file__).parent.glob("*_v[0-9].py"))
    assert modules == sorted([*NAMES, "openspiel_v0"])
    assert len(set(NAMES)) == len(NAMES)


@pytest.mark.parametrize("entry", CATALOGUE, ids=NAMES)
def test_every_environment_is_made_by_module_and_by_registry(entry: Entry) -> None:
    module = importlib.import_module(f"llmarena_envs.{entry.name}")
    assert isinstance(pettingzoo.make("aec", entry.registry_id), OrderWrapper)
    env = module.env()
    assert isinstance(env.unwrapped, TextEnv)
    assert type(env.unwrapped) is module.raw_env
    assert env.metadata["name"] == entry.name
    assert env.metadata["is_parallelizable"] == entry.simultaneous == hasattr(module, "parallel_env")
    if entry.simultaneous:
        parallel = pettingzoo.make("parallel", entry.registry_id)
        assert parallel.possible_agents == module.parallel_env().possible_agents == env.possible_agents


@pytest.mark.parametrize("entry", CATALOGUE, ids=NAMES)
def test_rated_options_make_an_environment(entry: Entry) -> None:
    env = importlib.import_module(f"llmarena_envs.{entry.name}").env(
        **load_environment(entry.name).declaration.rated_options
    )
    env.reset(seed=0)
    assert load_environment(entry.name).declaration.abilities
    assert env.agents
