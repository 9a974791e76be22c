"""``llmarena compare``: on runs that are finished, going on or strange, in words and as JSON."""

import json
from contextlib import closing

import pytest

from rating.cli import main
from rating.records.match import Match
from rating.records.outcome import FINISHED, VOID, Outcome, SeatOutcome
from rating.running.run_directory import create

STRONG = "strong"

RUN = """
[[environment]]
name = "tictactoe_v0"
[[environment]]
name = "connect_four_v0"
[[policy]]
name = "strong"
spec = "greedy"
[[policy]]
name = "weak"
spec = "random"
[[policy]]
name = "absent"
spec = "first_legal"
"""


class LiveRun:
    """A run whose store is being written."""

    def __init__(self, directory):
        self.directory = directory
        self.store = create(directory, RUN, "run.toml")[1]

    def enter(self, first, count, environment="tictactoe_v0"):
        """Enters matches of whole deals: an even one and the next share a deal and exchange the seats."""
        names = (STRONG, "weak")
        found = [
            Match(environment, number, names if number % 2 == 0 else names[::-1], number // 2)
            for number in range(first, first + count)
        ]
        for match in found:
            self.store.add_match(match)
        return found

    def end(self, match, winner="strong", status=FINISHED, **effort):
        seats = [SeatOutcome(name, 1.0 if name == winner else -1.0, **effort) for name in match.policies]
        self.store.finish(match, Outcome(match.environment, match.number, match.seed, status, tuple(seats)))


@pytest.fixture
def live(tmp_path):
    run = LiveRun(tmp_path / "run")
    with closing(run.store):
        yield run


def compare(capsys, *arguments, code=0):
    capsys.readouterr()
    assert main(["compare", *map(str, arguments)]) == code
    captured = capsys.readouterr()
    return captured.err if code else captured.out


def test_a_run_is_compared_while_it_is_played(live, capsys):
    matches = live.enter(0, 40)
    for match in reversed(matches[20:]):  # quick wins that end first tell nothing
        live.end(match)
    assert main(["compare", str(live.directory), STRONG, "weak"]) == 0
    assert "no pair of matches between these policies has ended yet" in capsys.readouterr().err
    for match in matches[:8]:
        live.end(match, winner=match.policies[0])
    (found,) = json.loads(compare(capsys, live.directory, STRONG, "weak", "--json", "--environment", "tictactoe_v0"))
    (comparison,) = found["comparisons"]
    assert (comparison["units"], comparison["unit"], comparison["win_rate"]["value"]) == (4, "pairs", 0.5)
    assert (comparison["waiting"], comparison["void"], comparison["better"]) == (32, 0, None)
    live.end(matches[8])
    assert "under way: 32 matches" in compare(capsys, live.directory, STRONG, "weak")
    for match in matches[9:20]:
        live.end(match, status=VOID if match.number == 9 else FINISHED)
    printed = compare(capsys, live.directory, STRONG, "weak")
    assert "tictactoe_v0: strong is better than weak\n" in printed
    assert "over 19 pairs" in printed and "under way" not in printed
    assert "without result: 1 match, left out" in printed
    assert "left out: 1 match without" in printed
    assert "connect_four_v0: undecided whether strong or weak is better\n" in printed


def test_both_orders_say_the_same(live, capsys):
    for match in live.enter(0, 30):
        live.end(match)
    one, other = (
        json.loads(compare(capsys, live.directory, *names, "--json"))[0]["comparisons"][0]
        for names in ((STRONG, "weak"), ("weak", STRONG))
    )
    assert one["better"] == other["better"] == "strong"
    assert (one["a_better"], one["p"]) == (other["b_better"], other["p"])


def test_what_is_not_a_policys_own_play_is_told(live, capsys):
    for match in live.enter(0, 10):
        live.end(match, turns=4, fallbacks=1, forfeit="" if match.number else "illegal")
    printed = compare(capsys, live.directory, STRONG, "weak")
    assert "weak forfeited 1 match, counted as lost" in printed
    assert "strong: 22% of its turns were played for it" in printed


def test_margins_and_the_average_over_environments(live, capsys):
    for environment in ("tictactoe_v0", "connect_four_v0"):
        for match in live.enter(0, 28, environment):
            live.end(match, winner=match.policies[0] if match.number % 4 < 2 else "strong")
    assert "average over the environments: strong is better than weak" not in compare(
        capsys, live.directory, STRONG, "weak", "--margin", "0.2"
    )
    shown = compare(capsys, live.directory, STRONG, "weak", "--margin", "50elo")
    assert "is better by more than 0.0715 of win rate (50 Elo)" in shown
    results = json.loads(compare(capsys, live.directory, STRONG, "weak", "--level", "0.2", "--equal", "0.45", "--json"))
    assert [result["environment"] for result in results][-1] == "average over the environments"
    assert [result["comparisons"][0]["equal"] for result in results] == [True] * 3
    assert results[2]["comparisons"][0]["win_rate"]["value"] == 0.75


def test_many_against_one(live, capsys):
    for match in live.enter(0, 30):
        live.end(match)
    printed = compare(capsys, live.directory, "weak", "absent", "--against", STRONG)
    assert "tictactoe_v0: against strong\n  strong is better than weak" in printed
    assert "undecided whether absent or strong is better; no" in printed
    assert "verdicts of all 2 together are held to the level 0.05" in printed
    assert "choose beforehand which one counts." in printed  # no average is shown
    (found, *_) = json.loads(compare(capsys, live.directory, "weak", "absent", "--against", STRONG, "--json"))
    assert (found["champion"], found["better"], found["corrected_p"][1]) == ("strong", ["strong", None], 1)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("strong", "week"), "policy: expected one of 'absent', 'strong', 'weak', got 'week'; did you mean 'weak'?"),
        (("strong", "strong"), "policies: expected different ones, got strong, strong"),
        (("strong",), "policies: expected two, got 1; there are absent, strong, weak"),
        (("strong", "weak", "--environment", "hanabi_v0"), "environment: expected one of 'tictactoe_v0'"),
        (("strong", "weak", "--margin", "much"), "margin: expected a part of the win rate, as 0.05, or Elo, as 50elo"),
        (("strong", "weak", "--margin", "0.7"), "margin: expected a number of 0 or more, below 0.5; got 0.7"),
        (("strong", "weak", "--equal", "0"), "equal: expected a number above 0, below 0.5"),
        (("strong", "weak", "--level", "1"), "level: expected a number above 0, below 1"),
    ],
)
def test_refusals(live, capsys, arguments, said):
    assert said in compare(capsys, live.directory, *arguments, code=2)


