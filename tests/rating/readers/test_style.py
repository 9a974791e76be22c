"""Style in published logs: counts and texts, invalid style, and the commands that use it."""

import json

import numpy as np
import pandas as pd
import pytest

import rating
from llmarena_envs.core.options import OptionError
from rating.cli import main
from rating.readers.style import read_style, style_of

METADATA = {
    "sum_assistant_a_tokens": 120,
    "sum_assistant_b_tokens": 80,
    "header_count_a": {"h1": 1, "h2": 3},
    "header_count_b": {"h1": 0, "h2": 0},
    "list_count_a": {"ordered": 4, "unordered": 0},
    "list_count_b": {"ordered": 0, "unordered": 2},
    "bold_count_a": {"**": 5, "__": 1},
    "bold_count_b": {"**": 0, "__": 0},
    "turns": 1,
}
COUNTED = {"length": (120, 80), "headers": (4, 0), "lists": (4, 2), "bold": (6, 0)}
USER = {"role": "user", "content": "# Not **counted** at all"}


def test_style_of_counts_marks_outside_code():
    text = "# One\ntwo **three four** __five__\n- six\n  * seven\n1. eight\n2) nine\n#hash 3*4*5 - no\n```\n# code\n- code\n```"
    found = style_of(text, "")
    assert {name: pair[0] for name, pair in found.items() if name != "length"} == {"headers": 1, "lists": 4, "bold": 2}
    assert found["length"][0] > style_of("one two three four five six seven eight nine", "")["length"][0] == 9
    assert all(pair[1] == 0 for pair in found.values())


def test_style_of_counts_chinese_words():
    assert 2 <= style_of("今天天气很好", "")["length"][0] <= 6


@pytest.mark.parametrize(
    ("row", "style"),
    [
        ({"conv_metadata": METADATA}, COUNTED),
        ({"conv_metadata": json.dumps(METADATA), "words_a": "3", "words_b": "4"}, COUNTED),
        ({"conv_metadata": {**METADATA, "header_count_a": 2, "header_count_b": 0}}, {**COUNTED, "headers": (2, 0)}),
        ({"conv_metadata": {"turns": 2}}, {}),
        ({"conv_metadata": None, "words_a": "3", "words_b": 4}, {"length": (3, 4)}),
        ({"words_a": "3", "words_b": ""}, {}),
        ({"style": {"length": [1, 2], "emoji": [0, 3]}}, {"length": (1, 2), "emoji": (0, 3)}),
        ({"style": "", "conv_metadata": float("nan")}, {}),
        ({"conversation_a": 7, "conversation_b": [USER]}, {}),
        ({"conversation_a": [{"from": "x"}], "conversation_b": [USER]}, {}),
        ({"winner": "model_a"}, {}),
    ],
)
def test_read_style_of_counts(row, style):
    assert read_style(row) == style


@pytest.mark.parametrize("as_table", [list, lambda turns: np.array(turns, dtype=object)])
def test_read_style_counts_answers_of_all_turns(as_table):
    parts = {
        "role": "assistant",
        "content": as_table([{"type": "text", "text": "# Three words"}, {"type": "image", "image": "x"}]),
    }
    turns = as_table([USER, parts, USER, {"role": "assistant", "content": "and two"}])
    found = read_style(
        {"conversation_a": turns, "conversation_b": as_table([USER, {"role": "assistant", "content": "- x"}])}
    )
    assert found == style_of("# Three words\nand two", "- x")


def test_read_style_counts_answers_of_a_table():
    row = {"response_a": '["**one**", null, "two"]', "response_b": "[sic] is no list"}
    assert read_style(row) == style_of("**one**\n\ntwo", "[sic] is no list")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"conv_metadata": "long"}, "conv_metadata: expected an object, got 'long'"),
        ({"conv_metadata": "{" * 100_000}, "conv_metadata: expected an object"),
        ({"conv_metadata": {**METADATA, "sum_assistant_a_tokens": -1}}, r"each side of 'length', got \(-1, 80\)"),
        ({"conv_metadata": {**METADATA, "sum_assistant_a_tokens": "many"}}, "each side of 'length'"),
        ({"conv_metadata": {**METADATA, "bold_count_a": {"**": "x"}}}, "each side of 'bold'"),
        ({"style": {"length": [1]}}, "each side of 'length'"),
        ({"style": {"length": [1, 1e300]}}, "each side of 'length'"),
    ],
)
def test_read_style_refuses_other_values(row, message):
    with pytest.raises(OptionError, match=message):
        read_style(row)
    table = pd.DataFrame([{"model_a": "x", "model_b": "y", "winner": "model_a", **row}])
    with pytest.raises(ValueError, match=f"battle 0: .*{message}"):
        rating.leaderboard(table, style=("length",))
    assert len(rating.leaderboard(table).rows) == 2


