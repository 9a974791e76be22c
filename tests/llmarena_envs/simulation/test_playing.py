"""Simulations through the loop of a match and through a run: fallbacks, the same again from records, judges' agreement."""

import asyncio
import json

import pytest

from agents.play import play, play_async
from agents.player import seat_players
from agents.turn import TurnSettings
from llmarena_envs import simulation_v0
from llmarena_envs.core.failures import Failure
from llmarena_envs.simulation.actions import USER
from llmarena_envs.simulation.truth import engine_of, first_request
from rating.cli import main
from tests.llmarena_envs.option_sets.simulation_v0 import TASKS
from tests.llmarena_envs.simulation.matches import TRUTH

NOOP = TurnSettings(unparsable="noop", illegal="noop")
REQUESTS = ("SET x 1", "KEYS *", "DEL nobody")


class Perfect:
    """Rebuilds the engine's state from the requests of its view."""

    reads = "view"

    def __call__(self, view):
        engine = engine_of(view.task)
        requests = [message.text for message in view.messages if message.speaker == USER]
        answers = [engine.respond(request) for request in (first_request(view.task), *requests[1:])]
        return answers[-1]


class Asking:
    reads = "view"

    def __call__(self, view):
        return json.dumps({"user": {"strategy": 2, "request": REQUESTS[view.turn - 2]}})


def match(simulator, user, judge, seed=3, **options):
    env = simulation_v0.env(tasks=TASKS, number=0, **options)
    return env, play(env, {"user_0": user, "simulator_0": simulator, "judge_0": judge}, seed, NOOP)


def test_a_simulator_that_wraps_the_engine_is_exact():
    env, episode = match(Perfect(), Asking(), lambda observation: "Rating: [[10]]")
    facts = env.unwrapped.infos["simulator_0"]
    assert (facts["exact"], facts["exact_share"], facts["format_flawed"]) == (1, 1, 0)
    assert episode.turns[0].played == TRUTH and not any(turn.fallback for turn in episode.turns)


class Recalling:
    def __call__(self, observation):
        raise AssertionError("asked, although everything was recorded")

    def recall(self, observation, reply):
        pass


def test_silent_simulator_answers_and_other_silence_falls_back():
    env, episode = match(lambda observation: "", lambda observation: "", lambda observation: "I cannot say.")
    kinds = {turn.agent: [attempt.kind for attempt in turn.attempts] for turn in episode.turns}
    assert kinds == {"simulator_0": [Failure.OK], "user_0": [Failure.EMPTY] * 3, "judge_0": [Failure.UNPARSABLE] * 3}
    assert {turn.agent: turn.fallback for turn in episode.turns} == {
        "simulator_0": "",
        "user_0": "noop",
        "judge_0": "noop",
    }
    assert env.unwrapped.game.undecided and env.unwrapped.infos["simulator_0"]["empty"] == 4
    players = seat_players({agent: Recalling() for agent in env.possible_agents})
    assert asyncio.run(play_async(env, players, 3, NOOP, played=episode.turns)) == episode


RUN = """
seed = 5
workers = 1
[stop]
matches = 6
min_matches = 6
max_matches = 6
[[environment]]
name = "simulation_v0"
scheme = "{scheme}"
options = {{ n_judges = 2, turns = 2{options} }}
[environment.staff]
{user}judge = ["tests.llmarena_envs.simulation.test_playing:strict", "tests.llmarena_envs.simulation.test_playing:lenient"]
[[policy]]
name = "random_1"
spec = "random"
[[policy]]
name = "random_2"
spec = "random"
"""


class Judge:
    reads = "view"

    def __init__(self, bonus):
        self._bonus = bonus

    def __call__(self, view):
        if view.mode == "pairwise":
            first, second = (each.text for each in view.responses)
            return f"[[{'A' if first > second or self._bonus else 'B'}]]"
        return f"Rating: [[{1 + len(view.responses[0].text) % 5 + self._bonus}]]"


def strict():
    return Judge(0)


def lenient():
    return Judge(4)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["dialogue", "pairwise"])
def test_a_run_is_played_verified_and_its_judges_compared(tmp_path, capsys, monkeypatch, mode):
    monkeypatch.chdir(tmp_path)
    own = {"options": "", "user": 'user = ["random"]\n', "scheme": "mean_reward"}
    if mode == "pairwise":
        own = {"options": ', mode = "pairwise"', "user": "", "scheme": "duels"}
    (tmp_path / "run.toml").write_text(RUN.format(**own), encoding="utf-8")
    assert main(["run", "run.toml", "--out", "out"]) == 0
    capsys.readouterr()
    assert main(["rate", "out", "--json"]) == 0
    (board,) = json.loads(capsys.readouterr().out)["leaderboards"]
    assert {row["policy"] for row in board["rows"]} == {"random_1", "random_2"}
    assert all(row["effort"]["matches"] and not row["effort"]["bug_matches"] for row in board["rows"])
    assert main(["replay", "out", "--verify"]) == 0
    capsys.readouterr()
    monkeypatch.setenv("COLUMNS", "200")
    assert main(["agreement", "out"]) == 0
    shown = capsys.readouterr().out
    assert "strict" in shown and "lenient" in shown
    assert ("same in both orders" in shown) == (mode == "pairwise")
