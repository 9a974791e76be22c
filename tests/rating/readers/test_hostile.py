"""Hostile logs: bad rows are listed with their place, good rows are kept, and sizes are bounded."""

import csv
import json
import zipfile

import pytest

from llmarena_envs.core.options import OptionError
from rating.readers import inspect, read_battles, rows
from rating.readers.formats import FORMATS
from rating.readers.results import Rejected

GOOD = '{"model_a": "x", "model_b": "y", "winner": "model_a"}'


def read(tmp_path, data, name="battles"):
    """Numbers of battles, and location and reason of the rejected ones."""
    path = tmp_path / "log.txt"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    found = list(FORMATS[name].read([path], ""))
    rejected = [(one.where, one.reason) for one in found if isinstance(one, Rejected)]
    return len(found) - len(rejected), rejected


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"model_a": "x", "model_b": "y", "winner": "model_c"}', "expected A, B, tie or a number, got 'model_c'"),
        ('{"model_a": "x", "model_b": "y", "winner": 7}', "expected A, B or tie, got 7"),
        ('{"model_a": "x", "model_b": "y", "winner": NaN}', "expected a winner or a score"),
        ('{"model_a": "x", "model_b": "y", "score": 1.5}', "score: expected 0 to 1, got 1.5"),
        ('{"model_a": "x", "model_b": "y", "score": "1e999"}', "score: expected a number, got '1e999'"),
        ('{"model_a": "x", "model_b": "y", "winner": "tie", "weight": 0}', "weight: expected 0.001 to 1e+06"),
        ('{"model_a": "x", "model_b": "y", "winner": "tie", "weight": [1]}', "weight: expected a number, got"),
        ('{"model_a": "x", "model_b": "x", "winner": "model_a"}', "expected two policies, got 'x' against itself"),
        ('{"model_a": {"x": 1}, "model_b": "y", "winner": "model_a"}', "model_a: expected a text or a number"),
        ('{"model_a": "' + "x" * 300 + '", "model_b": "y", "winner": "tie"}', "expected a name of 1 to 200 characters"),
        ('{"model_a": "\\ud800", "model_b": "y", "winner": "tie"}', "expected a name in UTF-8"),
        ('{"model_a": "x", "model_b": "y", "winner": "tie", "winner": "tie"}', "the key 'winner' stands there twice"),
        ("[" * 100_000, "expected JSON, but"),
        ('{"a": ' + "1" * 5000 + "}", "expected JSON, but"),
        ("7", "expected an object, got '7'"),
    ],
)
def test_bad_row_is_rejected_alone(tmp_path, line, reason):
    kept, [(where, got)] = read(tmp_path, f"{GOOD}\n{line}\n{GOOD}\n")
    assert (kept, where) == (2, "line 2")
    assert reason in got
    if "expected JSON" in reason or "twice" in reason:
        with pytest.raises(OptionError, match="expected JSON, but"):
            read(tmp_path, f"[{GOOD},\n{line},{GOOD}]")
    else:
        kept, [(where, got)] = read(tmp_path, f"[{GOOD},\n{line},{GOOD}]")
        assert (kept, where) == (2, "entry 2") and reason in got


def test_row_in_another_encoding_is_rejected_alone(tmp_path):
    table = b"left,right,winner\nx,y,left\n" + "甲,乙,left\n".encode("gbk") + b"x,y,right\n"
    assert read(tmp_path, table, "pairwise") == (2, [("line 3", "expected text in UTF-8, got other bytes")])
    with pytest.raises(OptionError, match="got UTF-16; save it as UTF-8"):
        read(tmp_path, "left,right,winner\nx,y,left\n".encode("utf-16"), "pairwise")


def test_open_quotation_mark_is_reported_with_its_lines(tmp_path):
    kept, [(where, reason)] = read(tmp_path, 'left,right,winner\nx,y,left\n"x,y,left\nx,y,right\n', "pairwise")
    assert (kept, where) == (1, "line 4") and "from line 3 to here: a quotation mark is open" in reason


def test_row_longer_than_the_limit_is_rejected(tmp_path, monkeypatch):
    monkeypatch.setattr(rows, "MAX_ROW", 200)
    long = GOOD[:-1] + ', "x": "' + "z" * 1000 + '"}'
    kept, [(where, reason)] = read(tmp_path, f"{GOOD}\n{long}\n{GOOD}\n")
    assert (kept, where) == (2, "line 2") and "expected a row of at most 200 characters" in reason
    table = f"left,right,winner\nx,y,left\n{'z' * 1000},y,left\nx,y,right\n"
    kept, [(where, _)] = read(tmp_path, table, "pairwise")
    assert (kept, where) == (2, "line 3")


