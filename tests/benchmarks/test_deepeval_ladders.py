"""The run file of DeepEval's tasks: scripted policies come out in the order that theory gives them."""

from itertools import pairwise, product

import pytest

from benchmarks.deepeval.pool import CODE_REVIEW, TRANSLATION
from rating.store.verify import verify
from tests.benchmarks.demos import demo_text, ends, play

pytestmark = pytest.mark.slow

FREE, CONDITIONAL, RANDOM, FULL = "free_rider", "conditional_cooperator", "random", "full_contributor"
POOL = "\n".join(f'[[policy]]\nspec = "{spec}"' for spec in (FREE, CONDITIONAL, RANDOM, FULL))


def rewards(run, records):
    """The lower and the upper end of the mean reward of every policy."""
    outcomes = [record.outcome for record in records if record.match.environment == "public_goods_v0"]
    board = run.scheme("public_goods_v0").leaderboard(outcomes, "")
    assert board.references == {"equilibrium": 50.0}
    return {row.policy: ends(row.reward) for row in board.rows}


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    return play(tmp_path_factory.mktemp("demo"), demo_text("deepeval"))[:2]


def test_all_four_tasks_are_played_and_can_be_verified(demo):
    run, records = demo
    assert {record.status for record in records} == {"finished"}
    assert {record.match.environment for record in records} == {item.name for item in run.config.environment}
    assert not any(verify(record, run.config.turn_settings(record.match.environment)) for record in records[::23])


def test_public_goods(demo):
    paid = rewards(*demo)
    for middle in (CONDITIONAL, RANDOM):
        assert paid[FREE][0] > paid[middle][1] and paid[middle][0] > paid[FULL][1]


def board(demo, environment):
    run, records = demo
    outcomes = [record.outcome for record in records if record.match.environment == environment]
    return {row.policy: row for row in run.scheme(environment).leaderboard(outcomes, "").rows}


def test_idiom_solitaire(demo):
    rows = board(demo, "idiom_solitaire_v0")
    for better, worse in pairwise(("fewest", "random", "common")):
        assert rows[better].rating.low > rows[worse].rating.high


def test_code_review(demo):
    rows = board(demo, CODE_REVIEW)
    for better, worse in product(("fixer", "unsure"), ("echo", "random")):
        assert ends(rows[better].values["roles"]["writer"])[0] > ends(rows[worse].values["roles"]["writer"])[1]
    for worse in ("echo", "random", "unsure"):
        assert rows["fixer"].values["roles"]["editor"].low > rows[worse].values["roles"]["editor"].value


def test_translation(demo):
    rows = board(demo, TRANSLATION)
    for better, worse in pairwise(("translator", "careless", "echo", "random")):
        for role in ("writer", "editor"):
            assert rows[better].values["roles"][role].value > rows[worse].values["roles"][role].value
        assert ends(rows[better].reward)[0] > ends(rows[worse].reward)[1]


@pytest.mark.parametrize(
    ("scheme", "order"),
    [
        # In a homogeneous group, higher investments bring higher earnings.
        ('scheme = "self_play"', (FULL, CONDITIONAL, FREE)),
        # One among free riders: the less it invests the more it earns, and the conditional co-operator gives up.
        (f'scheme = "field"\nopponent = "{FREE}"', (FREE, CONDITIONAL, RANDOM, FULL)),
    ],
)
def test_the_dilemma(tmp_path, scheme, order):
    text = f'seed = 3\n[stop]\nmatches = 20\n[[environment]]\nname = "public_goods_v0"\n{scheme}\n{POOL}\n'
    paid = rewards(*play(tmp_path, text)[:2])
    for better, worse in pairwise(order):
        assert paid[better][0] > paid[worse][1], (better, paid[better], worse, paid[worse])
