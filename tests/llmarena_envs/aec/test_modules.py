"""AEC environments of any module: what they need, and the errors of those that lack it."""

import copy
import pickle
import sys

import numpy as np
import pytest
from gymnasium.error import DependencyNotInstalled

from llmarena_envs.adapters import load_adapted
from llmarena_envs.aec import classes
from llmarena_envs.aec.inner import AecError
from llmarena_envs.aec.listing import GAMES
from llmarena_envs.aec.rendering.observed import observed
from llmarena_envs.catalogue import is_known
from llmarena_envs.core.grid import text_of
from llmarena_envs.core.options import OptionError
from llmarena_envs.testing import NEED_RESAMPLE, check_environment
from rating.store import environments
from tests.llmarena_envs.aec import elimination

NAME = f"aec/{elimination.__name__}"

BASE = "from tests.llmarena_envs.aec.elimination import *\n"


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Returns a function that writes a module and returns its name as an environment."""
    monkeypatch.syspath_prepend(tmp_path)

    def write(name: str, text: str) -> str:
        tmp_path.joinpath(f"{name}.py").write_text(text)
        return f"aec/{name}"

    return write


def make(name, **options):
    return load_adapted(name).env(**options)


def test_module_keeps_every_rule_of_the_suite():
    check_environment(load_adapted(NAME).env, options={"max_turns": 60}, seeds=range(2), skip=NEED_RESAMPLE)


@pytest.mark.parametrize("seed", range(4))
def test_module_gives_the_rewards_of_last(seed):
    ours, theirs = make(NAME, players=4), elimination.env(players=4)
    ours.reset(seed=seed)
    theirs.reset(seed=ours.unwrapped.game.seed)
    rng = np.random.default_rng(seed)
    received = dict.fromkeys(theirs.possible_agents, 0.0)
    for agent in theirs.agent_iter(1000):
        _, reward, terminated, _, info = theirs.last()
        received[agent] += reward
        if terminated:
            theirs.step(None)
            continue
        assert agent == ours.agent_selection
        assert (ours.observe(agent)["action_mask"] == info["action_mask"]).all()
        action = int(rng.choice(np.flatnonzero(info["action_mask"])))
        ours.step(action)
        theirs.step(action)
    assert {agent: ours.unwrapped.ending(agent).reward for agent in received} == received


def test_module_copies_replay_the_match():
    env = make(NAME)
    env.reset(seed=3)
    for _ in range(3):
        env.step(0)
    game = env.unwrapped.game
    for twin in (copy.copy(game), copy.deepcopy(game), pickle.loads(pickle.dumps(game))):
        assert twin.view("player_1") == game.view("player_1")
        twin.apply((twin.view(twin.to_move[0]).legal[-1],))
        assert twin.rewards != game.rewards


def test_module_text_shows_the_observation_or_the_rendering():
    env = make(NAME, rules="Empty your pile.")
    env.reset(seed=3)
    piles = list(env.unwrapped.game.inner.env.piles.values())
    observation = env.observe("player_0")
    assert observation["rules"].startswith("Empty your pile.\n")
    assert f"observation: 1 number, non-zero: [0] = {piles[0]}\n" in observation["text"]
    rendered = make(NAME, ansi=True)
    rendered.reset(seed=3)
    assert f"piles: {piles}\n" in rendered.observe("player_0")["text"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 1", "expected a module with env or raw_env"),
        ("1 / 0", "ZeroDivisionError on import"),
        ("def env(): return 3", "return an AEC environment, got int"),
        (BASE + "raw_env._info = lambda self, agent: {}", "expected an action_mask"),
        (BASE + "raw_env._info = lambda self, agent: {'action_mask': [1]}", r"of 3 numbers, got the shape \(1,\)"),
        (BASE + "raw_env._info = lambda self, agent: {'action_mask': [0, 0, 0]}", "only zeros"),
        (BASE + "raw_env.action_space = lambda self, agent: spaces.Box(0, 1)", "Discrete action space"),
        (
            BASE + "raw_env.reset = lambda self, seed=None, options=None: 1 / 0",
            r"reset\(seed\) raised ZeroDivisionError",
        ),
        (BASE + "raw_env.reset = lambda self: None", r"reset\(seed\) raised TypeError"),
        (BASE + "raw_env.observe = None", "observe.* raised TypeError"),
    ],
)
def test_unfit_module_is_an_option_error(module, text, expected, monkeypatch, request):
    for name in ("_info", "action_space", "reset", "observe"):
        monkeypatch.setattr(elimination.raw_env, name, getattr(elimination.raw_env, name))  # modules patch the class
    name = module(f"unfit_{abs(hash(text))}", text)
    with pytest.raises(OptionError, match=expected):
        make(name)


def test_refused_options_are_named():
    with pytest.raises(OptionError, match=r"players.: 1.: ValueError: too few players"):
        make(NAME, players=1)
    with pytest.raises(OptionError, match="colour"):
        make(NAME, colour=1)


def test_missing_module_is_an_option_error():
    with pytest.raises(OptionError, match=r"No module named 'pettingzoo.classic.chess_v5'; did you mean .*chess_v6"):
        make("aec/pettingzoo.classic.chess_v5")
    with pytest.raises(OptionError, match="expected aec/ and a module"):
        make("aec/../etc")


def test_missing_package_names_the_command(monkeypatch):
    classes.load.cache_clear()
    monkeypatch.setitem(sys.modules, GAMES[0], None)
    with pytest.raises(DependencyNotInstalled, match=r"pip install 'llmarena-envs\[classic\]'"):
        classes.load(GAMES[0])
    with pytest.raises(OptionError, match="pip install"):
        make(f"aec/{GAMES[0]}")


def test_environment_that_ignores_its_seed_is_reported(module, monkeypatch):
    monkeypatch.setattr(elimination.raw_env, "reset", elimination.raw_env.reset)
    name = module(
        "unseeded",
        BASE
        + "reset, sizes = raw_env.reset, iter((9, 9, 1))\n"
        + "def unseeded(self, seed=None, options=None):\n"
        + "    reset(self, seed)\n"
        + "    self.piles = dict.fromkeys(self.agents, next(sizes))\n"
        + "    self.infos = {agent: self._info(agent) for agent in self.agents}\n"
        + "raw_env.reset = unseeded\n",
    )
    env = make(name)
    env.reset(seed=0)
    env.step(2)
    with pytest.raises(AecError, match="has to draw all chance from the seed"):
        copy.copy(env.unwrapped.game).view("player_0")


def test_reading_a_run_imports_only_listed_modules(module, tmp_path):
    name = module("hostile", f"open({str(tmp_path / 'imported')!r}, 'w')")
    assert is_known(f"aec/{GAMES[0]}")
    assert not is_known(name)
    with pytest.raises(OptionError, match="add --trust"):
        environments.load_environment(name)
    assert not tmp_path.joinpath("imported").exists()


def test_observed_shows_planes_as_boards():
    planes = np.zeros((2, 3, 4))
    planes[1, 2, 0] = 5
    planes[:, :, 3] = 1
    assert text_of(observed({"observation": planes, "action_mask": np.ones(3)})) == (
        "observation: 4 planes of 2 rows and 3 columns\nplane 0:\n0 . . .\n1 . . 5\n  0 1 2\nplane 3: 1 everywhere\n"
        "The other planes are 0 everywhere."
    )


def test_observed_lists_entries_of_other_arrays():
    vector = np.zeros(1000)
    vector[[3, 700]] = 0.5
    assert observed((vector, 3)) == (
        "observation[0]: 1000 numbers, non-zero: [3] = 0.5, [700] = 0.5",
        "observation[1]: 3",
    )