def test_array_larger_than_the_limit_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(rows, "MAX_ARRAY", 100)
    with pytest.raises(OptionError, match="expected a JSON array of at most 100 bytes"):
        read(tmp_path, "[" + ",\n ".join([GOOD] * 50) + "]")


@pytest.mark.parametrize("text", [f"[{GOOD}, {{", f"[{GOOD}] x", f"[{GOOD}\n {GOOD}]", '["\xff"]'])
def test_damaged_array_is_refused_with_its_place(tmp_path, text):
    with pytest.raises(OptionError, match=r"expected JSON, but: .*(line 1 column|position)|line 2 column"):
        read(tmp_path, text.encode("latin-1"))


def test_names_hold_no_terminal_sequences(tmp_path):
    path = tmp_path / "log.json"
    path.write_text(json.dumps([{"model_a": "\x1b[2Jx\n", "model_b": "y\u202ez", "winner": "tie"}]))
    (battle,) = read_battles(path)
    assert battle[:2] == ("\\x1b[2Jx", "y\\u202ez")


def test_repeated_verdict_of_a_judge_is_rejected(tmp_path):
    text = "question_id,model_a,model_b,winner,judge,turn\n" + "q,x,y,model_a,j,1\n" * 2 + "q,x,y,model_b,j,2\n"
    kept, [(where, reason)] = read(tmp_path, text)
    assert (kept, where) == (2, "line 3") and "log.txt, line 2 already" in reason
    assert read(tmp_path, "model_a,model_b,winner,judge\n" + "x,y,model_a,j\n" * 2) == (2, [])


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("a,,-1", "b: expected a number of wins of 0 or more"),
        ("a,,many", "b: expected a number, got 'many'"),
        ("a,", "expected 3 fields"),
        ("b,3,", "expected one row for each policy"),
    ],
)
def test_matrix_rejects_bad_cells(tmp_path, row, reason):
    kept, [(where, got)] = read(tmp_path, f"model,a,b\nb,1,\n{row}\n", "matrix")
    assert (kept, where) == (1, "line 3") and reason in got


def test_matrix_of_too_many_games_is_refused(tmp_path):
    with pytest.raises(OptionError, match="expected at most 2000000 games or cells, got 5000000"):
        read(tmp_path, "model,a,b\na,,5e6\nb,0,\n", "matrix")


def test_archive_larger_than_the_limit_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(inspect, "_LARGEST", 10_000)
    path = tmp_path / "bomb.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", '{"eval": {"model": "m", "task": "t"}}')
        archive.writestr("summaries.json", "[" + " " * 50_000_000 + "]")
    with pytest.raises(OptionError, match="more than 10000 bytes of JSON"):
        read_battles(path)
    path.write_bytes(b"PK\x03\x04 no archive")
    with pytest.raises(OptionError, match="expected a log of Inspect"):
        read_battles(path)


@pytest.mark.parametrize("value", ["1" + "0" * 400, "NaN", '"C++"', "[1]", "null"])
def test_score_that_is_no_number_is_rejected_alone(tmp_path, value):
    for model, own in (("a", value), ("b", "1")):
        (tmp_path / model).mkdir()
        (tmp_path / model / "samples_t.jsonl").write_text(
            "".join(f'{{"doc_id": {i}, "doc": 0, "resps": 0, "acc": {v}}}\n' for i, v in enumerate((own, "0")))
        )
        (tmp_path / f"{model}.json").write_text(
            f'{{"eval": {{"task": "t", "model": "{model}"}}, "samples": ['
            f'{{"id": 1, "scores": {{"s": {{"value": {own}}}}}}}, {{"id": 2, "scores": {{"s": {{"value": 0}}}}}}]}}'
        )
    assert len(read_battles([tmp_path / model / "samples_t.jsonl" for model in "ab"])) == 1
    assert len(read_battles([tmp_path / f"{model}.json" for model in "ab"])) == 1


@pytest.mark.parametrize(
    "text", ['{"eval": {"task": "t", "model": "m"}, "samples": 5}', '{"eval": 3, "task": 1}', '{"eval": {"task": 1']
)
def test_inspect_refuses_other_json(tmp_path, text):
    (tmp_path / "log.json").write_text(text)
    with pytest.raises(OptionError, match="expected a log of Inspect"):
        read_battles(tmp_path / "log.json")


def test_reading_keeps_the_field_limit_of_csv(tmp_path):
    limit = csv.field_size_limit()
    path = tmp_path / "log.csv"
    path.write_text(f"model_a,model_b,winner,note\na,b,model_a,{'x' * (limit + 1)}\n", encoding="utf-8")
    assert len(read_battles(path)) == 1
    assert csv.field_size_limit() == limit