def log(path, count=60):
    rng = np.random.default_rng(0)
    rows = []
    for number in range(count):
        answers = [f"# Answer\n{'word ' * int(rng.integers(5, 60))}" for _ in range(2)]
        one, other = rng.choice(["ada", "bob", "cleo"], 2, replace=False).tolist()
        sides = [[USER, {"role": "assistant", "content": answer}] for answer in answers]
        row = {
            "model_a": one,
            "model_b": other,
            "winner": "model_a" if len(answers[0]) > len(answers[1]) else "model_b",
        }
        rows.append({**row, "question_id": number % 20, "conversation_a": sides[0], "conversation_b": sides[1]})
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return rows


def rate(capsys, *arguments, code=0):
    capsys.readouterr()
    assert main(["rate", *map(str, arguments)]) == code
    shown = capsys.readouterr()
    return shown.err if code else shown.out


def test_style_control_of_a_log_and_its_export_are_equal(tmp_path, capsys):
    path = tmp_path / "votes.jsonl"
    rows = log(path)
    assert main(["export", str(path), "--format", "battles"]) == 0
    (tmp_path / "again.jsonl").write_text(capsys.readouterr().out, encoding="utf-8")
    found, again = (
        json.loads(rate(capsys, tmp_path / name, "--style", "length", "--json"))["style_control"]
        for name in ("votes.jsonl", "again.jsonl")
    )
    ((_, found),) = found.items()
    assert [found] == list(again.values())
    assert found["effects"]["length"]["low"] > 50
    table = rating.leaderboard(pd.DataFrame(rows), style=["length"])
    assert [(row.policy, round(row.rating.value, 4)) for row in table.style.rows] == [
        (row["policy"], row["rating"]["value"]) for row in found["rows"]
    ]
    shown = rate(capsys, path, "--style", "length,format")
    assert "votes: style control" in shown and "the same on both sides of every result: headers, lists, bold" in shown


def test_style_control_without_style_is_refused(tmp_path, capsys):
    path = tmp_path / "votes.csv"
    path.write_text("model_a,model_b,winner,words_a,words_b\nx,y,model_a,,\ny,x,tie,,\n", encoding="utf-8")
    assert "expected a log with style, conv_metadata" in rate(capsys, path, "--style", "length", code=2)
    path.write_text("model_a,model_b,winner,words_a,words_b\nx,y,model_a,3,4\ny,x,tie,,\n", encoding="utf-8")
    assert "'length' of both texts in all 2 results, got it in 1" in rate(capsys, path, "--style", "length", code=2)


def test_order_ba_swaps_style(tmp_path):
    path = tmp_path / "verdicts.csv"
    path.write_text("item,judge,verdict,a,b,order,words_a,words_b\nq,j,A,x,y,BA,10,20\n", encoding="utf-8")
    (battle,) = rating.read_battles(path)
    assert (battle.first, battle.score, battle.style) == ("y", 1.0, {"length": (20, 10)})


RUN = """
seed = 3
workers = 1
[stop]
rule = "trueskill"
min_matches = 8
max_matches = 8
[[environment]]
name = "debate_v0"
scheme = "duels"
options = { n_judges = 1 }
[environment.staff]
judge = ["fair"]
[[policy]]
name = "strong"
spec = "debater:strength=3"
[[policy]]
name = "weak"
spec = "debater"
[[policy]]
name = "fair"
spec = "debater"
rated = false
"""


@pytest.mark.slow
def test_style_control_of_a_run_of_debates(tmp_path, capsys):
    (tmp_path / "run.toml").write_text(RUN, encoding="utf-8")
    assert main(["run", str(tmp_path / "run.toml"), "--out", str(tmp_path / "run")]) == 0
    ((environment, found),) = json.loads(rate(capsys, tmp_path / "run", "--style", "length", "--json"))[
        "style_control"
    ].items()
    assert environment == "debate_v0"
    assert list(found["effects"]) == ["length"]
    assert {row["policy"] for row in found["rows"]} == {"strong", "weak"}
    message = rate(capsys, tmp_path / "run", "--style", "format", code=2)
    assert "debate_v0: style: expected 'headers' of both texts" in message and "these results have length" in message
