"""The run file of DeepEval's tasks: scripted policies come out in the order that theory gives them."""

import asyncio
from itertools import pairwise, product
from pathlib import Path

import pytest

from benchmarks.deepeval.pool import CODE_REVIEW, TRANSLATION
from rating.play import run_directory
from rating.play.runner import Runner
from rating.store.verify import verify

pytestmark = pytest.mark.slow

RUN_FILE = Path(__file__).parents[2] / "benchmarks" / "deepeval" / "demo.toml"
FREE, CONDITIONAL, RANDOM, FULL = "free_rider", "conditional_cooperator", "random", "full_contributor"
POOL = "\n".join(f'[[policy]]\nspec = "{spec}"' for spec in (FREE, CONDITIONAL, RANDOM, FULL))


def played(directory, text):
    run, store = run_directory.create(directory / "run", text, str(RUN_FILE))
    asyncio.run(Runner(run, store).run())
    records = list(store.records())
    store.close()
    return run, records


def ends(estimate):
    """The ends of an interval; ``None`` if all results are equal."""
    return (estimate.value, estimate.value) if estimate.low is None else (estimate.low, estimate.high)


def rewards(run, records):
    """The lower and the upper end of the mean reward of every policy."""
    outcomes = [record.outcome for record in records if record.match.environment == "public_goods_v0"]
    board = run.scheme("public_goods_v0").leaderboard(outcomes, "")
    assert board.references == {"equilibrium": 50.0}
    return {row.policy: ends(row.reward) for row in board.rows}


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    return played(tmp_path_factory.mktemp("demo"), RUN_FILE.read_text(encoding="utf-8"))


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
    paid = rewards(*played(tmp_path, text))
    for better, worse in pairwise(order):
        assert paid[better][0] > paid[worse][1], (better, paid[better], worse, paid[worse])
