"""The run file of Auto-Arena: a tournament recovers the order of its debaters and the biases of its judges."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from agents.registry import split_spec
from rating.judgements import declared_verdicts, judgements_of
from rating.judges import study
from rating.stats.bradley_terry import fit_totals
from rating.store.verify import verify
from tests.benchmarks.demos import demo_text, play

pytestmark = pytest.mark.slow

DIALS = ("noise", "position", "length")


def played(directory, seed=11):
    """Returns the settings and the records of a tournament."""
    return play(directory, demo_text("auto_arena").replace("seed = 11\n", f"seed = {seed}\n", 1))[:2]


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    return played(tmp_path_factory.mktemp("demo"))


def dials(config):
    """Returns the options of every policy, by its name."""
    return {policy.title: split_spec(policy.spec)[1] for policy in config.policy}


def simulated_orders(rng, options, outcomes, repeats):
    """Returns Spearman's correlations with the strengths that the tournament would have, if it were played again and again.

    The same pairs and judges; points that differ by logistic luck, judges who add theirs, their biases on the sides and lengths
    that there were, and the plurality of their votes.
    """
    names = sorted(options)
    wins, games = np.zeros((2, repeats, len(names), len(names)))
    for outcome in outcomes:
        one, two = (seat for seat in outcome.seats if seat.rated)
        judges = [options[seat.policy] for seat in outcome.seats if not seat.rated]
        noise, position, length = (np.array([judge.get(dial, 0) for judge in judges]) for dial in DIALS)
        longer = (one.statistics["words"] - two.statistics["words"]) / 100
        ahead = strength(options, one.policy) - strength(options, two.policy) + rng.logistic(size=(repeats, 1))
        biases = position * (1 - 2 * one.statistics["side"]) + length * longer
        luck = rng.logistic(size=(repeats, len(judges))) * noise * np.sqrt(3) / np.pi
        lead = np.round(4 * ahead) + 4 * biases + luck
        won = np.sign(np.sum(lead >= 0.5, axis=1) - np.sum(lead <= -0.5, axis=1))
        seats = names.index(one.policy), names.index(two.policy)
        wins[:, *seats] += (1 + won) / 2
        games[:, *seats] += 1
    strengths = [strength(options, name) for name in names]
    return [
        spearmanr(fit_totals(names, *played).ratings, strengths).statistic for played in zip(wins, games, strict=True)
    ]


def strength(options, policy):
    return options[policy].get("strength", 0)


def test_tournament_finds_the_order_as_well_as_predicted(demo):
    run, records = demo
    options, outcomes = dials(run.config), [record.outcome for record in records]
    rows = run.scheme("debate_v0").leaderboard(outcomes, "").rows
    found = spearmanr([strength(options, row.policy) for row in rows], range(len(rows), 0, -1)).statistic
    expected = simulated_orders(np.random.default_rng(0), options, outcomes, repeats=1000)
    assert found >= np.quantile(expected, 0.005)  # wrong once in 200 tournaments
    assert 0.9 < np.mean(expected) < 1


def test_demo_plays_all_matches_and_verifies(demo):
    run, records = demo
    assert len(records) == 3 * 4 * 40
    assert {record.status for record in records} == {"finished"}
    domains = {record.outcome.seats[0].statistics["domain"] for record in records}
    assert domains == set(range(8))
    assert not any(verify(record, run.config.turn_settings("debate_v0")) for record in records[::40])


@pytest.mark.parametrize("seed", [11, 16])
def test_exactly_the_biased_judges_are_named(demo, tmp_path, seed):
    run, records = demo if seed == 11 else played(tmp_path, seed)
    is_found = seed == 11  # no test finds a bias every time
    found = study(judgements_of([record.outcome for record in records], declared_verdicts("debate_v0"))).judges
    said = {row.judge: row.biases.named() for row in found}
    (placed,) = (name for name, options in dials(run.config).items() if "position" in options)
    (measured,) = (name for name, options in dials(run.config).items() if "length" in options)
    assert said == {
        name: ["position bias: favours the first side"] * (name == placed)
        + ["verbosity bias: favours the longer text"] * (name == measured and is_found)
        for name in said
    }


def test_the_biased_judge_is_outvoted(demo):
    run, records = demo
    (biased,) = (name for name, options in dials(run.config).items() if "position" in options)
    served = [
        record.outcome for record in records if any(not s.rated and s.policy == biased for s in record.outcome.seats)
    ]
    side_a = [outcome.seats[0].statistics["winner"] for outcome in served]
    own = [seat.statistics["verdict_final"] for outcome in served for seat in outcome.seats if seat.policy == biased]
    assert np.mean(np.equal(own, 0)) > 0.6
    assert abs(np.mean(np.equal(side_a, 0)) - 0.5) < 0.1
