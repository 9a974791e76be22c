import pytest

from rating.config.judge_warnings import family_warnings, scripted_judge_warnings
from rating.config.run_file import parse_run_file

MODELS = '\n[[policy]]\nspec = "openai:gpt-4o"\n\n[[policy]]\nspec = "openai:gpt-4o-mini"\n'
EXCLUDING = 'scheme = "tournament"\ntournament = { exclude = ["debater", "verbose"] }'
DEBATERS = '\n[[policy]]\nspec = "debater"\n\n[[policy]]\nspec = "verbose"\n'


def run(environment, policies):
    return parse_run_file(f'[[environment]]\nname = "{environment[0]}"\n{environment[1]}\n{policies}', "test")


def debate(judges, policies):
    return run(("debate_v0", f"staff = {{ judge = {judges} }}"), policies)


@pytest.mark.parametrize(
    ("config", "warned"),
    [
        (debate('["honest"]', MODELS), True),
        (debate('["openai:claude-3", "honest"]', MODELS), True),
        (debate('["openai:claude-3"]', MODELS), False),
        (debate('["human"]', MODELS), False),
        (debate('["honest"]', DEBATERS), False),
        (run(("debate_v0", 'scheme = "tournament"'), MODELS + DEBATERS), True),
        (run(("debate_v0", 'scheme = "tournament"'), MODELS), False),
        (run(("debate_v0", EXCLUDING), MODELS + DEBATERS), False),
        (run(("tictactoe_v0", ""), MODELS + '\n[[policy]]\nspec = "random"\n'), False),
    ],
)  # fmt: skip
def test_scripted_judges_of_models_are_warned_of(config, warned):
    assert bool(scripted_judge_warnings(config)) == warned


def test_family_of_a_judge_and_players_is_named():
    (warning,) = family_warnings(debate('["openai:o3"]', MODELS), {})
    assert warning == "debate_v0: judge openai:o3 is of the family (OpenAI) of openai:gpt-4o, openai:gpt-4o-mini"
    assert family_warnings(debate('["openai:claude-3"]', MODELS), {}) == []
    assert len(family_warnings(debate('["openai:claude-3"]', MODELS), {"claude": "OpenAI"})) == 1


def test_judge_among_the_players_is_named():
    warnings = family_warnings(debate('["openai:gpt-4o"]', MODELS), {})
    assert warnings[1] == "debate_v0: judge openai:gpt-4o is also a player"


def test_committees_that_leave_families_out_are_not_warned_of():
    scheme = 'scheme = "tournament"\ntournament = {{ exclude_family = {} }}'
    found = {flag: family_warnings(run(("debate_v0", scheme.format(flag)), MODELS), {}) for flag in ("true", "false")}
    assert (len(found["true"]), len(found["false"])) == (0, 2)
