"""LangChain: the agents of PettingZoo's tutorial, who read the observation as text and answer ``Action: ...``.

The chat model is one of LangChain's own for tests, which answers with random legal moves.
"""

import inspect
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from langchain_core.language_models import BaseChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from benchmarks.clients.games import TEXT, TEXT_ACTIONS, VECTOR, Make
from benchmarks.clients.trials import Trial

_INSTRUCTIONS = "You receive an observation and your reward so far. Answer with a line 'Action: ...' and nothing else."
_ACTION = re.compile(r"Action: (.*)", re.DOTALL)


class Agent:
    """Keeps a conversation with a chat model, which moves for one agent.

    Args:
        model: any chat model of LangChain.
        rules: the system message.
        read: turns the answer into an action.
    """

    def __init__(self, model: BaseChatModel, rules: str, read: Callable[[str], Any]) -> None:
        self.model = model
        self.read = read
        self.messages: list[BaseMessage] = [SystemMessage(rules), SystemMessage(_INSTRUCTIONS)]
        self.total = 0.0

    def observe(self, observation: Any, reward: float) -> None:
        """Adds the agent's observation to the conversation."""
        self.total += reward
        self.messages.append(HumanMessage(f"Observation: {observation}\nReward so far: {self.total}"))

    def act(self) -> Any:
        """Asks the model."""
        answer = self.model.invoke(self.messages)
        self.messages.append(answer)
        found = _ACTION.search(str(answer.content))
        if found is None:
            raise ValueError(f"expected 'Action: ...', got {answer.content!r}")
        return self.read(found[1])


def numbered_actions(make: Make, smoke: bool) -> None:
    """The tutorial's loop: an answer is the number of an action."""
    env = make()
    _play(env, _numbers(env), dict.fromkeys(env.possible_agents, _number))


def spoken_actions(make: Make, smoke: bool) -> None:
    """The same loop, with the environment's own reader of replies in the place of ``int``."""
    env = make()
    game = env.unwrapped
    readers: dict[str, Callable[[str], Any]] = {
        agent: partial(game.parse, agent=agent) for agent in env.possible_agents
    }
    _play(env, _replies(env), readers)


def _play(env: Any, replies: Iterator[AIMessage], readers: dict[str, Callable[[str], Any]]) -> None:
    env.reset(seed=0)
    model = GenericFakeChatModel(messages=replies)
    rules = inspect.getdoc(inspect.getmodule(env.unwrapped)) or ""
    agents = {name: Agent(model, rules, read) for name, read in readers.items()}
    for name in env.agent_iter():
        observation, reward, termination, truncation, info = env.last()
        agents[name].observe(observation, reward)
        if termination or truncation:
            assert not info.get("illegal"), f"{name} forfeited the match"
            env.step(None)
        else:
            env.step(agents[name].act())


def _number(reply: str) -> int:
    try:
        return int(reply)
    except ValueError:
        raise ValueError("int() of an answer in words") from None


def _numbers(env: Any) -> Iterator[AIMessage]:
    while True:
        agent = env.agent_selection
        mask = env.observe(agent).get("action_mask")
        yield AIMessage(f"Action: {env.action_space(agent).sample(mask)}")


def _replies(env: Any) -> Iterator[AIMessage]:
    rng = np.random.default_rng(0)
    game = env.unwrapped
    while True:
        agent = env.agent_selection
        yield AIMessage(f"Action: {game.format(game.random_action(agent, rng), agent)}")


TRIALS = (
    Trial("agent that answers with a number", VECTOR, numbered_actions),
    Trial("agent that answers with a number", TEXT, numbered_actions, refuses=TEXT_ACTIONS),
    Trial("agent that answers with words, read by the environment's parse", TEXT, spoken_actions),
)
