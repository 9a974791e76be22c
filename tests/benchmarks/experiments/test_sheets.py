"""Sheets for people: safe to open, and read back with every mistake named by file and line."""

import csv
import io

import pytest

from benchmarks.experiments.sheets import YES_NO, read_sheet, write_sheet
from llmarena_envs.core.options import OptionError

ITEMS = {"c1": ("lemon", "sour"), "c2": ("柠檬", "=HYPERLINK(1)"), "c3": ("pear", 'says "no",\nnothing')}


def filled(path, *labels, delimiter=","):
    rows = list(csv.reader(io.StringIO(write_sheet(ITEMS, ("word", "clue"), "accurate").removeprefix("\ufeff"))))
    for row, label in zip(rows[1:], labels, strict=True):
        row[-1] = label
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows(rows)
    return path


@pytest.mark.parametrize("clue", ["=1+1", "+1", "-1", "@SUM(A1)", " =1", "\t=1", "＝1"])
def test_no_cell_is_a_formula(clue):
    sheet = write_sheet({"c1": ("word", clue)}, ("word", "clue"), "accurate")
    (_, (_, _, cell, label)) = csv.reader(io.StringIO(sheet))
    assert cell == f"'{clue}"
    assert label == ""


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_sheet_is_read_back_as_spreadsheets_save_it(tmp_path, delimiter):
    path = filled(tmp_path / "one.csv", " Yes", "否", "TRUE ", delimiter=delimiter)
    assert read_sheet(path, "accurate", YES_NO, ITEMS) == {"c1": True, "c2": False, "c3": True}


@pytest.mark.parametrize(
    ("labels", "line", "message"),
    [
        (("yes", "", "no"), 3, "item c2 has no label"),
        (("yes", "no", "yess"), 5, "expected one of yes.*got 'yess'; did you mean 'yes'"),
        (("yes no", "no", "no"), 2, "got 'yes no'"),
    ],
)
def test_labels_that_are_missing_or_unknown(tmp_path, labels, line, message):
    path = filled(tmp_path / "one.csv", *labels)
    with pytest.raises(OptionError, match=rf"one\.csv, line {line}: .*{message}"):
        read_sheet(path, "accurate", YES_NO, ITEMS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("item,accurate\nc1,yes\nc2,no\nc1,yes\nc3,no\n", "line 4: item c1 stands in line 2 already"),
        ("item,accurate\nc1,yes\nc9,no\n", "line 3: expected an item of this run, got 'c9'"),
        ("item,accurate\nc1,yes\n\n", "line 2: expected all 3 items, but 2 are missing .*c2, c3"),
        ("item,word\nc1,yes\n", "line 1: expected a header with the columns item and accurate"),
        ("", "line 1: expected a header"),
        ('item,accurate\n"c1,yes\n', "line 2: expected an item of this run"),
        (f"item,accurate\nc1,{'y' * 200_000}\n", "line 2: expected a sheet as CSV"),
    ],
)
def test_sheets_of_another_form(tmp_path, text, message):
    path = tmp_path / "one.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(OptionError, match=rf"one\.csv, {message}"):
        read_sheet(path, "accurate", YES_NO, ITEMS)


def test_files_that_are_no_text(tmp_path):
    path = tmp_path / "one.csv"
    path.write_bytes("item,accurate\nc1,是\n".encode("gbk"))
    with pytest.raises(OptionError, match=r"one\.csv: expected a sheet as CSV in UTF-8"):
        read_sheet(path, "accurate", YES_NO, ITEMS)
    with pytest.raises(OptionError, match=r"none\.csv: expected a sheet"):
        read_sheet(tmp_path / "none.csv", "accurate", YES_NO, ITEMS)
