"""Runs whose matches are chosen from results: on any number of workers, interrupted, with failures, leavers and newcomers."""

from contextlib import closing

import pytest

from agents.errors import ProviderError
from llmarena_envs.core.options import OptionError
from rating.cli import main
from rating.config.run_file import parse_run_file
from rating.play import run_directory
from rating.play.run import Run
from rating.schedules.until import Until
from rating.schemes.rewards import CO_PLAYERS
from rating.store.records import FINISHED, VOID
from rating.store.state import RunState
from tests.rating import runs
from tests.rating.interruption import ended_after
from tests.rating.players import Asked

pytestmark = pytest.mark.timeout(120)

DEAD = ProviderError("401: no such key", fatal=True)
POOL = "".join(
    f'[[policy]]\nname = "{name}"\nspec = "{spec}"\n' for name, spec in zip("abc", ("random",) * 3, strict=True)
)
GAME = '[[environment]]\nname = "tictactoe_v0"\n'
STOP = "[stop]\nmin_matches = 12\nmax_matches = 32\n"
SCRIPTED = f'schedule = "adaptive"\nexecutor = "asyncio"\n{STOP}{GAME}{POOL}'


def asked(names, stop="min_matches = 12\nmax_matches = 40\neps = 1000.0", extra=""):
    players = runs.asked(names, "tests.rating.players:Reached")
    return f'schedule = "adaptive"\n{extra}\n[stop]\n{stop}\n{GAME}{players}'


def go_on(directory, text=None):
    """Plays a run, with another run file if there is one; returns the number of void matches, the records and the facts."""
    step = runs.go_on if (directory / "run.toml").exists() else runs.begin
    return step(directory, text)[1:]


def stop_after(monkeypatch, directory, count, text=None):
    """Plays a run until some matches have ended, and no further."""

    with ended_after(monkeypatch, count):
        go_on(directory, text)


def seatings(records):
    return [record.match.policies for record in records]


@pytest.mark.slow
def test_any_number_of_workers_plays_the_same_matches(tmp_path):
    _, one, facts = go_on(tmp_path / "one", f"workers = 1\n{SCRIPTED}")
    _, two, _ = go_on(tmp_path / "two", f"workers = 2\n{SCRIPTED.replace('asyncio', 'process')}")
    assert one == two
    assert len(set(seatings(one))) == 6 and facts["stopped:tictactoe_v0"]


@pytest.mark.slow_except(1)
@pytest.mark.parametrize("count", [5, 37])
def test_interrupted_run_resumes_undisturbed(tmp_path, monkeypatch, count):
    whole = go_on(tmp_path / "whole", SCRIPTED)
    stop_after(monkeypatch, tmp_path / "stopped", count, SCRIPTED)
    assert go_on(tmp_path / "stopped") == whole


def test_adaptive_void_matches_are_replayed_as_chosen(tmp_path):
    Asked.failing["c"] = DEAD
    text = asked("abc")
    void, before, facts = go_on(tmp_path / "run", text)
    assert void > 0 and facts["stopped:tictactoe_v0"]
    # A suspended policy is not paired any more.
    assert not any("c" in names for names in seatings(before)[2 * 16 :]) and len(before) > 2 * 16
    Asked.failing.clear()
    void, after, _ = go_on(tmp_path / "run", text.replace("max_matches = 40", "max_matches = 80"))
    assert void == 0 and seatings(after)[: len(before)] == seatings(before)
    finished = {record.match.id: record.digest for record in before if record.status == FINISHED}
    assert finished.items() <= {record.match.id: record.digest for record in after}.items()
    sat = [name for record in after if record.status == FINISHED for name in record.match.policies]
    assert all(sat.count(name) >= 12 for name in "abc")


def test_withdrawn_policy_is_not_paired(tmp_path, monkeypatch):
    stop_after(monkeypatch, tmp_path / "run", 20, asked("abcd"))
    void, records, _ = go_on(tmp_path / "run", asked("abc"))
    assert void == 0
    left_void = [record for record in records if record.status == VOID]
    assert all("d" in record.match.policies for record in left_void) and left_void
    assert max(record.match.number for record in left_void) < max(record.match.number for record in records)


@pytest.mark.slow
@pytest.mark.parametrize("count", [0, 7])
def test_newcomers_play_in_a_separate_resumable_phase(tmp_path, monkeypatch, count):
    for name in ("whole", "stopped"):
        _, first, _ = go_on(tmp_path / name, asked("abc"))
    void, records, facts = go_on(tmp_path / "whole", asked("abcd"))
    assert void == 0 and records[: len(first)] == first
    assert facts["phases:tictactoe_v0"] == f"[{len(first)}]"
    assert all("d" in names for names in seatings(records)[len(first) :])
    stop_after(monkeypatch, tmp_path / "stopped", count, asked("abcd"))
    assert go_on(tmp_path / "stopped")[1] == records
    more = go_on(tmp_path / "stopped", asked("abcde"))[1]
    assert more[: len(records)] == records
    assert more[len(records) :] and all("e" in names for names in seatings(more)[len(records) :])


