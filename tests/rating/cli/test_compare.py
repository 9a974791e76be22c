"""``llmarena compare`` on finished and running runs and on logs, as text and as JSON."""

import json
from contextlib import closing

import pytest

from rating.cli import main
from rating.play.run_directory import create
from rating.store.records import FINISHED, VOID, Match, Outcome, SeatOutcome

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


def test_compare_of_a_running_run_uses_the_prefix(live, capsys):
    matches = live.enter(0, 40)
    for match in reversed(matches[20:]):  # quick wins that end first tell nothing
        live.end(match)
    assert main(["compare", str(live.directory), STRONG, "weak"]) == 0
    assert "no pair of matches between these policies, or deal of both, has ended yet" in capsys.readouterr().err
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


def test_compare_reports_forfeits_and_fallbacks(live, capsys):
    for match in live.enter(0, 10):
        live.end(match, turns=4, fallbacks=1, forfeit="" if match.number else "illegal")
    printed = compare(capsys, live.directory, STRONG, "weak")
    assert "weak forfeited 1 match, counted as lost" in printed
    assert "strong: 22% of its turns were played for it" in printed


def test_compare_margins_and_average(live, capsys):
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


def test_compare_against_a_champion(live, capsys):
    for match in live.enter(0, 30):
        live.end(match)
    printed = compare(capsys, live.directory, "weak", "absent", "--against", STRONG)
    assert "tictactoe_v0: against strong\n  strong is better than weak" in printed
    assert "undecided whether absent or strong is better; no" in printed
    assert "verdicts: corrected for all 2 comparisons (Holm, level 0.05)" in printed
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
        (("strong", "weak", "--level", "1"), "level: expected a number above 0, below 1"),
    ],
)
def test_compare_refuses_bad_arguments(live, capsys, arguments, said):
    assert said in compare(capsys, live.directory, *arguments, code=2)


class PartnerRun(LiveRun):
    """A run of Hanabi: two policies in self-play and with each other, four matches a deal."""

    def __init__(self, directory):
        self.directory = directory
        text = RUN.replace("tictactoe_v0", "hanabi_v0").replace('[[environment]]\nname = "connect_four_v0"\n', "")
        text = text.replace("greedy", "first_legal").partition('[[policy]]\nname = "absent"')[0]
        self.store = create(directory, text, "run.toml")[1]

    def enter_deals(self, first, count):
        tables = [(STRONG, STRONG), ("weak", "weak"), (STRONG, "weak"), ("weak", STRONG)]
        found = [
            Match("hanabi_v0", deal * len(tables) + index, table, deal)
            for deal in range(first, first + count)
            for index, table in enumerate(tables)
        ]
        for match in found:
            self.store.add_match(match)
        return found

    def end(self, match, reward=0.0, status=FINISHED):
        seats = tuple(SeatOutcome(name, reward) for name in match.policies)
        self.store.finish(match, Outcome(match.environment, match.number, match.seed, status, seats))


@pytest.fixture
def partners(tmp_path):
    run = PartnerRun(tmp_path / "run")
    with closing(run.store):
        yield run


def test_compare_partners_by_shared_deal(partners, capsys):
    matches = partners.enter_deals(0, 12)
    for match in matches[: 4 * 10]:  # the last two deals are under way
        lead = 0.5 + match.seed % 3 if match.policies == (STRONG, STRONG) else 0.0
        partners.end(match, 3.0 * match.seed + lead)
    alone, together = json.loads(compare(capsys, partners.directory, STRONG, "weak", "--json"))
    assert [alone["part"], together["part"]] == ["with itself", "with others"]
    (found,), (even,) = alone["comparisons"], together["comparisons"]
    assert (found["unit"], found["units"], found["waiting"], found["better"]) == ("shared deals", 10, 8, STRONG)
    assert (found["win_rate"]["value"], even["win_rate"]["value"]) == (1.0, 0.5)
    difference = found["mean_difference"]
    assert difference["value"] == pytest.approx(1.4) and 0.7 < difference["low"] < 1.4 < difference["high"] < 2.1
    assert even["mean_difference"]["low"] is None and found["elo"]["value"] is None
    printed = compare(capsys, partners.directory, STRONG, "weak")
    assert "hanabi_v0, with itself: strong is ahead of weak on more deals\n" in printed
    assert "mean difference +1.4 [" in printed and "(paired t, 95 %, for one look)" in printed
    assert "Each of the 2 results has a verdict of its own" in printed and "average" not in printed


def test_compare_leaves_out_incomplete_deals(partners, capsys):
    for match in partners.enter_deals(0, 8):
        is_void = match.seed == 3 and match.policies == ("weak", "weak")
        partners.end(match, 1.0, VOID if is_void else FINISHED)
    (found, _) = json.loads(compare(capsys, partners.directory, STRONG, "weak", "--json"))
    assert (found["comparisons"][0]["units"], found["comparisons"][0]["left_out"]) == (7, 1)
    assert "left out: 1 deal with fewer finished matches of one policy" in compare(
        capsys, partners.directory, STRONG, "weak"
    )


def test_compare_roles_apart_and_together(tmp_path, capsys):
    text = '[[environment]]\nname = "undercover_v0"\n' + "".join(
        f'[[policy]]\nspec = "{name}"\n' for name in ("similarity", "silent", "random")
    )
    _, store = create(tmp_path / "run", text, "run.toml")
    with closing(store):
        number = 0
        for deal in range(9):
            for name in ("similarity", "silent"):
                for is_undercover in (True, False):
                    own = [index == 0 for index in range(5)]
                    seats = tuple(
                        SeatOutcome(
                            name if is_first == is_undercover else "random",
                            1.0 if name == "similarity" or is_first != is_undercover else -1.0,
                            statistics={"role": float(is_first)},
                        )
                        for is_first in own
                    )
                    match = Match("undercover_v0", number, tuple(seat.policy for seat in seats), deal)
                    store.add_match(match)
                    store.finish(match, Outcome("undercover_v0", number, deal, FINISHED, seats))
                    number += 1
    results = json.loads(compare(capsys, tmp_path / "run", "similarity", "silent", "--json"))
    assert [result["part"] for result in results] == ["as undercover", "as civilian", "all roles"]
    for result in results:
        (found,) = result["comparisons"]
        assert (found["units"], found["win_rate"]["value"]) == (9, 1.0)
    against = compare(capsys, tmp_path / "run", "silent", "--against", "similarity")
    assert "undercover_v0, as undercover: against similarity\n" in against


def test_compare_of_a_log_counts_every_battle(tmp_path, capsys):
    rows = [("ann", "bob", "model_a")] * 30 + [("bob", "ann", "model_a")] * 4 + [("cid", "bob", "tie")] * 3
    table = "model_a,model_b,winner\n" + "".join(f"{','.join(row)}\n" for row in rows)
    path = tmp_path / "log.csv"
    path.write_text(table, encoding="utf-8")
    printed = compare(capsys, path, "ann", "bob")
    assert "ann is better than bob\n" in printed
    assert "over 34 battles" in printed and "reached after" not in printed
    assert main(["compare", str(path), "ann", "cid"]) == 0
    assert "no pair of matches" in capsys.readouterr().err
    assert "got 'dan'" in compare(capsys, path, "ann", "dan", code=2)
