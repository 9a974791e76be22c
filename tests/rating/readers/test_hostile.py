"""What comes from outside: bad rows are listed with their place, good ones kept, and nothing is believed of its size."""

import csv
import json
import zipfile

import pytest

from llmarena_envs.core.options import OptionError
from rating import rows
from rating.readers import inspect_log
from rating.readers.formats import FORMATS, read_battles
from rating.readers.result import Rejected

GOOD = '{"model_a": "x", "model_b": "y", "winner": "model_a"}'


def read(tmp_path, data, name="battles"):
    """Numbers of battles, and place and reason of what was rejected."""
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
        ('{"model_a": "x", "model_b": "y", "winner": "tie", "weight": 1e308}', "weight: expected 0.001 to 1e+06"),
        ('{"model_a": "x", "model_b": "y", "winner": "tie", "weight": [1]}', "weight: expected a number, got"),
        ('{"model_a": "x", "model_b": "x", "winner": "model_a"}', "expected two policies, got 'x' against itself"),
        ('{"model_a": "", "model_b": "y", "winner": "model_a"}', "model_a: expected something"),
        ('{"model_a": {"x": 1}, "model_b": "y", "winner": "model_a"}', "model_a: expected a text or a number"),
        ('{"model_a": "' + "x" * 300 + '", "model_b": "y", "winner": "tie"}', "expected a name of 1 to 200 characters"),
        ('{"model_a": "\\ud800", "model_b": "y", "winner": "tie"}', "expected a name in UTF-8"),
        ('{"model_a": "x", "model_b": "y", "winner": "tie", "winner": "tie"}', "the key 'winner' stands there twice"),
        ("[" * 100_000, "expected JSON, but"),
        ('{"a": ' * 100_000, "expected JSON, but"),
        ('{"a": ' + "1" * 5000 + "}", "expected JSON, but"),
        ("7", "expected an object, got '7'"),
    ],
)
def test_a_bad_row_costs_itself_only(tmp_path, line, reason):
    kept, [(where, got)] = read(tmp_path, f"{GOOD}\n{line}\n{GOOD}\n")
    assert (kept, where) == (2, "line 2")
    assert reason in got
    entries, rejected = read(tmp_path, f"[{GOOD},\n{line},{GOOD}]")
    assert rejected[0][0] == "entry 2"
    assert entries == (1 if "nothing behind it was read" in rejected[0][1] else 2)


def test_bytes_that_are_no_text_cost_their_rows_only(tmp_path):
    table = b"left,right,winner\nx,y,left\n" + "甲,乙,left\n".encode("gbk") + b"x,y,right\n"
    assert read(tmp_path, table, "pairwise") == (2, [("line 3", "expected text in UTF-8, got other bytes")])
    with pytest.raises(OptionError, match="got UTF-16; save it as UTF-8"):
        read(tmp_path, "left,right,winner\nx,y,left\n".encode("utf-16"), "pairwise")


def test_a_quotation_mark_that_is_never_closed_is_told_with_its_line(tmp_path):
    kept, [(where, reason)] = read(tmp_path, 'left,right,winner\nx,y,left\n"x,y,left\nx,y,right\n', "pairwise")
    assert (kept, where) == (1, "line 4") and "from line 3 to here: a quotation mark is open" in reason


def test_rows_longer_than_any_row(tmp_path, monkeypatch):
    monkeypatch.setattr(rows, "MAX_ROW", 200)
    long = GOOD[:-1] + ', "x": "' + "z" * 1000 + '"}'
    kept, [(where, reason)] = read(tmp_path, f"{GOOD}\n{long}\n{GOOD}\n")
    assert (kept, where) == (2, "line 2") and "expected a row of at most 200 characters" in reason
    table = f"left,right,winner\nx,y,left\n{'z' * 1000},y,left\nx,y,right\n"
    kept, [(where, _)] = read(tmp_path, table, "pairwise")
    assert (kept, where) == (2, "line 3")


def test_an_array_that_is_longer_than_what_is_read_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr(rows, "_CHUNK", 16)
    assert read(tmp_path, "[" + ",\n ".join([GOOD] * 50) + "]") == (50, [])
    kept, [(where, reason)] = read(tmp_path, "[" + ",".join([GOOD] * 3) + ', {"model_a"')
    assert (kept, where) == (3, "entry 4") and "nothing behind it was read" in reason


def test_names_steer_no_terminal(tmp_path):
    path = tmp_path / "log.json"
    path.write_text(json.dumps([{"model_a": "\x1b[2Jx\n", "model_b": "y\u202ez", "winner": "tie"}]))
    (battle,) = read_battles(path)
    assert battle[:2] == ("\\x1b[2Jx", "y\\u202ez")


def test_a_verdict_that_is_there_already_does_not_count_again(tmp_path):
    text = "question_id,model_a,model_b,winner,judge,turn\n" + "q,x,y,model_a,j,1\n" * 2 + "q,x,y,model_b,j,2\n"
    kept, [(where, reason)] = read(tmp_path, text)
    assert (kept, where) == (2, "line 3") and "stands there already" in reason
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
def test_bad_counts(tmp_path, row, reason):
    kept, [(where, got)] = read(tmp_path, f"model,a,b\nb,1,\n{row}\n", "matrix")
    assert (kept, where) == (1, "line 3") and reason in got


def test_counts_and_scores_that_stand_for_too_many_results(tmp_path):
    with pytest.raises(OptionError, match="expected at most 2000000 games or cells, got 5000000"):
        read(tmp_path, "model,a,b\na,,5e6\nb,0,\n", "matrix")


def test_archives_that_unpack_to_more_than_they_should(tmp_path, monkeypatch):
    monkeypatch.setattr(inspect_log, "_LARGEST", 10_000)
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
def test_scores_that_are_no_numbers_cost_their_rows_only(tmp_path, value):
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
def test_what_is_no_log_of_inspect(tmp_path, text):
    (tmp_path / "log.json").write_text(text)
    with pytest.raises(OptionError, match="expected a log of Inspect"):
        read_battles(tmp_path / "log.json")


def test_reading_changes_no_limit_of_the_process(tmp_path):
    limit = csv.field_size_limit()
    path = tmp_path / "log.csv"
    path.write_text(f"model_a,model_b,winner,note\na,b,model_a,{'x' * (limit + 1)}\n", encoding="utf-8")
    assert len(read_battles(path)) == 1
    assert csv.field_size_limit() == limit
