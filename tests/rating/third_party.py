"""Sources of environments outside of the suite, written into a folder and imported by name."""

from pathlib import Path

SOURCE = '''"""Agents name a number from 0 to 9 in turn; a judge abstains with 9."""

from typing import Any, NamedTuple

from llmarena_envs.core.codec import Codec
from llmarena_envs.core.declaration import Declaration
from llmarena_envs.core.failures import Failure, Reason, ParseError
from llmarena_envs.core.game import Game
from llmarena_envs.core.order import OrderWrapper
from llmarena_envs.core.text_env import TextEnv

AGENTS = {agents!r}


def payoffs(said):
    {payoffs}


class NumbersView(NamedTuple):
    agent: str
    to_move: bool
    legal: tuple
    said: tuple


class Numbers(Game):
    agents = AGENTS
    num_actions = 10
    max_turns = len(AGENTS)

    def reset(self, rng):
        self.said, self.to_move, self.rewards = (), AGENTS[:1], (0.0,) * len(AGENTS)

    def view(self, agent):
        to_move = agent in self.to_move
        return NumbersView(agent, to_move, tuple(range(10)) if to_move else (), self.said)

    def why_illegal(self, agent, action):
        return None if 0 <= action <= 9 else Reason("no_such_action", {{"last": 9}})

    @property
    def undecided(self):
        judged = [number for agent, number in zip(AGENTS, self.said) if agent.startswith("judge")]
        return len(self.said) == len(AGENTS) and bool(judged) and set(judged) == {{9}}

    def apply(self, actions):
        self.said += actions
        self.to_move = AGENTS[len(self.said) : len(self.said) + 1]
        if not self.to_move:
            rewards = payoffs(dict(zip(AGENTS, self.said, strict=True)))
            self.rewards = tuple(float(rewards.get(agent, 0)) for agent in AGENTS)


class NumbersCodec(Codec):
    def rules(self, agent):
        return f"You are {{agent}}. Say a number."

    def observation(self, view):
        return f"Said: {{view.said}}"

    def read(self, reply, view):
        if not reply.strip().isdecimal():
            raise ParseError(Failure.UNPARSABLE, "nothing_stated")
        return int(reply)

    def format(self, action, view):
        return str(action)

    def picture(self, game):
        return str(game.said)


class raw_env(TextEnv):
    metadata = {{"name": "numbers_v0", "render_modes": ["ansi", "human"], "render_fps": 1, "is_parallelizable": False}}
    declaration = Declaration({declaration})

    def __init__(self, *, obs_type="text", render_mode=None):
        super().__init__(Numbers(), NumbersCodec(), obs_type=obs_type, render_mode=render_mode)


def env(**options):
    return OrderWrapper(raw_env(**options))
'''


def write_environment(
    folder: Path, module: str, agents: tuple[str, ...], declaration: str, payoffs: str = "return said"
) -> str:
    """Writes an environment into a folder and returns its name for run files.

    Args:
        folder: folder on the import path.
        module: name of the module.
        agents: agent ids.
        declaration: arguments of its ``Declaration``.
        payoffs: body of a function that returns rewards by agent for the numbers ``said``.
    """
    package = folder / "elsewhere"
    package.mkdir(exist_ok=True)
    (package / "__init__.py").touch()
    source = SOURCE.format(agents=agents, declaration=declaration, payoffs=payoffs)
    (package / f"{module}.py").write_text(source, encoding="utf-8")
    return f"elsewhere.{module}"
