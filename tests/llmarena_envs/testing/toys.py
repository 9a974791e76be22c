"""A small correct game with chance, secrets and simultaneous stages, and environments that each break one rule of the suite."""

import copy
import random
from typing import Any, ClassVar, NamedTuple

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from llmarena_envs.core.codec import Codec
from llmarena_envs.core.ending import Ending
from llmarena_envs.core.failures import Failure, Reason, Refusal
from llmarena_envs.core.game import Game
from llmarena_envs.core.narration import Scene
from llmarena_envs.core.order import OrderWrapper
from llmarena_envs.core.parallel import parallel_form
from llmarena_envs.core.text_env import TextEnv

ROUNDS = 3


class DuelView(NamedTuple):
    agent: str
    to_move: bool
    legal: tuple[int, ...]
    card: int
    rounds: tuple[tuple[int, int], ...]


class Duel(Game):
    """Each player holds a secret card; in each round both add 0, 1 or 2 at once, and the higher sum wins a point."""

    agents = ("player_0", "player_1")
    num_actions = 3
    max_turns = 2 * ROUNDS

    def reset(self, rng: np.random.Generator) -> None:
        self.cards = tuple(int(card) for card in rng.integers(10, 20, size=2))
        self.rounds: tuple[tuple[int, int], ...] = ()
        self.to_move: tuple[str, ...] = self.agents
        self.rewards = (0.0, 0.0)

    def view(self, agent: str) -> DuelView:
        to_move = agent in self.to_move
        card = self.cards[self.agents.index(agent)]
        return DuelView(agent, to_move, (0, 1, 2) if to_move else (), card, self.rounds)

    def why_illegal(self, agent: str, action: int) -> Reason | None:
        return None if 0 <= action <= 2 else Reason("no_such_action", {"last": 2})

    def apply(self, actions: tuple[int, ...]) -> None:
        first, second = (card + action for card, action in zip(self.cards, actions, strict=True))
        self.rounds += ((actions[0], actions[1]),)
        self.rewards = (float(first > second) - float(first < second), float(first < second) - float(first > second))
        self.to_move = self.agents if len(self.rounds) < ROUNDS else ()


class DuelCodec(Codec):
    def rules(self, agent: str) -> str:
        return "Both add 0, 1 or 2 to a secret card."

    def observation(self, view: DuelView) -> str:
        return f"Your card: {view.card}. Rounds: {view.rounds}. {'Add 0, 1 or 2.' if view.to_move else 'Wait.'}"

    def ending(self, view: DuelView, ending: Ending) -> str:
        return f"{self.observation(view)} {ending.reward} {ending.offenders}"

    def read(self, reply: str, view: DuelView) -> int:
        if reply.strip() not in ("0", "1", "2"):
            raise Refusal(Failure.UNPARSABLE, "nothing_stated")
        return int(reply)

    def format(self, action: int, view: DuelView) -> str:
        return str(action)

    def picture(self, game: Any) -> str:
        return f"{game.cards} {game.rounds}"


class DuelEnv(TextEnv):
    metadata: ClassVar[dict[str, Any]] = {
        "name": "duel_v0",
        "render_modes": ["ansi", "human"],
        "render_fps": 1,
        "is_parallelizable": True,
    }
    game_type: ClassVar[type[Game]] = Duel
    codec_type: ClassVar[type[Codec]] = DuelCodec

    def __init__(self, obs_type: str = "text", render_mode: str | None = None) -> None:
        super().__init__(self.game_type(), self.codec_type(), obs_type=obs_type, render_mode=render_mode)

    def vector_space(self) -> spaces.Box:
        return spaces.Box(-1, 20, (1 + 2 * ROUNDS,), np.int8)

    def encode(self, view: DuelView) -> NDArray[np.int8]:
        numbers = [view.card, *(number for pair in view.rounds for number in pair)]
        return np.array(numbers + [-1] * (1 + 2 * ROUNDS - len(numbers)), dtype=np.int8)

    @classmethod
    def make(cls, **options: Any) -> OrderWrapper:
        return OrderWrapper(cls(**options))


def duel(**options: Any) -> OrderWrapper:
    return DuelEnv.make(**options)


parallel_duel = parallel_form(duel)


def card(env: Any, agent: str) -> list[str]:
    return [str(env.unwrapped.game.cards[env.possible_agents.index(agent)])]


# Rules of the game that are broken.


