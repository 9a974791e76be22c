"""The suite in TextArena (Guertler et al., arXiv 2504.11442): importing this module registers its games for ``ta.make``.

    import textarena as ta
    import agents.integrations.textarena

    env = ta.make("llmarena/tictactoe-v0")
    env.reset(num_players=2, seed=7)
    done = False
    while not done:
        player_id, observation = env.get_observation()
        done, info = env.step(players[player_id](observation))
    rewards, game_info = env.close()

Each game has three ids. ``llmarena/tictactoe-v0`` gives the whole conversation as one text; ``...-train`` only the rules and the
newest position; ``...-raw`` a list of new messages. Actions are free text, parsed for a move. Games of other libraries have ids
such as ``llmarena/openspiel:kuhn_poker-v0``.
"""

import asyncio
import secrets
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from agents.integrations import importing
from agents.training import Deal, Match, Question
from agents.training.deals import MAX_SEED
from agents.turn import STANDARD_TURNS, TurnSettings
from llmarena_envs.adapters import adapted_names, registry_id
from llmarena_envs.catalogue import CATALOGUE, installed
from llmarena_envs.core.options import check_int

with importing("textarena"):
    import textarena as ta
    from textarena import ObservationType as Kind


class TextArenaEnv(ta.Env):
    """A game of the suite for TextArena's loop, wrappers and agents.

    A player is a learner's seat of the match; its index counts only these seats. It reads its rules, the news before each move,
    its own replies, and feedback on rejected ones; never private texts of others.

    Args:
        environment: name of the environment, e.g. ``tictactoe_v0``.
        opponents: names of policies by agent id, for seats without a player, e.g. judges. If an event loop is running they must
            not wait for I/O.
        options: constructor options; by default as in rated matches.
        history: ``updates`` gives the news; ``full`` repeats the whole text, for wrappers that show only the newest one.
        settings: invalid-reply policy.

    Attributes:
        state: TextArena's state; ``game_info`` holds for each player its seat (``role``), its number of replies (``turn_count``),
            whether it forfeited the match (``invalid_move``), and its final text (``reason``).
        match: the current match, after ``reset``.
    """

    def __init__(
        self,
        environment: str,
        opponents: Mapping[str, str] | None = None,
        options: Mapping[str, Any] | None = None,
        history: str = "updates",
        settings: TurnSettings = STANDARD_TURNS,
    ) -> None:
        self._deal = Deal(environment, 0, opponents or {}, options)
        self._make_match = partial(Deal.match, history=history, settings=settings)
        self._whole = Kind.GAME_MESSAGE if history == "updates" else Kind.GAME_BOARD
        self._runner: asyncio.Runner | None = None
        self.match: Match | None = None

    def reset(self, num_players: int | None = None, seed: int | None = None) -> None:
        """Starts a match; the default seed is random.

        Raises:
            OptionError: if the seed is not an integer from 0 to 2**63 - 1, or the match cannot be made.
            ValueError: if the number of players is wrong.
            ProviderError: if an opponent's provider failed.
        """
        seed = secrets.randbits(32) if seed is None else seed
        check_int("seed", seed, 0, MAX_SEED)
        deal = replace(self._deal, seed=seed)
        players = dict(enumerate(deal.learners))
        if num_players not in (None, len(players)):
            raise ValueError(
                f"num_players: expected {len(players)} ({', '.join(players.values())}), got {num_players!r}"
            )
        self._release()
        self.match = match = self._make_match(deal)
        self._runner = _new_runner() if deal.opponents else None
        self.state = ta.State(num_players=len(players))
        self.state.standard_resets(game_state={"seed": seed}, role_mapping=players)
        for player, agent in enumerate(match.learners):
            self.state.game_info[player]["role"] = agent
        self._show(match, match.start_sync() if self._runner is None else self._runner.run(match.start()))

    def step(self, action: str) -> tuple[bool, dict[str, Any]]:
        """Replies for the current player.

        If the match ended before the first question, a reply has no effect; TextArena's loop always gives one.

        Returns:
            Whether the match is over, and ``{"failure": kind}``, the outcome of the reply: ``ok``, ``unparsable``, ...

        Raises:
            RuntimeError: if no match has begun, or the match is over.
            ProviderError: if an opponent's provider failed.
        """
        match = self.match
        if match is None:
            raise RuntimeError("expected reset() before step()")
        if match.episode is not None and not match.steps:
            return True, {}
        question = match.reply_sync(action) if self._runner is None else self._runner.run(match.reply(action))
        state, player = self.state, self.state.current_player_id
        state.add_observation(match.steps[-1].reply, Kind.PLAYER_ACTION, from_id=player, to_id=player)
        state.game_info[player]["turn_count"] += 1
        self._show(match, question)
        state.step_info = {"failure": match.steps[-1].kind.name.lower()}
        return state.step()

    def close(self) -> Any:
        """Ends the match and returns the rewards by player, ``None`` for an unfinished match, and ``game_info``."""
        self._release()
        return self.state.close()

    def _release(self) -> None:
        if self.match is not None and self._runner is not None:
            self._runner.run(self.match.close())
            self._runner.close()
            self._runner = None
        elif self.match is not None:
            self.match.close_sync()

    def _show(self, match: Match, question: Question | None) -> None:
        """Shows the question to the player, or the ending of the match."""
        state = self.state
        if question is not None:
            player = state.current_player_id = match.learners.index(question.agent)
            begins = all(step.agent != question.agent for step in match.steps)
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
            if not match.steps:
                state.add_observation(match.env.unwrapped.observe(agent)["rules"], Kind.PROMPT, to_id=player)
                state.add_observation(match.endings[agent], self._whole, to_id=player)
            ended = {"invalid_move": bool(match.episode.forfeit(agent)), "reason": match.endings[agent]}
            state.game_info[player].update(ended)


class _Anew:
    """Clears an observation wrapper of TextArena, which otherwise shows the previous match in the next one."""

    def reset(self, num_players: int | None = None, seed: int | None = None) -> None:
        self.full_observations: dict[int, list[Any]] = {}
        super().reset(num_players=num_players, seed=seed)  # type: ignore[misc]


class WholeText(_Anew, ta.wrappers.LLMObservationWrapper):
    """The player's whole conversation in the match, as one text."""


class NewestPosition(_Anew, ta.wrappers.GameBoardObservationWrapper):
    """The rules and the newest position."""


def _new_runner() -> asyncio.Runner | None:
    """Returns an event loop for opponents that wait for I/O, unless one is running, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.Runner()
    return None


def _names() -> dict[str, str]:
    """Returns the names of all environments by id, including installed packages, which are imported on first use.

    TextArena's own games are left out.
    """
    others = {entry.registry_id: entry.name for entry in installed().environments.values()}
    others |= {registry_id(name): name for name in adapted_names() if not name.startswith("textarena/")}
    return others | {entry.registry_id: entry.name for entry in CATALOGUE}


for _id, _name in _names().items():
    for _suffix, _wrappers, _history in (
        ("", [WholeText], "updates"),
        ("-train", [NewestPosition], "full"),
        ("-raw", None, "updates"),
    ):
        ta.register(_id + _suffix, TextArenaEnv, _wrappers, environment=_name, history=_history)
