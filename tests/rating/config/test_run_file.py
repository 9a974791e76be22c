"""Run files: accepted values, and messages for refused ones."""

import pytest

from llmarena_envs.core.options import OptionError
from rating.config.resume import identity_of
from rating.config.run_file import DEADLINE, parse_run_file, run_file_text

GOOD = """
seed = 3
workers = 2

[turns]
reasks = 1

[stop]
max_matches = 60

[[environment]]
name = "tictactoe_v0"
options = { hint = false }
turns = { illegal = "random_legal" }

[[environment]]
name = "connect_four_v0"

[[policy]]
spec = "random"

[[policy]]
name = "left"
spec = "first_legal"
environments = ["tictactoe_v0"]
"""


def test_a_run_file_is_read():
    config = parse_run_file(GOOD, "run.toml")
    assert config.seed == 3
    assert config.stop.max_matches == 60
    assert config.stop.stopping().rule.least == 8
    assert config.pool("tictactoe_v0") == ["left", "random"]
    assert config.pool("connect_four_v0") == ["random"]
    assert config.options("tictactoe_v0") == {"random_opening": 2, "hint": False}
    turns = config.turn_settings("tictactoe_v0")
    assert (turns.reasks, turns.illegal, turns.unparsable, turns.deadline) == (
        1,
        "random_legal",
        "random_legal",
        DEADLINE,
    )
    assert config.turn_settings("connect_four_v0").illegal == "forfeit"


def test_the_llmarena_preset():
    text = GOOD.replace("[turns]\nreasks = 1", "") + '[[environment]]\nname = "bid_v0"\n'
    config = parse_run_file('preset = "llmarena"\n' + text, "run.toml")
    turns = config.turn_settings("connect_four_v0")
    assert (turns.reasks, turns.reask_illegal, turns.feedback) == (2, False, False)
    assert (turns.unparsable, turns.illegal) == ("random_legal", "forfeit")
    turns = config.turn_settings("bid_v0")
    assert (turns.reasks, turns.unparsable) == (0, "noop")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("seed = 3", "sed = 3", "unknown key 'sed'.*did you mean 'seed'"),
        ("seed = 3", 'seed = "3"', "seed: .*integer.*got '3'"),
        ("seed = 3", "seed = -1", "seed: .*greater than or equal to 0, got -1"),
        ("seed = 3", "seed = ", "not a TOML file"),
        ("reasks = 1", "reask = 1", "unknown key 'turns.reask'.*did you mean 'reasks'"),
        (
            "max_matches",
            'rule = "spearman=2"\nmax_matches',
            "stop.rule: .*expected trueskill, or one or several of these.*got '2' where a number above 0",
        ),
        ("[[policy]]\nspec", "[[policy]]\nspce", "policy.0.spce.*did you mean 'spec'"),
        ('name = "tictactoe_v0"', 'name = "tictacto_v0"', "did you mean 'tictactoe_v0'"),
        ("hint = false", "hints = false", "option: expected one of .*did you mean 'hint'"),
        ("hint = false", "hint = 3", "hint: expected True or False, got 3"),
        ('"random_legal"', '"random"', "illegal.*'forfeit', 'random_legal' or 'noop'.*got 'random'"),
        ('spec = "random"', 'spec = "random:depth=2"', "expected no options, got 'depth'"),
        ('spec = "random"', 'spec = "no.such.module:factory"', "cannot import"),
        ('environments = ["tictactoe_v0"]', 'environments = ["tictactoe"]', "did you mean 'tictactoe_v0'"),
        ('name = "left"', 'name = "random"', "expected distinct names, got 'random' twice"),
        ("hint = false", 'obs_type = "vector"', "option: expected one of 'hint', 'random_opening', 'language', got"),
        (
            'name = "connect_four_v0"',
            'name = "no.such_env"',
            "env and raw_env in no.such_env, but: No module named 'no'",
        ),
        ('name = "connect_four_v0"', 'name = "..env"', "environment: expected one of"),
        ('name = "left"', 'name = "a\\nb"', "expected a name of at most 200 characters on one line"),
        ('name = "left"', f'name = "{"x" * 201}"', "expected a name of at most 200 characters on one line"),
        ('[[environment]]\nname = "connect', '[[environmen]]\nname = "connect', "did you mean 'environment'"),
        (
            "hint = false",
            "hint = false }\nby_deal = { hint = [true, false]",
            "by_deal: expected options that have no value",
        ),
        ("hint = false", "hint = false }\nby_deal = { random_opening = [0, -1]", "random_opening"),
        ("hint = false", "hint = false }\nby_deal = { random_opening = []", "by_deal.random_opening"),
        (GOOD, "", "environment: field required"),
    ],
)
def test_bad_run_files_are_refused_with_expected_values(old, new, message):
    assert old in GOOD
    with pytest.raises(OptionError, match=message):
        parse_run_file(GOOD.replace(old, new, 1), "run.toml").check()


