"""Replay of the recorded actions of a match, without calling its policies."""

from agents.play import Streams
from agents.records import Turn
from llmarena_envs.core.text_env import TextEnv
from rating.store.environments import load_environment, make_environment
from rating.store.match import Match


class Replay:
    """Replays a match from its record, turn by turn.

    Args:
        match: the match.

    Attributes:
        env: the environment after the replayed turns.
        turns: number of replayed turns.

    Raises:
        Exception: any error of the environment, e.g. if it is not installed; ``play`` raises these too.
    """

    def __init__(self, match: Match) -> None:
        options = load_environment(match.environment).narrating_options(match.options)
        env = make_environment(match.environment, dict(options))
        env.reset(seed=Streams(match.seed).game())
        self.env: TextEnv = env.unwrapped
        self.turns = 0
        self._digest = ""

    def leads_to(self, turns: tuple[Turn, ...]) -> bool:
        """Returns whether the replayed turns are the first of ``turns``."""
        return self.turns <= len(turns) and (not self.turns or turns[self.turns - 1].digest == self._digest)

    def play(self, turn: Turn) -> str:
        """Plays the next turn and returns an empty string, or the reason why the turn does not match the replay.

        The agent and its observation must be the same as recorded.
        """
        env = self.env
        if env.agent_selection != turn.agent or env.observe(turn.agent)["text"] != turn.read:
            return f"what {turn.agent} reads in turn {turn.index + 1} is not what was recorded"
        env.step(turn.action)
        self.turns, self._digest = self.turns + 1, turn.digest
        return ""
