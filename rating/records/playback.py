"""A recorded match played again from its recorded actions: nobody is asked, and nothing is measured."""

from collections.abc import Sequence

from agents.play import Streams
from agents.records import Turn
from llmarena_envs.catalogue import load_environment, make_environment
from llmarena_envs.core.text_env import TextEnv
from rating.records.match import Match


class Playback:
    """A match for those who look at it, set up as it was, at its beginning or after some of its turns.

    The environment may be gone, or somebody's own: whatever it raises comes out of everything here.

    Args:
        match: which.

    Attributes:
        env: at the position that was reached.
        turns: number of turns played so far.
    """

    def __init__(self, match: Match) -> None:
        options = load_environment(match.environment).narrating_options(match.options)
        env = make_environment(match.environment, dict(options))
        env.reset(seed=Streams(match.seed).game())
        self.env: TextEnv = env.unwrapped
        self.turns = 0
        self._digest = ""

    def play(self, turn: Turn) -> str:
        """Plays the next turn, if its player read what it would read now.

        Args:
            turn: as it was recorded.

        Returns:
            An empty string, or why the turn was not played.
        """
        env = self.env
        if env.agent_selection != turn.agent or env.observe(turn.agent)["text"] != turn.read:
            return f"what {turn.agent} reads in turn {turn.index + 1} is not what was recorded"
        env.step(turn.action)
        self.turns, self._digest = self.turns + 1, turn.digest
        return ""

    def leads_to(self, turns: Sequence[Turn]) -> bool:
        """Says whether these turns begin with those that were played."""
        return self.turns <= len(turns) and (not self.turns or turns[self.turns - 1].digest == self._digest)
