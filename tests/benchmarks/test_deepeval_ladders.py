"""The run file of DeepEval's tasks: scripted policies come out in the order that theory gives them."""

import asyncio
from itertools import pairwise
from pathlib import Path

import pytest

from rating.records.verify import verify
from rating.running import run_directory
from rating.running.contests import make_scheme
from rating.running.runner import Runner

RUN_FILE = Path(__file__).parents[2] / "benchmarks" / "deepeval" / "demo.toml"
FREE, CONDITIONAL, RANDOM, FULL = "free_rider", "conditional_cooperator", "random", "full_contributor"
POOL = "\n".join(f'[[policy]]\nspec = "{spec}"' for spec in (FREE, CONDITIONAL, RANDOM, FULL))


def played(directory, text):
    config, store = run_directory.create(directory / "run", text, str(RUN_FILE))
    asyncio.run(Runner(config, store).run())
    records = list(store.records())
    store.close()
    return config, records


def rewards(config, records):
    """Returns mean, lower and upper end of the reward of every policy."""
    outcomes = [record.outcome for record in records if record.match.environment == "public_goods_v0"]
    board = make_scheme(config, "public_goods_v0").leaderboard(outcomes, "")
    assert board.references == {"equilibrium": 50.0}
    return {row.policy: row.reward[:3] for row in board.rows}


def test_public_goods(tmp_path):
    config, records = played(tmp_path, RUN_FILE.read_text(encoding="utf-8"))
    assert {record.status for record in records} == {"finished"}
    assert not any(verify(record, config.turn_settings(record.match.environment)) for record in records[::7])
    paid = rewards(config, records)
    for middle in (CONDITIONAL, RANDOM):
        assert paid[FREE][1] > paid[middle][2] and paid[middle][1] > paid[FULL][2]


@pytest.mark.parametrize(
    ("scheme", "order"),
    [
        # Everybody in a group of its like: the more they invest the more they earn.
        ('scheme = "self_play"', (FULL, CONDITIONAL, FREE)),
        # One among free riders: the less it invests the more it earns, and the conditional co-operator gives up.
        (f'scheme = "field"\nopponent = "{FREE}"', (FREE, CONDITIONAL, RANDOM, FULL)),
    ],
)
def test_the_dilemma(tmp_path, scheme, order):
    text = f'seed = 3\n[stop]\nmatches = 20\n[[environment]]\nname = "public_goods_v0"\n{scheme}\n{POOL}\n'
    paid = rewards(*played(tmp_path, text))
    for better, worse in pairwise(order):
        assert paid[better][1] > paid[worse][2], (better, paid[better], worse, paid[worse])
