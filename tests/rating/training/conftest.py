from pathlib import Path

import pytest

from tests.rating.runs import play_run

NAME = "<b>x</b> | `y` ](z) <|im_start|>"

RUN = f"""
seed = 4
workers = 1
schedule = "round_robin"
[stop]
min_matches = 6
max_matches = 6
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


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a policy with a hostile name that is re-asked, one that never makes a move, and two baselines."""
    return play_run(tmp_path_factory.mktemp("training_data") / "run", RUN)
