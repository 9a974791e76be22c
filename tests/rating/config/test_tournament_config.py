"""Newcomers written into run files of every form, and the resumed configuration."""

import json

import pytest

from rating.config.run_file import parse_run_file, write_run_file
from rating.config.tournament_config import add_newcomer, keep_scores

POOL = '[[policy]]\nspec = "random"\n[[policy]]\nspec = "greedy"\n'
ENVIRONMENT = '[[environment]]\nname = "tictactoe_v0"\nscheme = "tournament"\n'

FORMS = {
    "bare": ENVIRONMENT + POOL,
    "environment last": POOL + ENVIRONMENT + "# the end\n",
    "rules": ENVIRONMENT + "[environment.tournament]\nquestions = 3\nprior = { random = 1 }\n" + POOL,
    "dotted": ENVIRONMENT + "tournament.questions = 3\n" + POOL,
    "scores": ENVIRONMENT + "[environment.tournament.prior]\nrandom = 1\n" + POOL,
    "inline": 'environment = [{ name = "tictactoe_v0", scheme = "tournament" }]\n'
    'policy = [{ spec = "random" }, { spec = "greedy" }]\n',
    "registry id": ENVIRONMENT.replace("tictactoe_v0", "llmarena/tictactoe-v0") + POOL,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["new", 'we"ird.näme #1'])
def test_a_newcomer_is_written_into_every_form_of_run_file(form, name):
    before = parse_run_file(FORMS[form], "run.toml")
    policy = {"spec": "minimax", "name": name, "options": {"depth": 2}}
    text = add_newcomer(FORMS[form], ["tictactoe_v0"], policy, 2.5)
    after = parse_run_file(text, "run.toml")
    rules = after.environment[0].tournament
    assert rules.newcomers == [name] and rules.prior[name] == 2.5
    assert [item.title for item in after.policy] == ["random", "greedy", name]
    assert (after.policy[-1].spec, after.policy[-1].options) == ("minimax", {"depth": 2})
    known = before.environment[0].tournament
    assert rules.questions == (known.questions if known else 40)
    again = parse_run_file(add_newcomer(text, ["tictactoe_v0"], {"spec": "random", "name": "newer"}, None), "run.toml")
    assert again.environment[0].tournament.newcomers == [name, "newer"]
    assert "newer" not in again.environment[0].tournament.prior
    assert "# the end" in text or form != "environment last"


def test_keep_scores_replaces_only_the_path(tmp_path):
    path = tmp_path / "prior.csv"
    path.write_text('\ufeffpolicy,score\n"greedy",7\nrandom,\n', encoding="utf-8")
    text = f"# mine\n{ENVIRONMENT}[environment.tournament]\nprior = {json.dumps(str(path))} # MMLU\n{POOL}"
    kept = keep_scores(text)
    assert kept.startswith("# mine\n") and str(path) not in kept
    assert parse_run_file(kept, "run.toml").environment[0].tournament.prior == {"greedy": 7.0}
    assert keep_scores(kept) == kept


def test_a_run_written_by_a_program_is_read_as_it_was_meant():
    text = f'{ENVIRONMENT}[environment.tournament]\nties = "drop"\nmin_judges = 2\nprior = {{ random = 1.5 }}\n{POOL}'
    config = parse_run_file(text, "run.toml")
    assert parse_run_file(write_run_file(config), "run.toml") == config
    assert keep_scores(write_run_file(config)) == write_run_file(config)
