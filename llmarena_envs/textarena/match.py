"""One match in TextArena, isolated from the process's random generators and from other matches."""

import io
import random
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from copy import deepcopy
from threading import RLock
from typing import Any

import numpy as np

from llmarena_envs.textarena.package import import_textarena

_LOCK = RLock()
"""Held during a call into TextArena: its games use the random generators of the process, and some print."""


class ArenaMatch:
    """A match of one of TextArena's games with its default wrappers.

    Args:
        name: TextArena's id of the game.
        players: number of players.
        seed: determines every chance event.

    Attributes:
        texts: by player, the text of TextArena's observation wrapper.
        player: the player to move.
        done: whether the match is over.
        rewards: rewards by player, 0 unless TextArena gave one.
        rejected: whether TextArena took the last reply for an invalid move.
        failure: the type of the exception of TextArena that ended the match; empty if there was none.
    """

    def __init__(self, name: str, players: int, seed: int) -> None:
        self._generators = random.Random(seed).getstate(), np.random.RandomState(seed).get_state()
        self.texts = [""] * players
        self.player, self.done, self.rejected, self.failure = 0, False, False, ""
        self.rewards = (0.0,) * players
        with self._isolated():
            spec = import_textarena().envs.registration.ENV_REGISTRY[name]
            self._env = import_textarena().make(name, **deepcopy(spec.kwargs))  # games change lists among them
            self._env.reset(num_players=players, seed=seed)
            self._observe()

    @contextmanager
    def _isolated(self) -> Iterator[None]:
        """Runs a block with the generators of this match, and restores those of the process."""
        with _LOCK, redirect_stdout(io.StringIO()):
            outer = random.getstate(), np.random.get_state()  # noqa: NPY002
            _set_generators(self._generators)
            try:
                yield
            finally:
                self._generators = random.getstate(), np.random.get_state()  # noqa: NPY002
                _set_generators(outer)

    def step(self, reply: str) -> None:
        """Passes a reply of the player to move to TextArena.

        An exception of TextArena ends the match: its author loses.
        """
        author = self.player
        try:
            with self._isolated():
                self.done = bool(self._env.step(reply)[0])
                self.rejected = _is_rejected(self._env.state, author)
                self._observe()
        except Exception as error:
            self.done, self.failure = True, type(error).__name__
            return
        if self.done:
            given = self._env.state.rewards or {}
            self.rewards = tuple(float(given.get(player) or 0.0) for player in range(len(self.texts)))

    def first_accepted(self, replies: Iterable[str]) -> str:
        """Returns the first reply that TextArena takes for a valid move, tried on a copy; without one the last reply."""
        before, reply = self._generators, ""
        with self._isolated():
            twin = self._twin()
            for reply in replies:
                try:
                    twin.step(reply)
                except Exception:
                    twin = self._twin()
                    continue
                state = twin.state
                if not _is_rejected(state, self.player):
                    break
                if state.game_info[self.player].get("invalid_move") or state.done:
                    twin = self._twin()
                state.error_count = 0
        self._generators = before
        return reply

    def _twin(self) -> Any:
        """Returns a copy of TextArena's game without its messages."""
        unused: dict[int, Any] = {id(self._env.state.logs): [], id(self._env.full_observations): {}}
        return deepcopy(self._env, unused)

    def _observe(self) -> None:
        """Reads every player's messages as TextArena's loop does for the player to move."""
        state = self._env.state
        for player in range(len(self.texts)):
            if player != state.current_player_id:
                self.texts[player] = self._env.observation(player, state.observations[player])
                state.observations[player] = []
        self.player, text = self._env.get_observation()
        self.texts[self.player] = text

    def reason(self, player: int) -> str:
        """Returns TextArena's reason for the end of the match."""
        return str(self._env.state.game_info[player].get("reason") or "")

    def made_invalid_move(self, player: int) -> bool:
        """Says whether TextArena holds an invalid move against a player."""
        return bool(self._env.state.game_info[player].get("invalid_move"))

    def log(self) -> str:
        """Returns every message of the match, with its sender."""
        return "\n".join(
            f"[{'GAME' if sender < 0 else f'Player {sender}'}] {message}" for sender, message in self._env.state.logs
        )


def _is_rejected(state: Any, author: int) -> bool:
    """Says whether TextArena took the last reply of a player for an invalid move."""
    return bool(state.game_info[author].get("invalid_move") or state.made_invalid_move or state.error_count)


def _set_generators(states: tuple[Any, Any]) -> None:
    random.setstate(states[0])
    np.random.set_state(states[1])  # noqa: NPY002