def test_a_registry_id_names_the_same_environment():
    text = GOOD.replace('name = "tictactoe_v0"', 'name = "llmarena/tictactoe-v0"').replace('"first_legal"', '"greedy"')
    config = parse_run_file(text, "run.toml")
    assert config.pool("tictactoe_v0") == ["left", "random"]
    with pytest.raises(OptionError, match="expected distinct names, got 'tictactoe_v0' twice"):
        parse_run_file(text + '[[environment]]\nname = "tictactoe_v0"\n', "run.toml")


def test_policy_of_some_environments_needs_restriction():
    text = run_file_text(["tictactoe_v0", "connect_four_v0", "holdem_v0"], ["random", "minimax"], {})
    expected = (
        r"policy 'minimax' does not play holdem_v0: restrict it with "
        r'environments = \["tictactoe_v0", "connect_four_v0"\] in the run file, or '
        r"--policy minimax@tictactoe_v0,connect_four_v0 on the command line"
    )
    with pytest.raises(OptionError, match=expected):
        parse_run_file(text, "flags").check()


def test_restricted_policy_is_refused_for_its_own_reason():
    text = GOOD.replace('spec = "random"', 'spec = "convention"\nenvironments = ["tictactoe_v0", "connect_four_v0"]')
    with pytest.raises(OptionError, match=r"^policy: expected one of .* for tictactoe_v0"):
        parse_run_file(text, "run.toml").check()


def test_staff_can_be_named_by_spec():
    text = GOOD.replace('spec = "random"', 'spec = "random"\nrated = false').replace(
        'name = "connect_four_v0"', 'name = "connect_four_v0"\nstaff = { judge = ["left", "human", "random"] }'
    )
    config = parse_run_file(text, "run.toml")
    assert config.pool("tictactoe_v0") == ["left"]
    assert config.find_environment("connect_four_v0").staff == {"judge": ["left", "human", "random"]}
    assert config.find_environment("tictactoe_v0").staff == {}
    assert config.find_policy("left").spec == "first_legal" and config.find_policy("human").spec == "human"


def test_ahead_and_staff_are_part_of_the_runs_identity():
    def identity(text):
        config = parse_run_file(text, "run.toml")
        return identity_of(config, config.check(), {})

    plain = identity(GOOD)
    assert plain.ahead == 2
    staff = GOOD.replace('name = "connect_four_v0"', 'name = "connect_four_v0"\nstaff = { judge = ["random"] }')
    assert plain not in (identity(f"ahead = 1\n{GOOD}"), identity(staff))
    assert identity(GOOD.replace("workers = 2", "workers = 1")) == plain


@pytest.mark.parametrize(
    ("opponent", "spec", "expected"),
    [("", "random", False), ("human", "random", True), ("random", "human", True), ("", "minimax", False)],
)
def test_whether_a_person_plays(opponent, spec, expected):
    text = f'[[environment]]\nname = "tictactoe_v0"\nscheme = "field"\nopponent = "{opponent}"\n[[policy]]\nspec = "{spec}"\n'
    assert parse_run_file(text, "run.toml").people() == (["human"] if expected else [])
