import functools
import sys
import textwrap

import pytest

from agents import registry
from agents.baselines import tictactoe
from agents.baselines.connect_four import Minimax as ConnectFourMinimax
from agents.baselines.general import FirstLegal, Random
from agents.baselines.tictactoe import GreedyTicTacToe
from agents.baselines.tictactoe import Minimax as TicTacToeMinimax
from agents.human import HumanPolicy
from agents.registry import baselines, make_policy, split_spec
from llmarena_envs.core.options import OptionError


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("random", ("random", {})),
        ("minimax:depth=4", ("minimax", {"depth": 4})),
        ("minimax: depth = 4 , fast=True,x=0.5", ("minimax", {"depth": 4, "fast": True, "x": 0.5})),
        ("openai:gpt", ("openai:gpt", {})),
        ("openai:llama3:8b", ("openai:llama3:8b", {})),
        (
            "openai:llama3:8b:temperature=0.5,base_url=http://localhost:8000/v1",
            ("openai:llama3:8b", {"temperature": 0.5, "base_url": "http://localhost:8000/v1"}),
        ),
        ("openai:ft:gpt-4o:org::id:history=full", ("openai:ft:gpt-4o:org::id", {"history": "full"})),
        ("my.package:make:depth=3,name=a b", ("my.package:make", {"depth": 3, "name": "a b"})),
        ("minimax:depth=false", ("minimax", {"depth": False})),
        ("minimax:name=", ("minimax", {"name": ""})),
    ],
)
def test_specs(spec, expected):
    assert split_spec(spec) == expected


@pytest.mark.parametrize("spec", ["minimax:depth=4,", "minimax:depth=4,fast", "minimax:2x=1", "minimax:depth=4,a-b=1"])
def test_malformed_options(spec):
    with pytest.raises(OptionError, match=r"policy 'minimax:.*expected key=value, got"):
        make_policy(spec, "tictactoe_v0")


@pytest.mark.parametrize(
    ("spec", "environment", "kind", "depth"),
    [
        ("minimax", "tictactoe_v0", TicTacToeMinimax, 9),
        ("minimax:depth=2", "tictactoe_v0", TicTacToeMinimax, 2),
        ("minimax", "connect_four_v0", ConnectFourMinimax, 5),
        ("minimax:depth=42", "connect_four_v0", ConnectFourMinimax, 42),
    ],
)
def test_baselines_of_a_game(spec, environment, kind, depth):
    policy = make_policy(spec, environment)
    assert type(policy) is kind
    assert policy.depth == depth


def test_every_call_makes_a_new_policy():
    assert make_policy("random", "tictactoe_v0") is not make_policy("random", "tictactoe_v0")


def test_general_baselines_play_everywhere():
    for environment in ("tictactoe_v0", "connect_four_v0", "tests.rating.broken_env"):
        assert type(make_policy("random", environment)) is Random
        assert type(make_policy("first_legal", environment)) is FirstLegal
        assert type(make_policy("human", environment)) is HumanPolicy


def test_options_come_before_those_in_the_spec():
    assert make_policy("minimax:depth=2", "tictactoe_v0", {"depth": 3}).depth == 3
    assert make_policy("minimax", "tictactoe_v0", {"depth": 4}).depth == 4


def test_the_players_of_a_game_come_before_the_general_ones(monkeypatch):
    monkeypatch.setitem(tictactoe.BASELINES, "random", GreedyTicTacToe)
    names = baselines("tictactoe_v0")
    assert names.keys() == {"random", "first_legal", "mcts", "greedy", "minimax"}
    assert names["random"] is GreedyTicTacToe
    assert names["first_legal"] is FirstLegal
    assert baselines("connect_four_v0")["random"] is Random


