"""Pairs of continuations of a recorded match, after the recorded reply and after another one, with common random numbers."""

from typing import Any, NamedTuple

import numpy as np

from agents.errors import EnvironmentBug
from agents.models.service import ModelService
from agents.play import Streams, observe, script_observation, step_rewards
from agents.player import Player, close_players
from agents.records import Attempt, Turn
from agents.registry import make_policy
from agents.turn import Move, take_turn
from llmarena_envs.core.failures import Failure
from llmarena_envs.core.options import OptionError
from rating.blame.pairs import Key, Pair
from rating.blame.question import SELF, Candidate, Game, Question, Spec


class _Branch(NamedTuple):
    """A continuation.

    Attributes:
        move: the reply of the seat.
        reward: the reward of the match; ``None`` without a result, or if not played on.
    """

    move: Move
    reward: float | None


class Continuer:
    """Continues a match with its policies, one continuation at a time.

    Policies with a memory recall the recorded replies before they are asked. With redrawn information only the seat does: the
    memory of the others may be outdated. Baselines have no memory.

    Args:
        game: the match.
        question: the question.
        service: the language models.

    Attributes:
        players: the policy of each agent.
        substitute: the policy that gives the other replies; ``None`` for replaced messages.

    Raises:
        OptionError: if a policy cannot be made, or is a person.
    """

    def __init__(self, game: Game, question: Question, service: ModelService) -> None:
        self._record = game.record
        self._settings = game.settings
        self._question = question
        self._env = game.make_env()
        environment = game.record.match.environment
        self.players = {agent: _player(spec, environment, service) for agent, spec in game.policies.items()}
        self.substitute = None
        if question.message is None:
            own = question.substitute == SELF
            spec = game.policies[question.seat] if own else Spec(question.substitute, {})
            self.substitute = _player(spec, environment, service)

    @property
    def is_scripted(self) -> bool:
        """Whether all policies only compute."""
        return all(player.is_scripted for player in self._all)

    @property
    def _all(self) -> list[Player]:
        return [*self.players.values(), *([self.substitute] if self.substitute else [])]

    async def close(self) -> None:
        """Closes the policies."""
        await close_players(self._all)

    async def pair(self, candidate: Candidate, key: Key) -> Pair | None:
        """Continues after the recorded reply and after another one; ``None`` if a continuation ends without a result.

        Equal actions have equal continuations: the second one is then not played.

        Raises:
            ProviderError: if a policy fails.
        """
        kept = await self._branch(candidate, key, is_other=False)
        other = await self._branch(candidate, key, is_other=True)
        is_same = other.move.action == kept.move.action
        if kept.reward is None or (other.reward is None and not is_same):
            return None
        attempts = other.move.attempts if self.substitute else ()
        return Pair(
            key,
            kept.reward,
            kept.reward if other.reward is None else other.reward,
            "" if is_same else other.move.played,
            is_same,
            sum(attempt.kind is not Failure.OK for attempt in attempts),
        )

    async def _branch(self, candidate: Candidate, key: Key, *, is_other: bool) -> _Branch:
        env, question = self._env, self._question
        recorded = self._record.turns[candidate.turn]
        streams, views = await self._begin(candidate, key)
        turns = self._record.turns[: candidate.start]
        total = sum(turn.rewards[question.rewarded] for turn in turns)
        index, move = candidate.start, None
        while not any(env.terminations.values()):
            if index >= env.max_turns:
                raise EnvironmentBug(f"{env} went on after its published bound of {env.max_turns} turns")
            agent = env.agent_selection
            if index != candidate.turn:
                action = (await self._ask(self.players[agent], agent, index, streams, views)).action
            elif is_other:
                move = await self._other(candidate, streams, views)
                action = move.action
                if action == recorded.action:
                    return _Branch(move, None)
            else:
                move = Move(recorded.action, recorded.played, recorded.attempts, recorded.fallback)
                await self._recall(self.players[agent], recorded, views)
                action = recorded.action
            env.step(action)
            total += step_rewards(env, self._settings)[question.rewarded]
            index += 1
        assert move is not None
        return _Branch(move, None if env.game.undecided else total)

    async def _begin(self, candidate: Candidate, key: Key) -> tuple[Streams, dict[Player, dict[str, Any]]]:
        """Replays the match up to the stage of a turn, and redraws hidden information; returns streams and views."""
        env, question, seed = self._env, self._question, self._record.match.seed
        root = np.random.SeedSequence(question.seed, spawn_key=key)
        streams = Streams(int(root.generate_state(1, np.uint64)[0]))
        env.reset(seed=Streams(seed).game())
        players = [*self.players.items(), *([(question.seat, self.substitute)] if self.substitute else [])]
        for index, (agent, player) in enumerate(players):
            player.reset(agent, streams.seat(index))
        views: dict[Player, dict[str, Any]] = {player: {} for _, player in players}
        is_redrawn = question.hidden == "redrawn"
        # A fixed match keeps the hidden moves of its stage.
        for turn in self._record.turns[: candidate.start if is_redrawn else candidate.turn]:
            for agent, player in players:
                if agent == turn.agent and (agent == question.seat or not is_redrawn):
                    await self._recall(player, turn, views)
            env.step(turn.action)
        if is_redrawn:
            env.game.resample(question.seat, np.random.default_rng(root.spawn(1)[0]))
        return streams, views

    async def _other(self, candidate: Candidate, streams: Streams, views: dict[Player, dict[str, Any]]) -> Move:
        """Returns the other reply of a turn; the policy of the seat recalls it."""
        env, seat = self._env, self._question.seat
        if self.substitute:
            move = await self._ask(self.substitute, seat, candidate.turn, streams, views)
        else:
            written = env.format(candidate.replaced, seat)
            move = Move(candidate.replaced, written, (Attempt(written),), "")
        if move.action is not None:
            turn = Turn(candidate.turn, seat, "", move.action, move.attempts, move.fallback, {}, move.played)
            await self._recall(self.players[seat], turn, views)
        return move

    async def _ask(
        self, player: Player, agent: str, index: int, streams: Streams, views: dict[Player, dict[str, Any]]
    ) -> Move:
        observation = self._observation(player, agent, views)
        return await take_turn(self._env, agent, player, observation, self._settings, lambda: streams.fallback(index))

    async def _recall(self, player: Player, turn: Turn, views: dict[Player, dict[str, Any]]) -> None:
        """Lets a policy with a memory recall its replies of a turn."""
        if not player.is_scripted:
            rng = Streams(self._record.match.seed).fallback
            observation = self._observation(player, turn.agent, views)
            await take_turn(
                self._env, turn.agent, player, observation, self._settings, lambda: rng(turn.index), recorded=turn
            )

    def _observation(self, player: Player, agent: str, views: dict[Player, dict[str, Any]]) -> Any:
        if player.reads == "text":
            return observe(self._env, agent, player, views[player])[1]
        return script_observation(self._env, agent, player.reads)


def _player(spec: Spec, environment: str, service: ModelService) -> Player:
    player = Player(make_policy(spec.spec, environment, spec.options, service=service))
    if player.is_person:
        raise OptionError(f"policy: expected a program or a model, which can continue the match, got {spec.spec!r}")
    return player
