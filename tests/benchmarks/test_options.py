from dataclasses import dataclass

import pytest

from benchmarks.options import option, parse


@dataclass(frozen=True)
class Options:
    names: tuple[str, ...] = option((), "some names")
    max_steps: int = option(5, "a number")
    rate: float = option(0.5, "a fraction, 50 % or %(rate)s")
    path: str = option("", "a file")
    form: str = option("%d %s", "a format")
    fast: bool = option(False, "a flag, 100 %")


def test_defaults():
    assert parse(Options, "Does it.", []) == Options()


def test_values():
    arguments = ["--names", "a", "b", "--max-steps", "7", "--rate", "2", "--path", "x.json", "--fast"]
    assert parse(Options, None, arguments) == Options(("a", "b"), 7, 2.0, "x.json", fast=True)


@pytest.mark.parametrize("arguments", [["--max-steps", "x"], ["--nonsense"], ["--names"]])
def test_bad_values_end_with_the_usage(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        parse(Options, None, arguments)
    assert ended.value.code == 2
    assert "usage:" in capsys.readouterr().err


def test_help_shows_texts_and_defaults(capsys):
    with pytest.raises(SystemExit):
        parse(Options, "Does it at 5 %s.\nAnd more.", ["--help"])
    shown = capsys.readouterr().out
    assert "Does it at 5 %s." in shown
    for text in ("50 % or %(rate)s (default: 0.5)", "a format (default: %d %s)", "a flag, 100 %"):
        assert text in " ".join(shown.split())
    assert "And more." not in shown
    assert "a number (default: 5)" in shown
