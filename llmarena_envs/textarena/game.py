"""A game of TextArena behind the game contract."""

from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from llmarena_envs.core.failures import Reason
from llmarena_envs.core.game import Game
from llmarena_envs.core.options import OptionError
from llmarena_envs.textarena.listing import Listed
from llmarena_envs.textarena.match import ArenaMatch

_DRAWS = 100
"""Maximum number of draws for a random reply."""


class End(Enum):
    """The cause of the end of a match."""

    PLAYED = "played"
    TURN_LIMIT = "turn_limit"
    FAILED = "failed"


class ArenaView(NamedTuple):
    """The view of a player.

    Attributes:
        agent: the player.
        to_move: whether the player is to move.
        legal: always empty: actions are texts.
        text: the text of TextArena's observation wrapper.
        end: the cause of the end of the match; ``None`` before.
        reason: TextArena's reason for the end, or the type of its exception.
    """

    agent: str
    to_move: bool
    legal: tuple[str, ...]
    text: str
    end: End | None = None
    reason: str = ""


class ArenaGame(Game[str, ArenaView]):
    """A position of a game of TextArena; actions are replies, judged by TextArena.

    A copy or a pickle holds the seed and the replies, and replays them when it is continued.

    Args:
        listed: the entry of the game.
        players: number of players; by default the smallest one.

    Raises:
        OptionError: if the number of players is out of range.
    """

    def __init__(self, listed: Listed, players: int | None = None) -> None:
        least, most = listed.players
        count = least if players is None else players
        if type(count) is not int or count not in range(least, most + 1, listed.step):
            expected = str(least) if least == most else f"{least} to {most}"
            even = f" in steps of {listed.step}" if listed.step > 1 else ""
            raise OptionError(f"textarena/{listed.name}: players: expected {expected}{even}, got {players!r}")
        self.listed = listed
        self.agents = tuple(f"player_{player}" for player in range(count))
        self.max_turns = listed.turns * count
        self._match: ArenaMatch | None = None

    def reset(self, rng: np.random.Generator) -> None:
        """Starts a match in TextArena."""
        self._seed = int(rng.integers(2**31))
        self._replies: tuple[str, ...] = ()
        self._end: End | None = None
        self._match = self._replayed()
        self._read(self._match)

    def _replayed(self) -> ArenaMatch:
        match = ArenaMatch(self.listed.name, len(self.agents), self._seed)
        for reply in self._replies:
            match.step(reply)
        return match

    def _current(self) -> ArenaMatch:
        if self._match is None:
            self._match = self._replayed()
        return self._match

    def _read(self, match: ArenaMatch) -> None:
        """Reads texts, rewards and the agent to move of a match."""
        self._texts = tuple(match.texts)
        self.rewards = match.rewards
        self.to_move = () if match.done else (self.agents[match.player],)
        self._invalid = tuple(match.made_invalid_move(player) for player in range(len(self.agents)))
        self._reasons = tuple(match.failure or match.reason(player) for player in range(len(self.agents)))

    def view(self, agent: str) -> ArenaView:
        """Returns the text of a player, and after the match its end."""
        player = self.agents.index(agent)
        return ArenaView(agent, agent in self.to_move, (), self._texts[player], self._end, self._reasons[player])

    def why_illegal(self, agent: str, action: str) -> Reason | None:
        """Returns ``None``: TextArena judges every text."""
        return None

    def apply(self, actions: tuple[str, ...]) -> None:
        """Passes a reply to TextArena; at the turn limit the match ends, and its author loses if the reply was rejected."""
        match = self._current()
        author = self.to_move
        match.step(actions[0])
        self._replies = (*self._replies, actions[0])
        self._read(match)
        if match.failure:
            self._end, self.rewards = End.FAILED, self.forfeit(author)
        elif match.done:
            self._end = End.PLAYED
        elif len(self._replies) >= self.max_turns:
            self._end, self.to_move = End.TURN_LIMIT, ()
            if match.rejected:  # its author stalls
                self.rewards = self.forfeit(author)

    def random_action(self, agent: str, rng: np.random.Generator) -> str:
        """Draws a plausible reply: a listed move, or one that TextArena accepts if a few draws have one."""
        replies = self.listed.replies
        moves = replies.listed_moves(self._texts[self.agents.index(agent)])
        if moves:
            return moves[int(rng.integers(len(moves)))]
        if agent not in self.to_move:
            return replies.draw(rng)
        return self._current().first_accepted(replies.draw(rng) for _ in range(_DRAWS))

    def statistics(self, agent: str) -> dict[str, float]:
        """Returns whether TextArena holds an invalid move against the player."""
        return {"invalid_move": float(self._invalid[self.agents.index(agent)])}

    def log(self) -> str:
        """Returns every message of the match, for spectators."""
        return self._current().log()

    def __getstate__(self) -> dict[str, Any]:
        """Returns the position without TextArena's objects."""
        return {**self.__dict__, "_match": None}
