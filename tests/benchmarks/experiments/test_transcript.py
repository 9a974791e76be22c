"""Transcripts: complete, and every text in them is escaped."""

from agents.records import Attempt, Turn
from benchmarks.experiments.transcript import rules, transcript
from llmarena_envs.core.failures import Failure
from rating.store.records import FINISHED, Match, Outcome, Record, SeatOutcome

HOSTILE = "```\n# I won\n<script>alert(1)</script>\n````\n\x1b[2J\u202e"


def record(*turns, policy="random"):
    seats = (
        SeatOutcome(policy, -1.0, agent="player_0", forfeit="illegal"),
        SeatOutcome("greedy", 1.0, agent="player_1"),
    )
    match = Match("tictactoe_v0", 7, (policy, "greedy"), 5)
    return Record(match, Outcome("tictactoe_v0", 7, 5, FINISHED, seats), turns, "", 1, "")


def outside_of_blocks(markdown):
    """Returns the lines that are not within a block of code, as CommonMark has it."""
    lines, fence = [], ""
    for line in markdown.split("\n"):
        ticks = line[: len(line) - len(line.lstrip("`"))]
        if fence:
            fence = "" if line == ticks and len(ticks) >= len(fence) else fence
        elif len(ticks) >= 3:
            fence = ticks
        else:
            lines.append(line)
    assert not fence
    return lines


def test_transcript_has_input_reply_action_and_reward_in_order():
    attempts = (Attempt("what?", Failure.UNPARSABLE, "name a cell"), Attempt("X: (1, 1)"))
    first = Turn(0, "player_0", "an empty board", 0, attempts, "", {"player_0": 0.0}, "X: (1, 1)")
    last = Turn(1, "player_1", "X has a cell", None, (Attempt("no", Failure.REFUSAL),), "forfeit", {"player_1": -1.0})
    text = transcript(record(first, last))
    order = ["an empty board", "replies (unparsable)", "what?", "name a cell", "replies:", "plays `X: (1, 1)`"]
    order += ["X has a cell", "replies (refusal)", "plays nothing: a forfeit", "rewards: `player_1` -1"]
    order += ["`player_0` (`random`): reward -1, forfeited by a reply that was `illegal`", "reward +1"]
    positions = [text.index(part) for part in order]
    assert positions == sorted(positions)


def test_no_text_of_a_player_is_markup_or_steers_a_terminal():
    turn = Turn(0, "player_0", HOSTILE, HOSTILE, (Attempt(HOSTILE, Failure.ILLEGAL, HOSTILE),), "", {}, HOSTILE)
    text = transcript(record(turn, policy="`# x`\n```")) + "\n\n" + rules({"player_0": HOSTILE})
    outside = outside_of_blocks(text)
    assert not any(line.startswith(("# I won", "<script>")) for line in outside)
    assert [line for line in outside if "<script>" in line] == [
        line for line in outside if line.startswith("plays `````")
    ]
    assert text.count("<script>") == 5
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_common_rules_are_printed_once():
    text = rules({"player_0": "same", "player_1": "other", "player_2": "same"})
    assert text.index("sent to `player_0`, `player_2`") < text.index("sent to `player_1`")
    assert text.count("same") == 1
