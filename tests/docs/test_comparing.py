"""The page on comparing, run as it stands: what it shows is what is printed."""

import itertools
import shlex

from rating.cli import main
from tests.docs.pages import code_blocks


def test_what_the_page_shows_is_what_is_printed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run, *blocks = code_blocks("comparing.md")
    assert main([*shlex.split(run.text)[1:], "--workers", "1"]) == 0
    shown = [
        (command.text, printed.text) for command, printed in itertools.pairwise(blocks) if printed.language == "text"
    ]
    assert len(shown) == 3
    for command, printed in shown:
        capsys.readouterr()
        assert main(shlex.split(command)[1:]) == 0
        assert capsys.readouterr().out == printed
