"""Settings of a turn, and the record of a reply."""

import math
import time

import pytest

from agents import turn
from agents.baselines.general import FirstLegal
from agents.play import play
from agents.policy import Reply
from agents.turn import TurnSettings
from llmarena_envs import tictactoe_v0
from llmarena_envs.core.failures import Failure
from llmarena_envs.core.options import OptionError


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("reasks", -1),
        ("reasks", 101),
        ("reasks", True),
        ("reasks", 1.0),
        ("reask_illegal", 1),
        ("feedback", "yes"),
        ("pay_opponents", None),
        ("unparsable", "random"),
        ("illegal", "pass"),
        ("deadline", 0),
        ("deadline", -1.0),
        ("deadline", math.inf),
        ("deadline", math.nan),
        ("deadline", "60"),
        ("deadline", True),
    ],
)
def test_settings_that_are_not_valid(name, value):
    with pytest.raises(OptionError, match=f"^{name}: expected .*, got {value!r}"):
        TurnSettings(**{name: value})


def test_settings_at_their_bounds():
    for reasks in (0, 100):
        assert TurnSettings(reasks=reasks).reasks == reasks
    assert TurnSettings(deadline=0.001, unparsable="noop", illegal="random_legal").deadline == 0.001


@pytest.mark.parametrize("reasks", [0, 1, 4])
def test_a_player_is_asked_again_as_often_as_set(reasks):
    asked = []

    def policy(observation):
        asked.append(observation.get("attempt", 0))
        return "?"

    settings = TurnSettings(reasks=reasks, unparsable="forfeit")
    play(tictactoe_v0.env(), {"player_0": policy, "player_1": FirstLegal()}, 0, settings)
    assert asked == list(range(reasks + 1))


def test_reply_seconds_are_measured_from_question_to_answer(monkeypatch):
    class Clock:
        now = 100.0

        def perf_counter(self):
            return self.now

    clock = Clock()
    monkeypatch.setattr(turn, "time", clock)
    waits = iter([3.5, 0.25])

    def policy(observation):
        wait = next(waits, 1.0)
        clock.now += wait
        return "?" if wait == 3.5 else int(observation["action_mask"].argmax())

    class Slow(FirstLegal):
        def __call__(self, view):
            clock.now += 7
            return super().__call__(view)

    episode = play(tictactoe_v0.env(), {"player_0": policy, "player_1": Slow()}, 0)
    assert [[attempt.seconds for attempt in item.attempts] for item in episode.turns[:3]] == [[3.5, 0.25], [7], [1]]


def test_seconds_are_real_ones():
    def policy(observation):
        time.sleep(0.02)
        return int(observation["action_mask"].argmax())

    start = time.perf_counter()
    episode = play(tictactoe_v0.env(), {"player_0": policy, "player_1": FirstLegal()}, 0)
    whole = time.perf_counter() - start
    own = [item.attempts[0].seconds for item in episode.turns if item.agent == "player_0"]
    assert all(seconds >= 0.02 for seconds in own)
    assert sum(own) <= whole


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"text": None}, "text: expected a text, got None"),
        ({"text": "X: 1", "kind": 3}, "kind: expected one of OK, TRUNCATED, EMPTY, REFUSAL, got 3"),
        ({"text": "X: 1", "kind": Failure.ILLEGAL}, "got <Failure.ILLEGAL: 5>"),
    ],
)
def test_invalid_reply_is_rejected(fields, message):
    with pytest.raises(ValueError, match=message):
        Reply(**fields)