def test_third_party_environment_has_general_baselines_only():
    # Even one whose game is a game of the suite.
    assert set(baselines("tests.rating.broken_env")) == {"random", "first_legal", "mcts"}
    with pytest.raises(
        OptionError, match="expected one of random, first_legal, mcts, human, PROVIDER/MODEL, openai:MODEL"
    ):
        make_policy("greedy", "tests.rating.broken_env")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("minmax", r"policy: expected one of .*minimax.* for tictactoe_v0, .*got 'minmax'; did you mean 'minimax'\?"),
        ("minmax:depth=3", r"did you mean 'minimax'\?"),
        ("randon", r"did you mean 'random'\?"),
        ("humam", r"did you mean 'human'\?"),
        ("", r"expected one of .*got ''$"),
        ("openai", r"did you mean 'openai:MODEL'\?"),
        ("openai:", r"did you mean 'openai:MODEL'\?"),
        ("minimax:4", r"expected one of .*with options as in name:key=value, got 'minimax:4'"),
        ("human:slow=1", r"policy 'human:slow=1': expected no options, got 'slow'"),
        ("random:seed=1", r"policy 'random:seed=1': expected no options, got 'seed'"),
        ("minimax:dept=3", r"option: expected one of 'depth', got 'dept'; did you mean 'depth'\?"),
        ("minimax:depth=0", r"depth: expected an integer from 1 to 9, got 0"),
        ("minimax:depth=x", r"depth: expected an integer from 1 to 9, got 'x'"),
        ("minimax:depth=true", r"depth: expected an integer from 1 to 9, got True"),
        ("no_such_module_here:make", r"cannot import 'no_such_module_here'"),
        ("no_such_package.module:make", r"cannot import 'no_such_package.module'"),
        ("opnai:gpt", r"cannot import 'opnai'.*did you mean 'openai'\?"),
        ("../evil:make", r"expected package.module:factory, got '../evil' for the module"),
        (":make", r"expected package.module:factory, got '' for the module"),
        ("json:dumbs", r"expected a callable 'dumbs' in json, got None; did you mean 'dump"),
        ("json:decoder", r"expected a callable 'decoder' in json, got <module"),
    ],
)
def test_registry_errors_name_expected_values(spec, message):
    with pytest.raises(OptionError, match=message):
        make_policy(spec, "tictactoe_v0")


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Writes a third-party module and returns its name."""
    (tmp_path / "own_policies.py").write_text(
        textwrap.dedent(
            """
            class Fixed:
                reads = "vector"
                def __init__(self, action=0, *, noisy=False):
                    self.action = action
                def __call__(self, observation):
                    return self.action

            def anything(**options):
                policy = Fixed()
                policy.options = options
                return policy

            def function():
                return lambda observation: "X: (1, 1)"

            def wrong_reads():
                policy = Fixed()
                policy.reads = "pictures"
                return policy

            def no_policy():
                return 3

            def needs(model):
                return Fixed()

            def broken():
                raise TypeError("a bug of the factory")

            def imports_what_is_not_there():
                import a_package_that_is_not_there
            """
        )
    )
    (tmp_path / "own_needy.py").write_text("import a_package_that_is_not_there\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield "own_policies"
    for name in ("own_policies", "own_needy"):
        sys.modules.pop(name, None)


def test_third_party_factories_are_loaded(module):
    policy = make_policy(f"{module}:Fixed:action=3", "tictactoe_v0", {"noisy": True})
    assert policy(None) == 3
    assert make_policy(f"{module}:anything:a=1,b=x", "connect_four_v0").options == {"a": 1, "b": "x"}
    assert make_policy(f"{module}:function", "tests.rating.broken_env")({}) == "X: (1, 1)"


@pytest.mark.parametrize(
    ("attribute", "message"),
    [
        ("wrong_reads", "expected a callable that reads one of .*pictures"),
        ("no_policy", "expected a callable that reads one of .*got 3"),
        ("needs", r"missing a required argument: 'model'; expected options for \['model'\]"),
        ("Fixd", r"did you mean 'Fixed'\?"),
        ("Fixed:actoin=3", r"expected one of 'action', 'noisy', got 'actoin'; did you mean 'action'\?"),
        ("imports_what_is_not_there", "needs 'a_package_that_is_not_there', which is not installed: pip install"),
    ],
)
def test_factories_that_do_not_fit(module, attribute, message):
    with pytest.raises(OptionError, match=message):
        make_policy(f"{module}:{attribute}", "tictactoe_v0")


def test_a_missing_package_is_not_taken_for_a_missing_module(module):
    with pytest.raises(OptionError, match="needs 'a_package_that_is_not_there', which is not installed"):
        make_policy("own_needy:make", "tictactoe_v0")


def test_a_bug_in_a_factory_is_not_hidden(module):
    with pytest.raises(TypeError, match="a bug of the factory"):
        make_policy(f"{module}:broken", "tictactoe_v0")


def test_a_model_needs_its_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "agents.models.llm", None)
    with pytest.raises(
        OptionError, match=r"policy 'openai:some-model' needs 'agents.models.llm', which is not installed"
    ):
        make_policy("openai:some-model", "tictactoe_v0")


def test_extras_are_named(monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(registry, "_human", functools.partial(missing, "torch"))
    with pytest.raises(OptionError, match=r"pip install 'llmarena-envs\[local\]'"):
        make_policy("human", "tictactoe_v0")
