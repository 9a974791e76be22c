"""Replies that are cut off in their reasoning: they state nothing, in no game and at no stage."""

import importlib

import numpy as np
import pytest

from agents.play import play
from agents.policy import Reply
from agents.turn import TurnSettings
from llmarena_envs import simulation_v0
from llmarena_envs.catalogue import CATALOGUE
from llmarena_envs.core.failures import Failure, InvalidReply
from tests.llmarena_envs.option_sets import option_sets
from tests.llmarena_envs.option_sets.simulation_v0 import TASKS

THOUGHTS = "The user wants this. I could say\n\n```\ncoins: 5\n```\nbut "
CUT_OFF = (
    f"<think>{THOUGHTS}",
    f"\n<THINKING>\n{THOUGHTS}",
    f"<think>one</think>\n<think>{THOUGHTS}",
    f"[THINK]{THOUGHTS}",
    f"◁think▷{THOUGHTS}",
    f"<seed:think>{THOUGHTS}",
    f"<|channel|>analysis<|message|>{THOUGHTS}",
    f"<|channel|>analysis<|message|>{THOUGHTS}<|end|><|start|>assistant",
    f"<思考>{THOUGHTS}",
    f"analysis{THOUGHTS}",
)
FINISHED = ("", "<think>ls prints nothing here</think>", "<think>so</think>\n", "<|channel|>final<|message|>")


@pytest.mark.slow_except(5)
@pytest.mark.parametrize("name", [entry.name for entry in CATALOGUE])
def test_reply_cut_off_in_its_reasoning_is_refused_in_every_game(name):
    env = importlib.import_module(f"llmarena_envs.{name}").raw_env(**option_sets(name).OPTION_SETS[0])
    env.reset(seed=0)
    rng = np.random.default_rng(0)
    while not any(env.terminations.values()):
        agent = env.agent_selection
        for reply in CUT_OFF:
            with pytest.raises(InvalidReply) as error:
                env.parse(reply, agent)
            assert error.value.kind in (Failure.EMPTY, Failure.UNPARSABLE), (agent, reply)
        env.step(env.random_action(agent, rng))


def simulated(reply):
    """Returns the turns of a match whose simulator gives a reply, and ``plain`` when it is asked again."""
    env = simulation_v0.env(tasks=TASKS, number=0, turns=1, n_judges=0)
    policy = lambda observation: "plain" if "attempt" in observation else reply  # noqa: E731
    return play(env, {"user_0": lambda observation: "GET", "simulator_0": policy}, 0, TurnSettings()).turns


@pytest.mark.parametrize("reply", CUT_OFF)
def test_simulator_cut_off_in_its_reasoning_is_asked_again(reply):
    for said in (reply, Reply(reply, Failure.TRUNCATED)):
        (turn,) = simulated(said)
        assert (turn.played, len(turn.attempts), turn.fallback) == ("plain", 2, "")
    assert turn.attempts[0].kind is Failure.TRUNCATED


@pytest.mark.parametrize("reply", FINISHED)
def test_simulator_that_finished_may_answer_nothing_unless_it_was_cut(reply):
    (turn,) = simulated(reply)
    assert (turn.played, len(turn.attempts)) == ("simulator_0:", 1)
    (turn,) = simulated(Reply(reply, Failure.TRUNCATED, reasoning="I think"))
    assert (turn.played, len(turn.attempts), turn.attempts[0].kind) == ("plain", 2, Failure.TRUNCATED)
