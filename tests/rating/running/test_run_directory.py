"""The directory of a run, as others see it while it is made."""

from pathlib import Path

import pytest

from rating.errors import RunError
from rating.running import run_directory

RUN_FILE = """
[[environment]]
name = "tictactoe_v0"

[[policy]]
spec = "random"

[[policy]]
spec = "greedy"
"""


def test_a_run_that_is_being_made_is_no_run_yet(tmp_path, monkeypatch):
    directory, write = tmp_path / "run", Path.write_text

    def stops_half_way(path, text, **options):
        write(path, text[: len(text) // 2], **options)
        with pytest.raises(RunError, match="expected the directory of a run"):
            run_directory.open_run(directory)
        return write(path, text, **options)

    monkeypatch.setattr(Path, "write_text", stops_half_way)
    _, store = run_directory.create(directory, RUN_FILE, "mine.toml")
    store.close()
    _, store = run_directory.open_run(directory)
    store.close()
    assert sorted(path.name for path in directory.iterdir()) == ["run.db", "run.toml"]