def test_adaptive_run_keeps_max_matches_until_raised(tmp_path):
    text = SCRIPTED.replace("[stop]\n", "[stop]\nrule = 'width=1'\n")
    _, records, facts = go_on(tmp_path / "run", text.replace("max_matches = 32", "max_matches = 16"))
    sat = [name for names in seatings(records) for name in names]
    assert facts["stopped:tictactoe_v0"] == "cap" and max(map(sat.count, "abc")) == 16
    _, more, _ = go_on(tmp_path / "run", text)
    sat = [name for names in seatings(more) for name in names]
    assert more[: len(records)] == records and max(map(sat.count, "abc")) == 32


@pytest.mark.parametrize(
    ("environment", "options"),
    [
        ("undercover_v0", ""),
        ("hanabi_v0", 'scheme = "cooperation"'),
        ("tictactoe_v0", 'scheme = "field"\nopponent = "random"'),
        ("tictactoe_v0", 'scheme = "tournament"'),
    ],
)
def test_adaptive_schedule_is_refused_by_other_schemes(environment, options):
    table = f'[[environment]]\nname = "{environment}"\n{options}\n'
    config = parse_run_file(f'{table}schedule = "adaptive"\n{POOL}', "run.toml")
    with pytest.raises(OptionError, match=f"{environment}: schedule: expected 'round_robin'"):
        Run(config).scheme(environment)
    with pytest.raises(OptionError, match="and no environment has such"):
        run_directory.check_run_file(f'schedule = "adaptive"\n{table}{POOL}', "run.toml")
    other = '[[environment]]\nname = "connect_four_v0"\n'
    run = run_directory.check_run_file(f'schedule = "adaptive"\n{table}{other}{POOL}', "run.toml").run
    names = [item.name for item in run.config.environment]
    assert [run.scheme(name).setting.schedule for name in names] == ["round_robin", "adaptive"]


@pytest.mark.slow
def test_adaptive_full_tables_equal_the_fixed_cycle(tmp_path):
    table = '[[environment]]\nname = "bid_v0"\noptions = { n_bidders = 3 }\nschedule = "%s"\n'
    fixed, adaptive = (
        go_on(tmp_path / name, f"[stop]\nmatches = 3\n{table % name}{POOL}") for name in ("round_robin", "adaptive")
    )
    assert fixed[1] == adaptive[1]


def test_adaptive_tables_are_balanced(tmp_path):
    four = POOL + '[[policy]]\nname = "d"\nspec = "first_legal"\n'
    table = '[[environment]]\nname = "bid_v0"\noptions = { n_bidders = 3 }\n'
    text = f'schedule = "adaptive"\nworkers = 1\n[stop]\nmatches = 12\n{table}{four}'
    run = Run(parse_run_file(text, "run.toml"))
    scheme = run.scheme("bid_v0")
    assert isinstance(scheme.schedule(), Until) and scheme.expected_matches() is None
    void, records, facts = go_on(tmp_path / "run", text)
    sat = [name for names in seatings(records) for name in names]
    board = run.leaderboard("bid_v0", [record.outcome for record in records], RunState(facts))
    assert CO_PLAYERS in board.caveats
    assert (void, facts["stopped:bid_v0"]) == (0, "count") and min(map(sat.count, "abcd")) >= 12
    for name in "abcd":
        seats = [names.index(name) for names in seatings(records) if name in names]
        assert seats.count(0) == seats.count(1) == seats.count(2)


def test_adaptive_schedule_from_the_command_line(tmp_path, capsys):
    words = "run --env tictactoe_v0 --policy random --policy first_legal --policy greedy".split()
    words += "--schedule adaptive --min-matches 4 --max-matches 10 --workers 1".split()
    assert main([*words, "--dry-run"]) == 0
    assert "tictactoe_v0" in capsys.readouterr().out
    assert main([*words, "--out", str(tmp_path / "run"), "--quiet"]) == 0
    with closing(run_directory.open_store(tmp_path / "run")) as store:
        assert run_directory.read_identity(store).schedule == {"tictactoe_v0": "adaptive"}
    assert main(["replay", str(tmp_path / "run"), "--verify"]) == 0
    (tmp_path / "run.toml").write_text(SCRIPTED)
    assert main(["run", str(tmp_path / "run.toml"), "--schedule", "adaptive", "--dry-run"]) == 2
    assert "got both" in capsys.readouterr().err
