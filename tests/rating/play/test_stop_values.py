"""Recorded values of a fired stop rule: they satisfy the rule, and are recomputed from the log."""

import itertools
import random
import re
import shutil
from contextlib import closing

import pytest

from rating.play import run_directory
from rating.schemes.conditions import compared
from rating.store.state import RunState
from rating.viewer.report.tables import to_text
from tests.rating.runs import play_run

pytestmark = pytest.mark.timeout(120)

ENVIRONMENT = "tictactoe_v0"
DUELS, FIELD, MEANS = "", 'scheme = "field"\nopponent = "random"', 'scheme = "mean_reward"'

RULES = {
    "sigma": ("rule = 'trueskill'\nmin_matches = 10\nsigma = 4.0\neps = 1e-9", DUELS, "sigma"),
    "mu_stable": ("rule = 'trueskill'\nmin_matches = 30\nsigma = 0.1\neps = 2.5", DUELS, "mu_stable"),
    "alike": ("", DUELS, "alike"),
    "top": ("rule = 'top=1'\nalike = 0", DUELS, "top=1"),
    "spearman": ("rule = 'spearman=0.9'\nmin_matches = 10", DUELS, "spearman=0.9"),
    "separated": ("rule = 'separated=250'\nmin_matches = 10", DUELS, "separated=250"),
    "width": ("rule = 'width=220'\nmin_matches = 10", DUELS, "width=220"),
    "cap": ("rule = 'width=1'\nmin_matches = 10\nmax_matches = 100", DUELS, "cap"),
    "count": ("matches = 31", MEANS, "count"),
    "settled": ("half_width = 0.4\nmin_matches = 10", FIELD, "settled"),
    "narrow": ("half_width = 0.4\nmin_matches = 10", MEANS, "settled"),
}
SATISFIED = {
    r"largest sigma ([\d.]+) \(asked: below ([\d.]+)\)": float.__lt__,
    r"largest change of mu ([\d.]+) over \d+ matches \(asked: below ([\d.e-]+)\)": float.__lt__,
    r"expected Spearman ([\d.]+) \(asked: ([\d.]+)\)": float.__ge__,
    r"of (\d+) pairs of neighbours (\d+) separated, (\d+) within 250 Elo \(asked: all\)": lambda n, a, b: n == a + b,
    r"every rating to ±([\d.]+) Elo \(asked: ±([\d.]+)\)": float.__le__,
    r"every mean to ±([\d.]+) \(asked: ±([\d.]+)\)": float.__le__,
    r"probability ([\d.]+) \(asked: ([\d.]+)\)": float.__ge__,
    r"(\d+) matches of each policy \(asked: (\d+)\)": float.__ge__,
    r"(\d+) matches of a policy scheduled \(max_matches: (\d+)\)": float.__ge__,
}


def play(directory, text):
    return read(play_run(directory, text))


def read(directory, opened=run_directory.open_run):
    """The leaderboard, computed from the records."""
    run, store = opened(directory)
    with closing(store):
        return run.leaderboard(ENVIRONMENT, list(store.outcomes()), RunState(store.facts()))


def run_file(stop, environment, slots=50):
    policies = "".join(f'[[policy]]\nspec = "{name}"\n' for name in ("first_legal", "greedy", "random"))
    head = f'executor = "asyncio"\nconcurrency = {slots}\n[stop]\n{stop}\n'
    return f'{head}[[environment]]\nname = "{ENVIRONMENT}"\n{environment}\n{policies}'


@pytest.mark.slow_except(1)
@pytest.mark.parametrize("rule", RULES)
def test_a_finished_run_prints_values_that_satisfy_its_rule(tmp_path, rule):
    stop, environment, reason = RULES[rule]
    board = play(tmp_path / "run", run_file(stop, environment))
    assert board.stop_reason == reason
    checked = []
    parts = board.stopped_with.split("; ")
    for (pattern, holds), part in itertools.product(SATISFIED.items(), parts[:1] if reason == "alike" else parts):
        for numbers in re.findall(pattern, part):
            checked.append(holds(*map(float, numbers)))
    assert len(checked) == 1 and all(checked), board.stopped_with
    assert f"\nstopped with: {board.stopped_with}\n" in to_text(board)
    assert 0 <= board.stopped_after <= board.matches
    assert play(tmp_path / "alone", run_file(stop, environment, slots=1)) == board


@pytest.fixture(scope="module")
def stable(tmp_path_factory):
    """A run whose rule fired while matches were in flight."""
    return play_run(tmp_path_factory.mktemp("stable") / "run", run_file(*RULES["mu_stable"][:2]))


def test_present_values_differ_once_in_flight_matches_count(stable):
    board = read(stable)
    assert board.stopped_after < board.matches and board.reached != board.stopped_with
    assert f"\nnow, including in-flight matches: {board.reached}\n" in to_text(board)


def test_an_unfinished_run_prints_present_values_only(stable):
    run, store = run_directory.open_run(stable)
    with closing(store):
        board = run.leaderboard(ENVIRONMENT, list(store.outcomes()), RunState({}))
    assert board.stopped_with == "" and "\nnow: " in to_text(board)


def test_edited_rule_is_not_reported_as_fired(stable, tmp_path):
    path = shutil.copytree(stable, tmp_path / "run") / "run.toml"
    path.write_text(path.read_text().replace("eps = 2.5", "eps = 0.001"))
    assert read(tmp_path / "run").stopped_with  # until the run is resumed, it is read as it was played
    board = read(tmp_path / "run", run_directory.reopen_run)
    assert (board.stop_reason, board.stopped_with) == ("mu_stable", "") and "asked: below 0.001" in board.reached


def test_a_printed_value_is_on_its_side_of_the_limit():
    rng = random.Random(3)
    for _ in range(500):
        limit = float(f"{rng.choice([0.05, 0.25, 0.95, 1, 60]) * rng.choice([1, 1, 3]):g}")
        value = limit + rng.choice([0, 1, -1]) * 10 ** rng.uniform(-18, 1)
        for digits, kind in itertools.product((0, 2, 3), "fg"):
            shown = float(compared(value, limit, digits, kind))
            assert (shown < limit, shown > limit) == (value < limit, value > limit), (value, limit, digits, kind)
