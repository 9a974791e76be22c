"""A policy that moves when the test says so, to leave time for looking at a page."""

import os
import time
from pathlib import Path
from uuid import uuid4

from agents.policy import ScriptedPolicy

PACE = "CONSIDERATE_MOVES"
"""Environment variable that names a folder: each file in it is a move."""

_PATIENCE = 300.0
"""Seconds until the policy stops waiting for the test."""


def allow(folder: Path, moves: int) -> None:
    """Lets the policy make so many more moves."""
    for _ in range(moves):
        (folder / uuid4().hex).touch()


class Considerate(ScriptedPolicy):
    def __call__(self, view):
        end = time.monotonic() + _PATIENCE
        while not (moves := list(Path(os.environ[PACE]).iterdir())):
            assert time.monotonic() < end, "nobody looks on"
            time.sleep(0.02)
        moves[0].unlink()
        return self.choose(view.legal)
