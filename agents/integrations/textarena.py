"""The games of the suite in TextArena (Guertler et al., arXiv 2504.11442): importing this module registers them for ``ta.make``.

    import textarena as ta
    import agents.integrations.textarena

    env = ta.make("llmarena/tictactoe-v0")
    env.reset(num_players=2, seed=7)
    done = False
    while not done:
        player_id, observation = env.get_observation()
        done, info = env.step(players[player_id](observation))
    rewards, game_info = env.close()

There are three ids a game. ``llmarena/tictactoe-v0`` gives all that was read and said, as one text; ``...-train`` the rules and
the newest position only; ``...-raw`` a list of messages that are new. Actions are free text, from which the move is read.
"""

import asyncio
import secrets
from collections.abc import Mapping
from typing import Any

from agents.integrations import importing
from agents.training import Deal, Match, Question
from agents.turn import STANDARD_TURNS, TurnSettings
from llmarena_envs.catalogue import CATALOGUE

with importing("textarena"):
    import textarena as ta
    from textarena import ObservationType as Kind


class TextArenaEnv(ta.Env):
    """A game of the suite for TextArena's loop, wrappers and agents.

    A player is a learner's seat of the match, and has its index among those. It reads its rules, what is new whenever it is to
    move, its own replies, and why one of them was refused; others' private texts never.

    Args:
        environment: name of the environment, e.g. ``tictactoe_v0``.
        opponents: names of policies by agent id, for seats that no player takes, e.g. judges; asynchronous ones may wait where
            no event loop runs.
        options: constructor options; by default those of rated matches.
        history: ``updates`` says what is new; ``full`` says the whole text again, as wrappers need it that show the newest one.
        settings: what to do about replies that are no legal move.

    Attributes:
        state: TextArena's state; ``game_info`` says of each player its seat (``role``), how many replies it gave (``turn_count``)
            and whether it forfeited the match (``invalid_move``) and why (``reason``).
        match: the match that is played, once ``reset`` was called.
    """

    def __init__(
        self,
        environment: str,
        opponents: Mapping[str, str] | None = None,
        options: Mapping[str, Any] | None = None,
        history: str = "updates",
        settings: TurnSettings = STANDARD_TURNS,
    ) -> None:
        self._deal = {"environment": environment, "opponents": dict(opponents or {}), "options": options}
        self._matches = {"history": history, "settings": settings}
        self._runner = asyncio.Runner() if opponents else None
        self._whole = Kind.GAME_MESSAGE if history == "updates" else Kind.GAME_BOARD
        self.match: Match | None = None

    def reset(self, num_players: int | None = None, seed: int | None = None) -> None:
        """Begins a match; without a seed the operating system gives one.

        Raises:
            ValueError: if another number of players takes part.
            ProviderError: if an opponent failed for no fault of its own.
        """
        deal = Deal(seed=secrets.randbits(32) if seed is None else seed, **self._deal)
        self.match = match = deal.match(**self._matches)
        if num_players not in (None, len(match.learners)):
            raise ValueError(f"num_players: expected {len(match.learners)} ({match.learners}), got {num_players}")
        self.state = ta.State(num_players=len(match.learners))
        self.state.standard_resets(game_state={"seed": deal.seed}, role_mapping=dict(enumerate(match.learners)))
        for player, agent in enumerate(match.learners):
            self.state.game_info[player]["role"] = agent
        self._show(match.start_sync() if self._runner is None else self._runner.run(match.start()))

    def step(self, action: str) -> tuple[bool, dict[str, Any]]:
        """Replies for the current player.

        Returns:
            Whether the match is over, and ``{"failure": kind}``, what the reply ended in (``ok``, ``unparsable``, ...).

        Raises:
            RuntimeError: if no match has begun, or the match is over.
            ProviderError: if an opponent failed for no fault of its own.
        """
        match, state = self.match, getattr(self, "state", None)
        if match is None or state is None:
            raise RuntimeError("expected reset() before step()")
        player = state.current_player_id
        question = match.reply_sync(action) if self._runner is None else self._runner.run(match.reply(action))
        state.add_observation(action, Kind.PLAYER_ACTION, from_id=player, to_id=player)
        state.game_info[player]["turn_count"] += 1
        self._show(question)
        state.step_info = {"failure": match.steps[-1].kind.name.lower()}
        return state.step()

    def _show(self, question: Question | None) -> None:
        """Tells the player what it is asked, or every player how the match ended."""
        match, state = self.match, self.state
        assert match is not None
        if question is not None:
            player = state.current_player_id = match.learners.index(question.agent)
            begins = not any(step.agent == question.agent for step in match.steps)
            for message in question.new:
                kind = Kind.GAME_ADMIN if question.attempt else self._whole
                if message["role"] != "system":
                    state.add_observation(message["content"], kind, to_id=player)
                elif begins:
                    state.add_observation(message["content"], Kind.PROMPT, to_id=player)
            return
        assert match.episode is not None
        state.done = True
        state.rewards = {player: match.reward(agent) for player, agent in enumerate(match.learners)}
        for player, agent in enumerate(match.learners):
            reason = match.episode.forfeit(agent)
            state.game_info[player] |= {"invalid_move": bool(reason), "reason": reason}


for _entry in CATALOGUE:
    for _suffix, _wrappers, _history in (
        ("", [ta.wrappers.LLMObservationWrapper], "updates"),
        ("-train", [ta.wrappers.GameBoardObservationWrapper], "full"),
        ("-raw", None, "updates"),
    ):
        ta.register(_entry.registry_id + _suffix, TextArenaEnv, _wrappers, environment=_entry.name, history=_history)
