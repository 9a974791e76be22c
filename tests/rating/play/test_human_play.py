"""A person can play every game at the terminal, against a baseline, with the information on the screen alone."""

import io
import re
import sys

import pytest

from agents.registry import baselines
from llmarena_envs.catalogue import CATALOGUE, load_environment, make_environment
from rating.cli import main


class Person(io.TextIOBase):
    """Types a mistake, asks for the legal moves, and plays the first one listed; where none can be, four characters."""

    def __init__(self, screen):
        self._screen = screen
        self._typed = []

    def readline(self, size=-1):
        assert len(self._typed) < 500, self._screen.getvalue()[-2000:]
        lines = self._screen.getvalue().split("Legal moves:\n")
        if not self._typed:
            reply = "I have no idea"
        elif self._typed[-1] != "?":
            reply = "?"
        elif "```python" in self._screen.getvalue():
            reply = "def solution(): return 0"
        elif "<respond>" in self._screen.getvalue():
            reply = "<respond>好</respond><criticize>不</criticize><raise>为何？</raise>"
        elif "The legal moves cannot be listed." in self._screen.getvalue()[-50:]:
            reply = "player_0: 一心一意"  # a clue, or an idiom
        elif "$d.cc" in self._screen.getvalue()[-300:]:
            reply = "player_0: $1.00"
        else:
            reply = lines[-1].splitlines()[0]
        self._typed.append(reply)
        return reply + "\n"


@pytest.mark.slow_except(6)
@pytest.mark.parametrize("name", [entry.name for entry in CATALOGUE])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_person_plays_a_match_to_its_end(monkeypatch, name, language):
    agents = make_environment(name, {}).possible_agents
    person = next(agent for agent in agents if load_environment(name).declaration.is_rated(agent))
    seats = [f"{agent}={'random' if agent != person else 'human'}" for agent in agents]
    assert "random" in baselines(name)
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setattr(sys, "stdin", Person(screen))
    flags = [part for seat in seats for part in ("--policy", seat)]
    assert main(["play", name, *flags, "--seed", "3", "--option", f"language={language}"]) == 0
    shown = screen.getvalue()
    assert re.search(rf"^You \({person}\): [+-]?[\d.]+", shown, re.MULTILINE)
    assert "forfeit" not in shown.split(f"{person}: ")[-1]
