"""The run file of SimulBench: the ratings recover the order of the simulators, and any seat can be a model's."""

from itertools import repeat

import numpy as np
import pytest
from scipy.stats import spearmanr

from agents.registry import split_spec
from rating.cli import main
from rating.play import run_directory
from rating.store.verify import verify
from tests.benchmarks.demos import demo_text, play
from tests.support.hostile_server import hostile_server, say

ENVIRONMENTS = ("simulation_v0", "simulation_v0#pairwise")
LADDER = ["perfect", "good", "fair", "weak", "poor", "echo", "silent"]
FORMAT = ("format", "chatter")
POINTS = np.array([10.0, 8.0, 1.0])
REPEATS = 1000


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    return play(tmp_path_factory.mktemp("demo"), demo_text("simulbench"))[:2]


def outcomes_of(records, environment):
    return [record.outcome for record in records if record.match.environment == environment]


def found_order(run, records, environment):
    """Returns Spearman's correlation of a leaderboard with the ladder, whose last two are equally bad."""
    rows = run.scheme(environment).leaderboard(outcomes_of(records, environment), "").rows
    assert len(rows) == len(LADDER)
    return spearmanr([min(5, LADDER.index(row.policy)) for row in rows], range(len(rows))).statistic


def shares(run):
    """Returns the shares of exact, flawed and wrong answers of each simulator."""
    found = {"echo": (0, 0, 1), "silent": (0, 0, 1)}
    for policy in run.config.policy:
        if policy.title in LADDER[:5]:
            rates = split_spec(policy.spec)[1]
            flawed = sum(rates.get(kind, 0) for kind in FORMAT)
            found[policy.title] = (1 - sum(rates.values()), flawed, sum(rates.values()) - flawed)
    return found


@pytest.mark.slow
def test_ladder_matches_the_run_file(demo):
    run, _ = demo
    for index, name in enumerate(LADDER[:5]):
        assert shares(run)[name] == pytest.approx((1 - index / 5, index / 10, index / 10))


def simulated_means(rng, kinds):
    """Returns the mean of the four judges' scores for answers of the given kinds."""
    points = POINTS[kinds]
    turns = rng.choice([1, 2, 4], size=points.shape)
    praised = rng.random(points.shape) > 0.8 ** (turns - 1)
    given = [
        points,
        points + 6 * praised,
        points + 2 + rng.normal(scale=2, size=points.shape),
        points + turns - 1,
    ]
    return np.mean(np.clip(given, 1, 10), axis=(0, 2))


@pytest.mark.slow
def test_simulbench_finds_the_order_as_well_as_predicted(demo):
    run, records = demo
    rng, found = np.random.default_rng(0), shares(run)
    drawn = [rng.choice(3, size=(REPEATS, 88), p=np.maximum(0, found[name])) for name in LADDER]
    means = np.array([simulated_means(rng, kinds) for kinds in drawn])
    expected = [spearmanr([0, 1, 2, 3, 4, 5, 5], -column).statistic for column in means.T]
    assert found_order(run, records, "simulation_v0") >= np.quantile(expected, 0.005)
    assert np.mean(expected) > 0.95


@pytest.mark.slow
def test_comparisons_find_the_same_order(demo):
    assert found_order(*demo, "simulation_v0#pairwise") > 0.9


@pytest.mark.slow
def test_rates_of_exact_answers_are_found_again(demo):
    run, records = demo
    deviations = []
    for name, (exact, _, _) in shares(run).items():
        seats = [seat for one in outcomes_of(records, "simulation_v0") for seat in one.seats if seat.policy == name]
        known = [seat.statistics["exact_share"] for seat in seats if seat.statistics["engine"] == 1]
        assert len(known) >= 12
        assert abs(np.mean(known) - exact) < 3 * max(np.std(known), 0.1) / np.sqrt(len(known))
        deviations.append(np.mean(known) - exact)
    assert abs(np.mean(deviations)) < 0.1


@pytest.mark.slow
def test_hasty_judge_contradicts_itself_and_exact_one_does_not(demo):
    _, records = demo
    consistent = {
        name: np.mean(
            [
                seat.statistics["verdict"] == seat.statistics["verdict_swapped"]
                for outcome in outcomes_of(records, "simulation_v0#pairwise")
                for seat in outcome.seats
                if seat.policy == name
            ]
        )
        for name in ("exact", "hasty")
    }
    assert consistent["exact"] == 1 and consistent["hasty"] < 0.7


@pytest.mark.slow
def test_demo_plays_all_matches_and_verifies(demo):
    run, records = demo
    assert {record.status for record in records} == {"finished"}
    for environment in ENVIRONMENTS:
        own = [record for record in records if record.match.environment == environment]
        assert not any(verify(record, run.config.turn_settings(environment)) for record in own[::60])


@pytest.mark.slow
def test_one_changed_line_each_seats_models_anywhere(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "of nobody")
    text = demo_text("simulbench")
    with hostile_server(then=repeat(say("As you like. Rating: [[7]] [[B]]"))) as server:
        for line in (
            'spec = "flawed:stale=0.2,arithmetic=0.1,out_of_character=0.1,format=0.2,chatter=0.2"',
            'spec = "user:praise=0.2"',
            'spec = "praised:praise=6"',
            'spec = "exact:position=3,noise=3"',
        ):
            assert text.count(line) == 1
            text = text.replace(line, f'spec = "openai:mock:base_url={server.url}"')
        text = text.replace("matches = 88", "matches = 1\nmax_matches = 1\nmin_matches = 1")
        (tmp_path / "run.toml").write_text(text, encoding="utf-8")
        assert main(["run", str(tmp_path / "run.toml"), "--out", str(tmp_path / "run")]) == 0
    _, store = run_directory.open_run(tmp_path / "run")
    outcomes = [record.outcome for record in store.records()]
    store.close()
    for name, statistic, value in (
        ("poor", "empty", 0),
        ("user", "empty", 0),
        ("praised", "rating", 7),
        ("hasty", "verdict", 1),
    ):
        told = [seat.statistics[statistic] for one in outcomes for seat in one.seats if seat.policy == name]
        assert set(told) == {value}, name