class EndlessGame(Duel):
    def apply(self, actions: tuple[int, ...]) -> None:
        super().apply(actions)
        self.to_move = self.agents


class Endless(DuelEnv):
    game_type = EndlessGame


class RefusingGame(Duel):
    def why_illegal(self, agent: str, action: int) -> Reason | None:
        return Reason("no_such_action", {"last": 1}) if action == 2 else super().why_illegal(agent, action)


class RefusesWhatItOffers(DuelEnv):
    game_type = RefusingGame


class ModestGame(Duel):
    def view(self, agent: str) -> DuelView:
        view = super().view(agent)
        return view._replace(legal=view.legal[:2])


class MaskLacksALegalAction(DuelEnv):
    game_type = ModestGame


class OwnGeneratorGame(Duel):
    def reset(self, rng: np.random.Generator) -> None:
        super().reset(np.random.default_rng())


class DrawsFromElsewhere(DuelEnv):
    game_type = OwnGeneratorGame


class ConstantGame(Duel):
    def reset(self, rng: np.random.Generator) -> None:
        rng.random()
        super().reset(np.random.default_rng(0))


class SameMatchForAllSeeds(DuelEnv):
    game_type = ConstantGame


class SharedGame(Duel):
    table: ClassVar[dict[str, Any]] = {}

    def reset(self, rng: np.random.Generator) -> None:
        super().reset(rng)
        self.table["rounds"] = ()

    def apply(self, actions: tuple[int, ...]) -> None:
        self.rounds = self.table["rounds"]
        super().apply(actions)
        self.table["rounds"] = self.rounds
        self.to_move = self.agents if len(self.rounds) % ROUNDS else ()


class SharesStateBetweenInstances(DuelEnv):
    game_type = SharedGame


class MutableGame(Duel):
    def reset(self, rng: np.random.Generator) -> None:
        super().reset(rng)
        self.history: list[tuple[int, ...]] = []

    def apply(self, actions: tuple[int, ...]) -> None:
        super().apply(actions)
        self.history.append(actions)

    def view(self, agent: str) -> DuelView:
        return super().view(agent)._replace(rounds=tuple(self.history))


class CopiesShareTheirHistory(DuelEnv):
    game_type = MutableGame


# Secrets.


class LeakyView(NamedTuple):
    agent: str
    to_move: bool
    legal: tuple[int, ...]
    card: int
    rounds: tuple[tuple[int, int], ...]
    other: int


class LeakyGame(Duel):
    def view(self, agent: str) -> Any:
        return LeakyView(*super().view(agent), other=self.cards[1 - self.agents.index(agent)])


class LeakyCodec(DuelCodec):
    def observation(self, view: Any) -> str:
        return f"{super().observation(view)} Do not tell anybody that the other card is {view.other}."


class ViewHoldsTheOtherCard(DuelEnv):
    game_type = LeakyGame
    codec_type = LeakyCodec


class TextGoesPastTheView(DuelEnv):
    def observe(self, agent: str) -> dict[str, Any]:
        observation = super().observe(agent)
        observation["text"] += f" The cards add up to {sum(self.game.cards)}."
        return observation


class PendingMoveShows(DuelEnv):
    def observe(self, agent: str) -> dict[str, Any]:
        observation = super().observe(agent)
        observation["text"] += f" {len(self._pending)} of you have chosen."
        return observation


class PendingOffenceShows(DuelEnv):
    def step(self, action: Any) -> None:
        super().step(action)
        for agent in self._offences:
            if agent in self.infos:
                self.infos[agent]["illegal"] = 1


# Observations and bookkeeping.


class FullMaskForEverybody(DuelEnv):
    def observe(self, agent: str) -> dict[str, Any]:
        observation = super().observe(agent)
        observation["action_mask"] = np.ones(3, dtype=np.int8)
        return observation


class NewSpacesAtEveryCall(DuelEnv):
    def action_space(self, agent: str) -> spaces.Discrete:
        return spaces.Discrete(3)


class TextUnderObservation(DuelEnv):
    def observe(self, agent: str) -> dict[str, Any]:
        observation = super().observe(agent)
        return {"observation": observation["text"], "action_mask": observation["action_mask"]}

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return super().observation_space(agent)


class OutOfItsSpace(DuelEnv):
    def observe(self, agent: str) -> dict[str, Any]:
        return {**super().observe(agent), "action_mask": np.zeros(4, dtype=np.int8)}