def test_where_nobody_plays_against_anybody(tmp_path, capsys):
    text = RUN.replace("tictactoe_v0", "hanabi_v0").replace('[[environment]]\nname = "connect_four_v0"\n', "")
    text = text.replace("greedy", "first_legal")
    with closing(create(tmp_path / "run", text, "run.toml")[1]):
        said = compare(capsys, tmp_path / "run", "strong", "weak", code=2)
    assert "got hanabi_v0 (scheme cooperation); rate compares their means" in said
    assert "expected the directory of a run" in compare(capsys, tmp_path, "a", "b", code=2)


def test_a_log_of_others_and_its_import(tmp_path, capsys):
    rows = [("ann", "bob", "model_a")] * 30 + [("bob", "ann", "model_a")] * 4 + [("cid", "bob", "tie")] * 3
    table = "model_a,model_b,winner\n" + "".join(f"{','.join(row)}\n" for row in rows)
    (tmp_path / "log.csv").write_text(table, encoding="utf-8")
    assert main(["import", str(tmp_path / "log.csv"), "--out", str(tmp_path / "imported")]) == 0
    for path in (tmp_path / "log.csv", tmp_path / "imported"):
        printed = compare(capsys, path, "ann", "bob")
        assert "ann is better than bob\n" in printed
        assert "over 34 battles" in printed and "reached after" not in printed
        assert main(["compare", str(path), "ann", "cid"]) == 0
        assert "no pair of matches" in capsys.readouterr().err
    assert "got 'dan'" in compare(capsys, path, "ann", "dan", code=2)
