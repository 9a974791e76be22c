"""Replay: the recorded actions of a match are played again; nobody is asked and nothing is measured."""

from agents.play import Streams
from agents.records import Turn
from llmarena_envs.core.text_env import TextEnv
from rating.records.environments import load_environment, make_environment
from rating.records.match import Match


class Replay:
    """A match that is played again from its record, up to some turn.

    Args:
        match: which.

    Attributes:
        env: the position that is reached.
        turns: played so far.

    Raises:
        Exception: whatever its environment raises, which may be somebody's own or gone; so does ``play``.
    """

    def __init__(self, match: Match) -> None:
        options = load_environment(match.environment).narrating_options(match.options)
        env = make_environment(match.environment, dict(options))
        env.reset(seed=Streams(match.seed).game())
        self.env: TextEnv = env.unwrapped
        self.turns = 0
        self._digest = ""

    def leads_to(self, turns: tuple[Turn, ...]) -> bool:
        """Says whether these turns begin with those that were played."""
        return self.turns <= len(turns) and (not self.turns or turns[self.turns - 1].digest == self._digest)

    def play(self, turn: Turn) -> str:
        """Plays the next turn, or says why it cannot have been played like this.

        The player must have read what it would read now.
        """
        env = self.env
        if env.agent_selection != turn.agent or env.observe(turn.agent)["text"] != turn.read:
            return f"what {turn.agent} reads in turn {turn.index + 1} is not what was recorded"
        env.step(turn.action)
        self.turns, self._digest = self.turns + 1, turn.digest
        return ""
