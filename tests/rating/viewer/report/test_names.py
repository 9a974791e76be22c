import pytest
from rich.cells import cell_len

from rating.viewer.report.names import shortened


@pytest.mark.parametrize(
    ("names", "width", "expected"),
    [
        (["short", "a"], 8, ["short", "a"]),
        (["abcdefghijklmnop"], 10, ["abcd..mnop"]),
        (["begin-x-middle-end", "begin-y-middle-end"], 12, ["begin-x..end", "begin-y..end"]),
    ],
)
def test_shortened_names_keep_their_differences(names, width, expected):
    assert shortened(names, width) == expected


def test_shortened_names_fit_and_differ():
    names = [f"{'x' * 20}{number:02}{'y' * 20}" for number in range(30)] + ["model-one-large", "model-two-large"]
    names += ["大" * 25, "大" * 24 + "小", "ok"]
    for width in range(8, 50):
        got = shortened(names, width)
        assert len(set(got)) == len(names) and all(cell_len(name) <= width for name in got)
        assert got[-1] == "ok"


def test_shortened_equal_names_stay_equal():
    got = shortened(["a" * 40, "b" * 40, "a" * 40], 12)
    assert got[0] == got[2] != got[1]


def test_shortened_combining_marks_are_cut():
    piled = ["e" + "\u0301" * 150, "e" + "\u0301" * 151, "कि" * 4, "नमस्ते"]
    got = shortened(piled, 12)
    assert len(set(got)) == len(piled) and max(map(len, got)) < 20
    assert got[2:] == piled[2:]