class TextInInfos(DuelEnv):
    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        super().reset(seed, options)
        self.infos["player_0"]["hint"] = "add 2"


class InfosGrow(DuelEnv):
    def _resolve(self, moves: tuple[Any, ...]) -> None:
        super()._resolve(moves)
        self.infos["player_1"]["rounds"] = len(self.game.rounds)


class LosesTheLastReward(DuelEnv):
    def _accumulate_rewards(self) -> None:
        if not self._over:
            super()._accumulate_rewards()


class LoserLeavesAtOnce(DuelEnv):
    def step(self, action: Any) -> None:
        self.agents = self.possible_agents[:] if len(self.terminations) == 2 else self.agents
        super().step(action)

    def _resolve(self, moves: tuple[Any, ...]) -> None:
        super()._resolve(moves)
        if self.rewards["player_1"] < 0:
            self.agents.remove("player_1")


class RulesChange(DuelEnv):
    def observe(self, agent: str) -> dict[str, Any]:
        observation = super().observe(agent)
        observation["rules"] += f" Round {len(self.game.rounds)}."
        return observation


class WrongTurn(DuelEnv):
    def view(self, agent: str) -> Any:
        return self.game.view(agent)


# Randomness and processes.


class SetInText(DuelEnv):
    class Codec(DuelCodec):
        def rules(self, agent: str) -> str:
            return f"Players: {', '.join({'ann', 'bea', 'cleo', 'dora', 'eve', 'fay', 'gwen'})}"

    codec_type = Codec


class UsesTheGlobalGenerator(DuelEnv):
    def step(self, action: Any) -> None:
        random.random()
        super().step(action)


class SeedsNothing(DuelEnv):
    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        super().reset(7 if seed is not None else None, options)


class DeepCopyStartsAnew(DuelEnv):
    def __deepcopy__(self, memo: dict[int, Any]) -> "DeepCopyStartsAnew":
        copied = type(self)(self.obs_type, self.render_mode)
        copied.reset(seed=0)
        return copied


class PickleForgetsTheGenerator(DuelEnv):
    def __deepcopy__(self, memo: dict[int, Any]) -> "PickleForgetsTheGenerator":
        copied = object.__new__(type(self))
        copied.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return copied

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, np_random=np.random.default_rng(0))


# Actions and replies.


class RaisesOnJunk(DuelEnv):
    def step(self, action: Any) -> None:
        super().step(action if self.terminations[self.agent_selection] else int(action))


class PrintsOnJunk(DuelEnv):
    def step(self, action: Any) -> None:
        if action is None and not self.terminations[self.agent_selection]:
            print("illegal")
        super().step(action)


class ForgivesJunk(DuelEnv):
    def step(self, action: Any) -> None:
        legal = isinstance(action, int | np.integer) and 0 <= action < 3
        super().step(action if legal or self.terminations[self.agent_selection] else 0)


class RewardsTheOffender(DuelEnv):
    class Game(Duel):
        def forfeit(self, offenders: tuple[str, ...]) -> tuple[float, ...]:
            return (1.0, 1.0)

    game_type = Game


class WantsPythonIntegers(DuelEnv):
    def step(self, action: Any) -> None:
        super().step(None if isinstance(action, np.integer) else action)


class ParseRaisesValueError(DuelEnv):
    class Codec(DuelCodec):
        def parse(self, reply: str, view: DuelView) -> int:
            return int(reply.strip())

    codec_type = Codec


class FormatsWhatItCannotRead(DuelEnv):
    class Codec(DuelCodec):
        def format(self, action: int, view: DuelView) -> str:
            return str(2 - action)

    codec_type = Codec


class DrawsNothing(DuelEnv):
    class Codec(DuelCodec):
        def picture(self, game: Any) -> str:
            return ""

    codec_type = Codec


class TellsOfAStranger(DuelEnv):
    def narrate(self) -> tuple[Scene, ...]:
        return (Scene("a move", speaker="player_7"),)


class NamelessVersion(DuelEnv):
    metadata: ClassVar[dict[str, Any]] = {**DuelEnv.metadata, "name": "duel"}


class ParallelFormGoesItsOwnWay:
    """Not the parallel form of the duel but of a duel that lacks a legal action."""

    def __new__(cls, **options: Any) -> Any:
        return parallel_form(MaskLacksALegalAction.make)(**options)
