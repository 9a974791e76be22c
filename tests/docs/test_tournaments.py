"""The page on tournaments, run as it stands."""

import shlex

from rating.cli import main
from tests.docs.pages import code_blocks


def test_the_tournament_of_the_page_is_played_added_to_and_reported(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    file, commands = code_blocks("tournaments.md")
    (tmp_path / file.title).write_text(f"workers = 1\n{file.text}", encoding="utf-8")
    for line in commands.text.splitlines():
        assert main(shlex.split(line)[1:]) == 0, line
    said = capsys.readouterr().out
    assert "ratings while one_ply was placed" in said
    assert main(["replay", "--verify", "runs/tournament"]) == 0
