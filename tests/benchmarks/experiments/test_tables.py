"""Tables of results in their three forms."""

import csv
import io

import pytest

from benchmarks.experiments.tables import (
    MEASURED,
    PUBLISHED,
    Column,
    Table,
    beside,
    paired_columns,
    percent,
    to_csv,
    to_json,
    to_markdown,
)
from rating.stats.estimates import Estimate

HALF = Estimate(0.5, 0.25, 0.75, 12, 12)


COLUMNS = (Column("player"), Column("wins, %", MEASURED, 1))


def table(*rows, columns=COLUMNS, notes=()):
    return Table("wins", "Who wins", columns, rows, notes)


def test_estimate_has_interval_and_n_in_every_form():
    made = table(["a", percent(HALF)], ["b", None])
    assert "| a      | 50.0 [25.0, 75.0] (12) |" in to_markdown(made)
    assert list(csv.DictReader(io.StringIO(to_csv(made)))) == [
        {"player": "a", "wins, % (measured)": "50.0", "wins, % (measured) low": "25.0", "wins, % (measured) high": "75.0",
         "wins, % (measured) n": "12"},
        {"player": "b", "wins, % (measured)": "", "wins, % (measured) low": "", "wins, % (measured) high": "",
         "wins, % (measured) n": ""},
    ]  # fmt: skip
    first, second = to_json(made)["rows"]
    assert first == {"player": "a", "wins, % (measured)": {"value": 50.0, "low": 25.0, "high": 75.0, "n": 12}}
    assert second["wins, % (measured)"] is None


def test_an_estimate_without_an_interval_has_none():
    made = table(["a", Estimate(1.0, None, None, 1, 1)])
    assert "| a      | 1.0 (1)            |" in to_markdown(made)
    assert to_csv(made).splitlines()[1] == "a,1.0,,,1"


def test_names_are_no_markup():
    made = table(["a|b <script> & \x1b[31m\nnext", 1.0], notes=["a | note"])
    text = to_markdown(made)
    assert "a\\|b &lt;script> &amp; \\x1b[31m next" in text
    assert text.endswith("- a \\| note")


def test_published_and_measured_columns_are_never_mixed():
    rows = beside(
        {"GPT-4": [1.0, None], "Vicuna": [2.0, 3.0]}, {"mine": [4.0, 5.0], "gpt": [6.0, 7.0]}, {"GPT-4": "gpt"}
    )
    assert rows == [
        ["GPT-4 = gpt", 1.0, 6.0, None, 7.0],
        ["Vicuna", 2.0, None, 3.0, None],
        ["mine", None, 4.0, None, 5.0],
    ]
    columns = paired_columns(["x", "y"])
    assert [column.source for column in columns] == ["", PUBLISHED, MEASURED, PUBLISHED, MEASURED]
    assert len(columns) == len(rows[0])


def test_published_model_without_policy_has_its_own_line():
    assert beside({"GPT-4": [1.0]}, {"mine": [2.0]}, {"GPT-4": "nobody"}) == [["GPT-4", 1.0, None], ["mine", None, 2.0]]


def test_a_table_with_a_hole_or_two_equal_headings_is_refused():
    with pytest.raises(ValueError, match="expected 2 cells"):
        table(["a"])
    with pytest.raises(ValueError, match="different headings"):
        table(columns=(Column("x"), Column("x")))


def test_rows_that_name_their_columns_make_a_table():
    rows = [{Column("player"): name, Column("wins", "measured", 0): wins} for name, wins in (("a", 1.0), ("b", None))]
    made = Table.of("wins", "who wins", rows, ["a note"])
    assert [column.heading for column in made.columns] == ["player", "wins (measured)"]
    assert made.rows == [["a", 1.0], ["b", None]]
    nothing = to_markdown(Table.of("wins", "who wins", [], ["a note"]))
    assert nothing.splitlines() == ["**who wins**", "", "Nothing to show.", "", "- a note"]
