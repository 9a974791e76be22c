"""Files of judgements: every form that is read, and messages that name file and line."""

import json

import pytest

from llmarena_envs.core.options import OptionError
from rating.readers import read_judgements


def read(tmp_path, text, name="file.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    (judgements,) = read_judgements([path]).values()
    return judgements


def test_read_judgements_stages_in_any_order(tmp_path):
    text = "verdict,Item,JUDGE,stage\nB,q1,ann,final\nA,q1,ann,first\n平局,q1,bob,final\n,q2,bob,final\n"
    ann, bob, absent = read(tmp_path, "\ufeff" + text)
    assert (ann.item, ann.judge, ann.first, ann.final) == ("q1", "ann", "A", "B")
    assert (bob.first, bob.final, absent.item, absent.final) == (None, "tie", "q2", None)


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_read_judgements_spreadsheet_delimiters(tmp_path, delimiter):
    text = "item,judge,verdict\nq1,ann,A\nq1,bob,B\n".replace(",", delimiter)
    assert [one.final for one in read(tmp_path, text)] == ["A", "B"]


def test_read_judgements_swapped_order_is_another_item(tmp_path):
    named = read(tmp_path, "question_id,model_a,model_b,reviewer,winner\n7,x,y,ann,A\n7,y,x,ann,A\n")
    assert [one.players for one in named] == [("x", "y"), ("y", "x")]
    assert len({one.item for one in named}) == 2
    assert len({one.texts_name for one in named}) == 1
    orders = read(tmp_path, "item,judge,verdict,order,a,b,words_a,words_b\n7,ann,A,,x,y,9,3\n7,ann,B,BA,x,y,9,3\n")
    assert [(one.players, one.words) for one in orders] == [(("x", "y"), (9, 3)), (("y", "x"), (3, 9))]
    unnamed = read(tmp_path, "item,judge,verdict,order\n7,ann,A,AB\n7,ann,B,BA\n")
    assert len({one.item for one in unnamed}) == 2
    assert {one.texts_name for one in unnamed} == {"7"}


def test_read_judgements_pairwise_files(tmp_path):
    crowd = read(tmp_path, "id,prompt,worker,winner,left,right\n0,8,58,tie,x,y\n0,8,83,right,x,y\n")
    assert [(one.judge, one.final) for one in crowd] == [("58", "tie"), ("83", "B")]
    (model,) = read(tmp_path, "id,prompt,winner,left,right\n0,8,left,x,y\n", "model.csv")
    assert (model.judge, model.final, model.item) == ("model", "A", crowd[0].item)


def test_read_judgements_json_lines_and_array(tmp_path):
    rows = [{"item": 1, "judge": "ann", "verdict": "A"}, {"item": "1", "judge": "bob", "verdict": None}]
    lines = read(tmp_path, "\n".join(json.dumps(row) for row in rows) + "\n\n", "file.jsonl")
    assert [(one.item, one.judge, one.final) for one in lines] == [("1", "ann", "A"), ("1", "bob", None)]
    assert read(tmp_path, json.dumps(rows), "file.json") == lines
    assert [one.final for one in read(tmp_path, json.dumps([{**rows[0], "verdict": 4}]))] == [4.0]


def test_read_judgements_turns_are_items(tmp_path):
    text = "question_id,model_a,model_b,winner,judge,turn\nq,x,y,model_a,j,1\nq,x,y,tie,j,2\n"
    found = read(tmp_path, text)
    assert [(one.item, one.final) for one in found] == [("q, turn 1: x / y", "A"), ("q, turn 2: x / y", "tie")]


def committee(**changed):
    row = {
        "gamekey": [31, "x", "y"],
        "judges": ["ann", "bob"],
        "num_rounds": "LD",
        "final_winner": ["A", "tie"],
        "ann": {"winner": ["A", "Tie"], "judgement": ["...", "..."]},
        "bob": {"winner": ["B", None], "judgement": ["...", ""]},
    }
    return json.dumps({**row, **changed})


def test_read_judgements_auto_arena_logs_with_lengths(tmp_path):
    (tmp_path / "verdicts.jsonl").write_text(committee() + "\n")
    rounds = [
        ["A", {"original": "a b c d", "no_thought": "a b"}],
        ["B", {"no_thought": "c"}],
        ["A", {"no_thought": "d"}],
    ]
    (tmp_path / "debates.jsonl").write_text(json.dumps({"gamekey": ["31", "x", "y"], "rounds": rounds}) + "\n")
    (found,) = read_judgements([tmp_path / "verdicts.jsonl", tmp_path / "debates.jsonl"]).values()
    ann, bob = found
    assert (ann.first, ann.final, ann.players, ann.words) == ("A", "tie", ("x", "y"), (3.0, 1.0))
    assert (bob.first, bob.final) == ("B", None)
    (only,) = read(tmp_path, committee(judges=["ann"], ann={"winner": ["B"]}))
    assert (only.first, only.final) == (None, "B")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("item,judge,verdict\nq,ann,A\nq,ann,B\n", "line 3: the verdict of 'ann' on 'q' is in .*line 2 already"),
        ("item,judge,verdict\nq,ann,better\n", "line 2: expected A, B, tie or a number, got 'better'"),
        ("item,judge,verdict\nq,ann,A\nq,bob,3\n", "line 3: expected verdicts of one kind in all lines"),
        ("item,judge\nq,ann\n", "line 2: expected a field winner or verdict or label, got item, judge"),
        ("item,judge,verdict\nq,,A\n", "line 2: judge: expected something, got an empty field"),
        ("item,judge,verdict\n\nq,ann\n", "line 3: expected 3 fields as in the header, got 2"),
        ("item,judge,verdict,judge\n", "line 1: expected distinct columns, got 'judge' twice"),
        ("item,judge,verdict,stage\nq,ann,A,third\n", "line 2: stage: expected one of first, .*got 'third'"),
        ("item,judge,verdict,order\nq,ann,A,XY\n", "line 2: order: expected one of ab, ba, got 'xy'"),
        ("item,judge,verdict,words_a,words_b\nq,ann,A,-4,5\n", "line 2: words_a: expected a number of words"),
        (f"item,judge,verdict\nq,ann,{'A' * 200_000}\n", "line 2: expected A, B, tie or a number, got 'AAA"),
        ('{"item": 1, "judge": "a", "verdict": "A"}\n{"item": 1', "line 2: expected JSON, but"),
        ('{"item": [1], "judge": "a", "verdict": "A"}', "line 1: item: expected a text or a number, got"),
        (committee(ann={}), "line 1: ann: expected an object with a list `winner`"),
        (committee(judges="ann"), "line 1: judges: expected a list of names"),
        (committee(judges=["ann", "ann"]), "line 1: judges: expected distinct names"),
        ("left,right,winner,order\nx,y,z,BA\n", "line 2: expected A, B, tie or a number, got 'z'"),
        (committee(gamekey=[1, "x"]), r"line 1: gamekey: expected \[question, player, player\]"),
        (committee(rounds=[["A"]]), r"line 1: rounds: expected \[role"),
    ],
)
def test_read_judgements_bad_input_names_the_line(tmp_path, text, message):
    with pytest.raises(OptionError, match=rf"file\.csv.*{message}"):
        read(tmp_path, text)


def test_read_judgements_missing_file_is_refused(tmp_path):
    with pytest.raises(OptionError, match=r"none\.csv: expected a file of results in UTF-8"):
        read_judgements([tmp_path / "none.csv"])
    assert read(tmp_path, "") == []


def test_read_judgements_numbers_on_two_players(tmp_path):
    found = read(tmp_path, "item,annotator,verdict,a,b\nq,ann,5,x,y\nq,bob,2,x,y\n")
    assert [(one.final, one.players) for one in found] == [(5.0, ("x", "y")), (2.0, ("x", "y"))]


def test_read_judgements_by_environment(tmp_path):
    text = "environment,item,judge,stage,verdict,a,b\nchess,match 1,ann,final,A,x,y\ndebate,match 1,ann,first,,,\n"
    path = tmp_path / "file.csv"
    path.write_text(text + "debate,match 1,ann,final,B,,\n")
    found = read_judgements([path])
    assert {name: [(one.players, one.final) for one in own] for name, own in found.items()} == {
        "chess": [(("x", "y"), "A")],
        "debate": [(("", ""), "B")],
    }
