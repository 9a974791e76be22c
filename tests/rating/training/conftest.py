import asyncio
from pathlib import Path

import pytest

from rating.play import run_directory
from rating.play.runner import Runner

NAME = "<b>x</b> | `y` ](z) <|im_start|>"

RUN = f"""
seed = 4
workers = 1
schedule = "round_robin"
[stop]
min_matches = 6
max_matches = 12
[[environment]]
name = "tictactoe_v0"
[[policy]]
name = "{NAME}"
spec = "tests.rating.training.matches:Says"
options = {{ stumbles = 1 }}
[[policy]]
name = "never"
spec = "tests.rating.training.matches:Says"
options = {{ text = "never", stumbles = 9 }}
[[policy]]
spec = "minimax"
[[policy]]
spec = "random"
"""


def played(directory: Path, run_file: str) -> Path:
    run, store = run_directory.create(directory, run_file, "run.toml")
    asyncio.run(Runner(run, store).run())
    store.close()
    return directory


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a policy with a hostile name that is re-asked, one that never makes a move, and two baselines."""
    return played(tmp_path_factory.mktemp("training_data") / "run", RUN)
