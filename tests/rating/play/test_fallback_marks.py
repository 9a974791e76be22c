"""Policies with many fallback turns are marked on every leaderboard, under every rating method."""

import json
import re

import pytest

from rating.cli import main
from rating.schemes.caveats import fallback_mark, is_marked
from rating.schemes.registry import SCHEMES
from tests.rating.runs import play_run

pytestmark = pytest.mark.timeout(120)

ENVIRONMENTS = {
    "duels": 'name = "tictactoe_v0"',
    "mean_reward": 'name = "tictactoe_v0#means"',
    "self_play": 'name = "tictactoe_v0#alone"',
    "field": 'name = "tictactoe_v0#field"\nopponent = "random"',
    "roles": 'name = "tictactoe_v0#roles"',
    "tournament": 'name = "tictactoe_v0#cup"\ntournament = { questions = 4 }',
    "cooperation": 'name = "hanabi_v0"',
}
NOTE = "fallback: share of its turns"


@pytest.mark.slow
def test_every_scheme_marks_a_policy_with_many_fallbacks(tmp_path, capsys):
    assert ENVIRONMENTS.keys() == SCHEMES.keys()
    text = 'executor = "asyncio"\nkeep_going = true\n[turns]\nreasks = 0\n[stop]\nmax_matches = 4\nmatches = 4\n'
    text += "".join(f'[[environment]]\n{table}\nscheme = "{name}"\n' for name, table in ENVIRONMENTS.items())
    text += '[[policy]]\nname = "faulty"\nspec = "tests.rating.players:falters"\n[[policy]]\nspec = "first_legal"\n'
    play_run(tmp_path / "run", text)
    main(["rate", str(tmp_path / "run"), "--json"])
    found = json.loads(capsys.readouterr().out)
    boards, summary = found["leaderboards"], found["summary"]
    assert {board["scheme"] for board in boards} == SCHEMES.keys()
    shares = {}
    for board in boards:
        rows = {row["policy"]: row for row in board["rows"]}
        effort = rows["faulty"]["effort"]
        shares[board["environment"]] = rows["faulty"]["fallback_share"]
        assert rows["faulty"]["fallback_share"] == pytest.approx(effort["fallbacks"] / effort["turns"], abs=1e-4)
        assert 0.05 < rows["faulty"]["fallback_share"] < 0.5 and rows["first_legal"]["fallback_share"] == 0
    marked = {row["policy"]: row["fallback_share"] for row in summary["rows"]}
    assert marked == {"faulty": max(shares.values()), "first_legal": 0}
    main(["rate", str(tmp_path / "run")])
    brief = capsys.readouterr().out.split("\n\n")[1:]
    assert len(brief) == len(boards) + 1 and all("fallback " in part for part in brief)
    main(["rate", str(tmp_path / "run"), "--explain"])
    printed = capsys.readouterr().out.split("\n\n")[1:]
    assert len(printed) == len(boards) + 1
    for part in printed:
        lines = [line for line in part.splitlines() if "faulty" in line and "fallback" in line]
        assert len(lines) == 1, part
        assert re.search(r"fallback \d+ %", lines[0])
        assert " ".join(part.split()).count(NOTE) == 1
    main(["report", str(tmp_path / "run")])
    page = (tmp_path / "run" / "report.html").read_text()
    assert all(fallback_mark(share) in page for share in shares.values()) and page.count(NOTE) == len(printed)


@pytest.mark.parametrize(
    ("turns", "fallbacks", "marked"), [(100, 5, True), (60, 3, True), (101, 5, False), (9, 0, False)]
)
def test_a_policy_is_marked_from_five_percent(turns, fallbacks, marked):
    assert is_marked(fallbacks / turns) is marked
