"""Mistakes that are easily made with an environment: each class plants one into the duel and names the rule that finds it.

### Arguments

* `level=1`: of the environments whose arguments are documented wrongly.
* `render_mode=None`: as everywhere.
"""

import copy
import dataclasses
import itertools
import random
import re
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple, TypeVar
from xml.sax.saxutils import escape

import numpy as np
from gymnasium import spaces

from llmarena_envs.core.codec import ChatMessage
from llmarena_envs.core.declaration import Declaration, HiddenRole
from llmarena_envs.core.drawing import Drawing
from llmarena_envs.core.ending import Ending
from llmarena_envs.core.failures import Reason
from llmarena_envs.core.game import Game
from llmarena_envs.core.order import OrderWrapper
from llmarena_envs.core.parallel import parallel_form
from llmarena_envs.core.svg import Svg
from llmarena_envs.core.terminal import printable
from llmarena_envs.core.text_env import TextEnv
from llmarena_envs.core.transcript import Scene
from tests.llmarena_envs.testing.duel import (
    ROUNDS,
    Chat,
    ChatCodec,
    ChatGame,
    Duel,
    DuelCodec,
    DuelEnv,
    DuelView,
    OpenDuel,
    OpenGame,
    totals,
)

Planted = TypeVar("Planted", bound=type[Any])


class Mistake(NamedTuple):
    """A mistake, as an environment with arguments for ``check_environment``, and the rule that finds it."""

    name: str
    env_fn: Callable[..., Any]
    arguments: dict[str, Any]
    rule: str


MISTAKES: list[Mistake] = []


def breaks(rule: str, **arguments: Any) -> Callable[[Planted], Planted]:
    """Notes a game, a codec or an environment as a mistake."""

    def note(planted: Planted) -> Planted:
        env: type[Any] = planted
        if not issubclass(planted, DuelEnv):
            part = "game_type" if issubclass(planted, Duel) else "codec_type"
            env = type(f"{planted.__name__}Env", (DuelEnv,), {part: planted})
            globals()[env.__name__] = env  # where other processes find it
        MISTAKES.append(Mistake(planted.__name__, env.make, arguments, rule))
        return planted

    return note


def env_of(name: str) -> Callable[..., Any]:
    """Returns what makes the environment with a mistake."""
    return next(mistake.env_fn for mistake in MISTAKES if mistake.name == name)


# Construction.


@breaks("the_environment_is_made_with_its_options", options={"language": "zh"})
class LacksALanguage(DuelCodec):
    def __init__(self, language: str = "en") -> None:
        super().__init__({"en": language}[language])


@breaks("arguments_are_documented")
class UndocumentedArgument(DuelEnv):
    def __init__(self, level: int = 1, bonus: int = 0, render_mode: str | None = None) -> None:
        super().__init__(render_mode=render_mode)


@breaks("arguments_are_documented")
class AnotherDefaultThanDocumented(DuelEnv):
    def __init__(self, level: int = 2, render_mode: str | None = None) -> None:
        super().__init__(render_mode=render_mode)


@breaks("arguments_are_documented")
class ArgumentIsGone(DuelEnv):
    def __init__(self, render_mode: str | None = None) -> None:
        super().__init__(render_mode=render_mode)


@breaks("the_environment_is_made_with_its_options")
class CannotBeDrawn(DuelEnv):
    @classmethod
    def make(cls, points: int = 1) -> Any:
        return OrderWrapper(cls(points))


@breaks("every_obs_type_can_be_observed")
class AnnouncesANumericForm(DuelEnv):
    encode = TextEnv.encode


# The contract of games and views.


@breaks("the_first_stage_keeps_the_contract")
class NobodyBegins(Duel):
    def reset(self, rng: np.random.Generator) -> None:
        super().reset(rng)
        self.to_move = ()


@breaks("the_first_stage_keeps_the_contract")
class MovesAgainstSeatOrder(Duel):
    def reset(self, rng: np.random.Generator) -> None:
        super().reset(rng)
        self.to_move = self.agents[::-1]


@breaks("the_first_stage_keeps_the_contract")
class StrangerIsToMove(Duel):
    def reset(self, rng: np.random.Generator) -> None:
        super().reset(rng)
        self.to_move = ("player_0", "player_2")


@breaks("the_first_stage_keeps_the_contract")
class RewardOfOneAgentIsMissing(Duel):
    def apply(self, actions: tuple[int, ...]) -> None:
        super().apply(actions)
        self.rewards = self.rewards[:1]


@breaks("the_first_stage_keeps_the_contract")
class LoserIsNoAgentAnyMore(Duel):
    def apply(self, actions: tuple[int, ...]) -> None:
        super().apply(actions)
        self.agents = self.agents[:1]


@breaks("the_first_stage_keeps_the_contract")
class ViewIsADataclass(Duel):
    def view(self, agent: str) -> Any:
        return PlainView(*super().view(agent))


@dataclasses.dataclass(frozen=True)
class PlainView:
    agent: str
    to_move: bool
    legal: tuple[int, ...]
    card: int
    rounds: tuple[tuple[int, int], ...]


@breaks("the_first_stage_keeps_the_contract")
class ViewNamesAnotherAgent(Duel):
    def view(self, agent: str) -> DuelView:
        return super().view(agent)._replace(agent="player_0")


class OffersOthers(Duel):
    legal: Any = ()

    def view(self, agent: str) -> DuelView:
        return super().view(agent)._replace(legal=self.legal)


@breaks("the_first_stage_keeps_the_contract")
class OffersNothing(OffersOthers):
    pass


@breaks("the_first_stage_keeps_the_contract")
class OffersAList(OffersOthers):
    legal = [0, 1, 2]  # noqa: RUF012


@breaks("the_first_stage_keeps_the_contract")
class OffersOneTooMany(OffersOthers):
    legal = (1, 2, 3)


@breaks("the_first_stage_keeps_the_contract")
class OffersNegativeNumbers(OffersOthers):
    legal = (0, 1, -1)


@breaks("the_first_stage_keeps_the_contract")
class OffersTheSameTwice(OffersOthers):
    legal = (0, 1, 1, 2)


@breaks("every_position_keeps_the_contract")
class OffersLessAndLess(Duel):
    def view(self, agent: str) -> DuelView:
        view = super().view(agent)
        return view._replace(legal=[*view.legal][:2] if len(self.rounds) == 2 else view.legal)


# The declaration.


@breaks("the_declaration_fits_the_environment")
class RatesARoleThatIsNotThere(DuelEnv):
    declaration = Declaration(rated_roles=("writer",))


@breaks("the_declaration_fits_the_environment")
class IsRatedWithAnUnknownOption(DuelEnv):
    declaration = Declaration(rated_options={"pionts": 5})


@breaks("the_declaration_fits_the_environment")
class IsRatedWithAWrongOption(DuelEnv):
    declaration = Declaration(rated_options={"language": "fr"})


@breaks("the_declaration_fits_the_environment")
class RoleIsToldByNoStatistic(DuelEnv):
    declaration = Declaration(scheme="roles", hidden_role=HiddenRole("role", {"spy": 1, "guard": 0}, option="points"))


@breaks("the_declaration_fits_the_environment")
class RoleIsGivenByNoOption(DuelEnv):
    declaration = Declaration(scheme="roles", hidden_role=HiddenRole("illegal", {"guard": 0}, option="seat"))


@breaks("calls_before_reset_are_refused")
class ForgottenOrderWrapper(DuelEnv):
    @classmethod
    def make(cls, **options: Any) -> Any:
        return cls(**options)


# What never returns.


@breaks("matches_end_within_max_turns", time_limit=0.2)
class LoopsForEver(Duel):
    def apply(self, actions: tuple[int, ...]) -> None:
        super().apply(actions)
        while len(self.rounds) == 2:
            pass


@breaks("junk_replies_raise_only_invalid_reply", time_limit=0.2)
class PatternBacktracks(DuelCodec):
    def read(self, reply: str, view: DuelView) -> int:
        return super().read(reply if re.fullmatch(r"(?:\w+\s*)+[!?]", reply) else reply.strip("."), view)


# Rewards.


@breaks("every_agent_has_a_float_reward")
class RewardsAreWholeNumbers(Duel):
    def apply(self, actions: tuple[int, ...]) -> None:
        super().apply(actions)
        self.rewards = tuple(map(int, self.rewards))


@breaks("every_agent_has_a_float_reward")
class RewardsAreArrays(DuelEnv):
    def _resolve(self, moves: tuple[Any, ...]) -> None:
        super()._resolve(moves)
        self.rewards: dict[str, Any] = {agent: np.array([reward]) for agent, reward in self.rewards.items()}


@breaks("every_agent_has_a_float_reward")
class RewardsOfASpectator(DuelEnv):
    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        super().reset(seed, options)
        self.rewards["spectator"] = 0.0


@breaks("every_agent_has_a_float_reward")
class RewardsAreNoNumbers(Duel):
    def apply(self, actions: tuple[int, ...]) -> None:
        super().apply(actions)
        self.rewards = (float("nan"), 0.0)


@breaks("rewards_are_those_of_the_game")
class RewardsAreSwapped(DuelEnv):
    def _resolve(self, moves: tuple[Any, ...]) -> None:
        super()._resolve(moves)
        self.rewards = dict(zip(self.possible_agents, list(self.rewards.values())[::-1], strict=True))
        self._cumulative_rewards = self.rewards.copy()


@breaks("rewards_are_those_of_the_game")
class RewardsAreRepeated(DuelEnv):
    def step(self, action: Any) -> None:
        paid = dict(self.rewards)
        super().step(action)
        if self._pending:
            self.rewards = paid
            self._accumulate_rewards()


@breaks("rewards_are_those_of_the_game")
class RewardsBeforeTheFirstMove(Duel):
    def reset(self, rng: np.random.Generator) -> None:
        super().reset(rng)
        self.rewards = (1.0, -1.0)


@breaks("totals_are_what_was_announced", expected_totals=totals)
class RewardsOfTheOtherSeat(Duel):
    def apply(self, actions: tuple[int, ...]) -> None:
        super().apply(actions)
        self.rewards = self.rewards[::-1]


@breaks("totals_are_what_was_announced", expected_totals=totals)
class LastRewardIsPaidAgain(Duel):
    def apply(self, actions: tuple[int, ...]) -> None:
        earlier = self.rewards
        super().apply(actions)
        self.rewards = tuple(map(sum, zip(self.rewards, earlier, strict=True)))


@breaks("totals_are_what_was_announced", reward_range=(-ROUNDS, ROUNDS), seeds=range(9))
class RewardsArePaidTwice(Duel):
    def apply(self, actions: tuple[int, ...]) -> None:
        super().apply(actions)
        self.rewards = tuple(2 * reward for reward in self.rewards)


@breaks("totals_are_what_was_announced", reward_range=(-ROUNDS, ROUNDS))
class ForfeitIsTooDear(Duel):
    def forfeit(self, offenders: tuple[str, ...]) -> tuple[float, ...]:
        return tuple(-10.0 * (agent in offenders) for agent in self.agents)


@breaks("totals_are_what_was_announced", zero_sum=True)
class NobodyLoses(Duel):
    def apply(self, actions: tuple[int, ...]) -> None:
        super().apply(actions)
        self.rewards = tuple(max(0.0, reward) for reward in self.rewards)


@breaks("forfeits_pay_what_the_game_says")
class ForfeitIsPaidTwice(DuelEnv):
    def _resolve(self, moves: tuple[Any, ...]) -> None:
        super()._resolve(moves)
        if self._offences:
            self._accumulate_rewards()
            self.rewards = {agent: 2 * reward for agent, reward in self.rewards.items()}


# Hidden information.


@breaks("hidden_information_can_be_redrawn")
class NeitherRedrawsNorDeclares(Duel):
    def resample(self, agent: str, rng: np.random.Generator) -> None:
        Game.resample(self, agent, rng)


@breaks("hidden_information_can_be_redrawn")
class RedrawsNothing(Duel):
    def resample(self, agent: str, rng: np.random.Generator) -> None:
        pass


@breaks("hidden_information_can_be_redrawn")
class RedrawsFromElsewhere(Duel):
    def resample(self, agent: str, rng: np.random.Generator) -> None:
        super().resample(agent, np.random.default_rng())


@breaks("hidden_information_can_be_redrawn")
class RedrawsInTheOriginalToo(Duel):
    def reset(self, rng: np.random.Generator) -> None:
        super().reset(rng)
        self.cards: Any = list(self.cards)

    def resample(self, agent: str, rng: np.random.Generator) -> None:
        self.cards[1 - self.agents.index(agent)] = int(rng.integers(10, 20))


@breaks("hidden_information_can_be_redrawn")
class RedrawnIsAnothersTurn(Duel):
    def resample(self, agent: str, rng: np.random.Generator) -> None:
        super().resample(agent, rng)
        self.to_move = self.agents[:1]


@breaks("hidden_information_can_be_redrawn")
class RedrawnCannotBePlayedOn(Duel):
    def resample(self, agent: str, rng: np.random.Generator) -> None:
        self.cards = self.cards[: 1 + self.agents.index(agent)]


@breaks("what_others_know_is_redrawn")
class RedrawForgetsTheSuits(Duel):
    """Cards have suits, which resampling keeps; a text that reveals the others' suits would go unnoticed."""

    def reset(self, rng: np.random.Generator) -> None:
        super().reset(rng)
        self.suits = tuple(int(suit) for suit in rng.integers(2, size=2))

    def view(self, agent: str) -> Any:
        return SuitView(*super().view(agent), self.suits[self.agents.index(agent)])


class SuitView(NamedTuple):
    agent: str
    to_move: bool
    legal: tuple[int, ...]
    card: int
    rounds: tuple[tuple[int, int], ...]
    suit: int


@breaks("hidden_information_leaves_no_trace")
class RedrawsTheOwnCard(Duel):
    def resample(self, agent: str, rng: np.random.Generator) -> None:
        self.cards = tuple(int(card) for card in rng.integers(10, 20, size=2))


@breaks("hidden_information_leaves_no_trace")
class ViewHoldsTheOtherCard(OpenDuel):
    class Game(OpenGame):
        perfect_information = False
        resample = Duel.resample

    game_type = Game


@breaks("hidden_information_leaves_no_trace")
class ViewIsOfTheOtherSeat(Duel):
    def view(self, agent: str) -> DuelView:
        return super().view(agent)._replace(card=self.cards[self.agents.index(agent) - 1])


@breaks("hidden_information_leaves_no_trace")
class LegalActionsTellTheOtherCard(Duel):
    def why_illegal(self, agent: str, action: int) -> Reason | None:
        first, second = self.cards if agent == "player_0" else self.cards[::-1]
        tells = action == 2 and first > second
        return Reason("no_such_action", {"last": 1}) if tells else super().why_illegal(agent, action)

    def view(self, agent: str) -> DuelView:
        view = super().view(agent)
        return view._replace(legal=tuple(action for action in view.legal if not self.why_illegal(agent, action)))


@breaks("hidden_information_leaves_no_trace")
class ReasonTellsTheOtherCard(Duel):
    num_actions = 4

    def why_illegal(self, agent: str, action: int) -> Reason | None:
        reason = super().why_illegal(agent, action)
        return reason and Reason(reason.name, {"last": self.cards[1 - self.agents.index(agent)]})


@breaks("hidden_information_leaves_no_trace")
class StatisticsTellTheOtherCard(Duel):
    def statistics(self, agent: str) -> Mapping[str, float]:
        return {"other": self.cards[1 - self.agents.index(agent)]}


@breaks("infos_are_the_statistics_of_the_game")
class InfosTellTheOtherCard(DuelEnv):
    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        super().reset(seed, options)
        self.infos["player_0"]["other"] = self.game.cards[1]


@breaks("hidden_information_leaves_no_trace")
class TextTellsTheOtherCard(DuelEnv):
    def observe(self, agent: str) -> dict[str, Any]:
        observation = super().observe(agent)
        observation["text"] += f" The cards add up to {sum(self.game.cards)}."
        return observation


@breaks("hidden_information_leaves_no_trace", options={"obs_type": "vector"})
class VectorTellsTheOtherCard(DuelEnv):
    def observe(self, agent: str) -> dict[str, Any]:
        observation = super().observe(agent)
        observation["observation"][-1] = self.game.cards[1]
        return observation


@breaks("perfect_information_hides_nothing")
class HidesCardsAllTheSame(Duel):
    perfect_information = True


@breaks("perfect_information_hides_nothing")
class HidesMovesAllTheSame(OpenDuel):
    class Game(OpenGame):
        def reset(self, rng: np.random.Generator) -> None:
            super().reset(np.random.default_rng(1))

        def view(self, agent: str) -> Any:
            view = super().view(agent)
            return view._replace(rounds=tuple((own, own) for own, _ in view.rounds))

    game_type = Game


@breaks("perfect_information_hides_nothing")
class DealsAgainDuringTheMatch(OpenDuel):
    class Game(OpenGame):
        def reset(self, rng: np.random.Generator) -> None:
            super().reset(rng)
            self.deck = tuple(int(card) for card in rng.integers(10, 20, size=2))
            self.cards = (15, 15)

        def apply(self, actions: tuple[int, ...]) -> None:
            super().apply(actions)
            self.cards = self.deck

    game_type = Game


@breaks("equal_views_give_equal_observations", seeds=range(40))
@breaks("observations_are_made_from_the_view_alone", seeds=range(2))
class TextGoesPastTheView(DuelEnv):
    def observe(self, agent: str) -> dict[str, Any]:
        observation = super().observe(agent)
        observation["text"] += f" Points: {self._totals[self.possible_agents.index(agent)]}."
        return observation


# Messages.


@breaks("messages_go_through_the_pool")
class WordsGoAroundThePool(Chat):
    class Game(ChatGame):
        def reset(self, rng: np.random.Generator) -> None:
            super().reset(rng)
            self.rounds: tuple[tuple[str, str], ...] = ()

        def view(self, agent: str) -> Any:
            rounds = self.rounds if agent == "player_0" else tuple(pair[::-1] for pair in self.rounds)
            return super().view(agent)._replace(rounds=rounds)

        def apply(self, actions: tuple[str, ...]) -> None:
            self.rounds += ((actions[0], actions[1]),)
            self.to_move = self.agents if len(self.rounds) < ROUNDS else ()

    def __init__(self, level: int = 1, render_mode: str | None = None) -> None:
        TextEnv.__init__(self, self.Game(), ChatCodec(), render_mode=render_mode)


@breaks("messages_go_through_the_pool")
class ChannelsAreNotDeclared(Chat):
    declaration = Declaration()


# Endings.


@breaks("endings_are_stated")
class EndingIsNotStated(DuelCodec):
    def ending(self, view: DuelView, ending: Ending) -> str:
        return self.observation(view)


@breaks("endings_are_stated")
class EndingForgetsTheOffenders(DuelCodec):
    def ending(self, view: DuelView, ending: Ending) -> str:
        return super().ending(view, Ending(ending.reward))


# Updates.


@breaks("updates_lose_nothing")
class UpdateForgetsARound(DuelCodec):
    def update(self, view: Any, since: Any) -> str:
        return "\n".join([*self.told(view)[len(since.rounds) + 1 :], self.instruction(view)])


@breaks("updates_lose_nothing", options={"language": "zh"})
class UpdateInAnotherLanguage(DuelCodec):
    def update(self, view: Any, since: Any) -> str:
        return DuelCodec("en").observation(view)


@breaks("updates_follow_from_two_views")
class UpdateCountsItsCalls(DuelCodec):
    def __init__(self, language: str = "en") -> None:
        super().__init__(language)
        self.calls = itertools.count(1)

    def update(self, view: Any, since: Any) -> str:
        return f"Message {next(self.calls)}.\n{self.observation(view)}"


@breaks("updates_follow_from_two_views")
class UpdateIsEmpty(DuelCodec):
    def update(self, view: Any, since: Any) -> str:
        return ""


# Chats.


@breaks("chats_alternate_and_end_with_the_user")
class ChatEndsWithTheAssistant(DuelCodec):
    def chat(self, view: Any) -> tuple[ChatMessage, ...]:
        said = ChatMessage("user", self.observation(view)), ChatMessage("assistant", "1")
        return ChatMessage("system", self.rules(view.agent)), *said


@breaks("chats_alternate_and_end_with_the_user")
class ChatHoldsAnEmptyMessage(DuelCodec):
    def chat(self, view: Any) -> tuple[ChatMessage, ...]:
        return ChatMessage("system", self.rules(view.agent)), ChatMessage("user", "")


@breaks("observations_are_made_from_the_view_alone")
class ChatCountsItsCalls(UpdateCountsItsCalls):
    def chat(self, view: Any) -> tuple[ChatMessage, ...]:
        return ChatMessage("system", f"Message {next(self.calls)}."), ChatMessage("user", self.observation(view))


# Rules of the game that are broken.


@breaks("matches_end_within_max_turns")
class Endless(Duel):
    def apply(self, actions: tuple[int, ...]) -> None:
        super().apply(actions)
        self.to_move = self.agents


@breaks("random_and_default_actions_are_legal")
class RefusesWhatItOffers(Duel):
    def why_illegal(self, agent: str, action: int) -> Reason | None:
        return Reason("no_such_action", {"last": 1}) if action == 2 else super().why_illegal(agent, action)


@breaks("masks_show_exactly_the_legal_actions")
class MaskLacksALegalAction(Duel):
    def view(self, agent: str) -> DuelView:
        view = super().view(agent)
        return view._replace(legal=view.legal[:2])


@breaks("same_seed_gives_the_same_match")
class DrawsFromElsewhere(Duel):
    def reset(self, rng: np.random.Generator) -> None:
        super().reset(np.random.default_rng())


@breaks("seeds_are_not_ignored")
class SameMatchForAllSeeds(Duel):
    def reset(self, rng: np.random.Generator) -> None:
        rng.random()
        super().reset(np.random.default_rng(0))


@breaks("interleaved_matches_do_not_disturb_each_other")
class SharesStateBetweenInstances(Duel):
    table: ClassVar[dict[str, Any]] = {}

    def reset(self, rng: np.random.Generator) -> None:
        super().reset(rng)
        self.table["rounds"] = ()

    def apply(self, actions: tuple[int, ...]) -> None:
        self.rounds = self.table["rounds"]
        super().apply(actions)
        self.table["rounds"] = self.rounds
        self.to_move = self.agents if len(self.rounds) % ROUNDS else ()


@breaks("copied_games_are_independent")
class CopiesShareTheirDice(Duel):
    """It draws while it is played, from the generator of the environment."""

    def reset(self, rng: np.random.Generator) -> None:
        super().reset(rng)
        self.rng = rng

    def apply(self, actions: tuple[int, ...]) -> None:
        super().apply(actions)
        self.cards = tuple(int(card) for card in self.rng.integers(10, 20, size=2))


@breaks("copied_games_are_independent")
class CopiesShareTheirHistory(Duel):
    def reset(self, rng: np.random.Generator) -> None:
        super().reset(rng)
        self.history: list[Any] = []

    def apply(self, actions: tuple[int, ...]) -> None:
        super().apply(actions)
        self.history.append(actions)

    def view(self, agent: str) -> DuelView:
        return super().view(agent)._replace(rounds=tuple(self.history))


@breaks("views_never_change")
class ViewIsTheHistoryItself(Duel):
    def reset(self, rng: np.random.Generator) -> None:
        super().reset(rng)
        self.history: list[Any] = []

    def apply(self, actions: tuple[int, ...]) -> None:
        super().apply(actions)
        self.history.append(actions)

    def view(self, agent: str) -> Any:
        view: Any = super().view(agent)
        return view._replace(rounds=self.history)

    def __copy__(self) -> Duel:
        return copy.deepcopy(self)


# Pending moves.


@breaks("pending_moves_stay_hidden")
class PendingMoveShows(DuelEnv):
    def observe(self, agent: str) -> dict[str, Any]:
        observation = super().observe(agent)
        observation["text"] += f" {len(self._pending)} of you have chosen."
        return observation


@breaks("pending_moves_stay_hidden")
class PendingOffenceShows(DuelEnv):
    def step(self, action: Any) -> None:
        super().step(action)
        for agent in self._offences:
            if agent in self.infos:
                self.infos[agent]["illegal"] = 1


# Observations and bookkeeping.


@breaks("masks_of_waiting_agents_are_zero")
class FullMaskForEverybody(DuelEnv):
    def observe(self, agent: str) -> dict[str, Any]:
        observation = super().observe(agent)
        observation["action_mask"] = np.ones(3, dtype=np.int8)
        return observation


@breaks("spaces_are_the_same_objects_for_life")
class NewSpacesAtEveryCall(DuelEnv):
    def action_space(self, agent: str) -> spaces.Discrete:
        return spaces.Discrete(3)


@breaks("observations_have_the_agreed_keys")
class TextUnderObservation(DuelEnv):
    def observe(self, agent: str) -> dict[str, Any]:
        observation = super().observe(agent)
        return {"observation": observation["text"], "action_mask": observation["action_mask"]}

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return super().observation_space(agent)


@breaks("observations_have_the_agreed_keys")
class SaysNothingAtFirst(DuelCodec):
    def observation(self, view: DuelView) -> str:
        return super().observation(view) if view.rounds else ""


@breaks("observations_never_change", options={"obs_type": "vector"})
class WritesIntoTheSameArray(DuelEnv):
    def encode(self, view: DuelView) -> Any:
        self.__dict__.setdefault("planes", super().encode(view))[:] = super().encode(view)
        return self.__dict__["planes"]


@breaks("observations_are_in_their_spaces")
class OutOfItsSpace(DuelEnv):
    def observe(self, agent: str) -> dict[str, Any]:
        return {**super().observe(agent), "action_mask": np.zeros(4, dtype=np.int8)}


@breaks("infos_hold_numbers_only")
class TextInInfos(DuelEnv):
    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        super().reset(seed, options)
        infos: dict[str, Any] = self.infos["player_0"]
        infos["hint"] = "add 2"


@breaks("infos_hold_numbers_only")
class NumberThatIsNone(Duel):
    def statistics(self, agent: str) -> Mapping[str, float]:
        return {"share": float("nan")}


@breaks("infos_keep_their_keys")
class InfosGrow(DuelEnv):
    def _resolve(self, moves: tuple[Any, ...]) -> None:
        super()._resolve(moves)
        self.infos["player_1"]["rounds"] = len(self.game.rounds)


@breaks("rewards_reach_every_agent")
class LosesTheLastReward(DuelEnv):
    def _accumulate_rewards(self) -> None:
        if not self._over:
            super()._accumulate_rewards()


@breaks("all_agents_stay_until_the_end")
class LoserLeavesAtOnce(DuelEnv):
    def step(self, action: Any) -> None:
        self.agents = self.possible_agents[:] if len(self.terminations) == 2 else self.agents
        super().step(action)

    def _resolve(self, moves: tuple[Any, ...]) -> None:
        super()._resolve(moves)
        if self.rewards["player_1"] < 0:
            self.agents.remove("player_1")


@breaks("rules_texts_stay_the_same")
class RulesChange(DuelEnv):
    def observe(self, agent: str) -> dict[str, Any]:
        observation = super().observe(agent)
        observation["rules"] += f" Round {len(self.game.rounds)}."
        return observation


@breaks("agents_to_move_act_before_others")
class WrongTurn(DuelEnv):
    def view(self, agent: str) -> Any:
        return self.game.view(agent)


# Randomness and processes.


@breaks("hash_order_does_not_matter")
class SetInText(DuelCodec):
    def rules(self, agent: str) -> str:
        return f"Players: {', '.join({'ann', 'bea', 'cleo', 'dora', 'eve', 'fay', 'gwen'})}"


@breaks("global_generators_are_left_alone")
class DefaultActionIsDrawn(Duel):
    def default_action(self, agent: str) -> int:
        return random.randrange(3)


@breaks("global_generators_are_left_alone")
class UsesTheGlobalGenerator(DuelEnv):
    def step(self, action: Any) -> None:
        random.random()
        super().step(action)


@breaks("seeds_are_not_ignored")
class SeedsNothing(DuelEnv):
    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        super().reset(7 if seed is not None else None, options)


@breaks("deep_copies_play_on_identically")
class DeepCopyStartsAnew(DuelEnv):
    def __deepcopy__(self, memo: dict[int, Any]) -> "DeepCopyStartsAnew":
        copied = type(self)(obs_type=self.obs_type, render_mode=self.render_mode)
        copied.reset(seed=0)
        return copied


@breaks("pickled_copies_play_on_identically")
class PickleForgetsTheGenerator(DuelEnv):
    def __deepcopy__(self, memo: dict[int, Any]) -> "PickleForgetsTheGenerator":
        copied = object.__new__(type(self))
        copied.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return copied

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _np_random=np.random.default_rng(0))


# Pictures as SVG.


class Draws(Drawing[Any]):
    """Draws a square with something in it."""

    def __init__(self, env: Any) -> None:
        self.env = env

    def seat(self, view: Any) -> str:
        return self.square("...")

    def spectator(self, game: Any) -> str:
        return self.square("all")

    def square(self, inside: str, reply: str = "") -> str:
        svg = Svg(100, 100, "a duel")
        with svg.group(reply):
            svg.text(10, 50, inside)
        return str(svg)


def draws(rule: str, env: type[DuelEnv] = DuelEnv) -> Callable[[type[Draws]], type[Draws]]:
    """Notes a drawing as a mistake."""

    def note(planted: type[Draws]) -> type[Draws]:
        members = {"make_drawing": lambda self: planted(self)}
        drawn = type(f"{planted.__name__}Env", (env,), members)
        globals()[drawn.__name__] = drawn  # where copies through pickle find it
        breaks(rule)(drawn)
        return planted

    return note


@draws("drawings_are_plain_pictures")
class BreaksTheXml(Draws):
    def spectator(self, game: Any) -> str:
        return self.square("all").replace("</g>", "")


@draws("drawings_are_plain_pictures")
class RunsAScript(Draws):
    def seat(self, view: Any) -> str:
        return self.square("all").replace("</svg>", "<script>alert(1)</script></svg>")


@draws("drawings_are_plain_pictures")
class ListensToClicks(Draws):
    def seat(self, view: Any) -> str:
        return self.square("all").replace("<g>", '<g onclick="alert(1)">')


@draws("drawings_are_plain_pictures")
class FillsByReference(Draws):
    def seat(self, view: Any) -> str:
        return self.square("all").replace("<g>", '<g fill="url(#pattern)">')


@draws("drawings_are_plain_pictures")
class HasNoTitle(Draws):
    def seat(self, view: Any) -> str:
        return self.square("all").replace("<title>a duel</title>", "")


@draws("drawings_are_plain_pictures")
class DrawsSomethingElseEachTime(Draws):
    def spectator(self, game: Any) -> str:
        return self.square(f"{random.random()}")


@draws("drawings_are_plain_pictures")
class PlaysWhileItDraws(Draws):
    def spectator(self, game: Any) -> str:
        if game.to_move:
            game.apply((0, 0))
        return self.square("all")


@breaks("drawings_are_plain_pictures")
class RendersAnotherPicture(DuelEnv):
    def render(self) -> Any:
        return self.draw("player_0") if self.render_mode == "svg" else super().render()


@draws("drawings_of_a_seat_show_its_view_alone")
class ShowsTheOtherCard(Draws):
    def seat(self, view: Any) -> str:
        return self.square(f"{getattr(self.env.game, 'cards', '')}")


@breaks("drawings_of_a_seat_show_its_view_alone")
class DrawsEverythingForASeat(DuelEnv):
    def draw(self, agent: str | None = None) -> str:
        return super().draw(None if agent == "player_1" else agent)


@draws("replies_in_drawings_are_legal_moves")
class OffersAnIllegalMove(Draws):
    def seat(self, view: Any) -> str:
        return self.square("all", "3" if view.to_move else "")


@draws("replies_in_drawings_are_legal_moves")
class OffersAMoveOutOfTurn(Draws):
    def seat(self, view: Any) -> str:
        return self.square("all", "1")


@draws("replies_in_drawings_are_legal_moves")
class OffersAMoveToASpectator(Draws):
    def spectator(self, game: Any) -> str:
        return self.square("all", "1")


@draws("hostile_texts_stay_text_in_drawings", Chat)
class BelievesInGoodWords(Draws):
    def seat(self, view: Any) -> str:
        return self.square("said").replace("said", f"{view.rounds}")


@draws("hostile_texts_stay_text_in_drawings", Chat)
class RepeatsEveryWord(Draws):
    def spectator(self, game: Any) -> str:
        words = escape(printable(str(list(game.pool)).encode("ascii", "replace").decode()))
        return self.square("said").replace("said", words * 2)


# Actions and replies.


@breaks("junk_actions_forfeit")
class RaisesOnJunk(DuelEnv):
    def step(self, action: Any) -> None:
        super().step(action if self.terminations[self.agent_selection] else int(action))


@breaks("junk_actions_forfeit")
class PrintsOnJunk(DuelEnv):
    def step(self, action: Any) -> None:
        if action is None and not self.terminations[self.agent_selection]:
            print("illegal")
        super().step(action)


@breaks("junk_actions_forfeit")
class ForgivesJunk(DuelEnv):
    def step(self, action: Any) -> None:
        legal = isinstance(action, int | np.integer) and 0 <= action < 3
        super().step(action if legal or self.terminations[self.agent_selection] else 0)


@breaks("junk_actions_forfeit")
class RewardsTheOffender(Duel):
    def forfeit(self, offenders: tuple[str, ...]) -> tuple[float, ...]:
        return (1.0, 1.0)


@breaks("offenders_forfeit_together")
class KnowsOneOffenderOnly(Duel):
    def forfeit(self, offenders: tuple[str, ...]) -> tuple[float, ...]:
        (offender,) = offenders
        return tuple(-1.0 if agent == offender else 1.0 for agent in self.agents)


@breaks("offenders_forfeit_together")
class TellsOfOneOffenderOnly(DuelCodec):
    def ending(self, view: DuelView, ending: Any) -> str:
        return f"{super().ending(view, ending)} {ending.offenders[-1:] and ending.offenders[len(ending.offenders) // 2 * 2]}"


class Refuses(Duel):
    reason: Any = None

    def why_illegal(self, agent: str, action: int) -> Reason | None:
        return self.reason if super().why_illegal(agent, action) else None


@breaks("refused_actions_are_explained")
class ReasonHasNoText(Refuses):
    reason = Reason("unheard_of")


@breaks("refused_actions_are_explained")
class ReasonLacksAField(Refuses):
    reason = Reason("no_such_action")


@breaks("refused_actions_are_explained")
class ReasonIsAText(Refuses):
    reason = "there are three actions"


@breaks("numpy_integers_are_accepted")
class WantsPythonIntegers(DuelEnv):
    def step(self, action: Any) -> None:
        super().step(None if isinstance(action, np.integer) else action)


@breaks("junk_replies_raise_only_invalid_reply")
class ParseRaisesValueError(DuelCodec):
    def parse(self, reply: str, view: DuelView) -> int:
        return int(reply.strip())


@breaks("formatted_actions_are_read_back")
class FormatsWhatItCannotRead(DuelCodec):
    def format(self, action: int, view: DuelView) -> str:
        return str(2 - action)


@breaks("pictures_are_drawn")
class DrawsNothing(DuelCodec):
    def picture(self, game: Any) -> str:
        return ""


@breaks("stories_are_told_in_scenes")
class TellsOfAStranger(DuelEnv):
    def transcript(self) -> tuple[Scene, ...]:
        return (Scene("a move", speaker="player_7"),)


@breaks("metadata_is_complete", parallel_env_fn=parallel_form(DuelEnv.make))
class HasAParallelFormAllTheSame(DuelEnv):
    metadata: ClassVar[dict[str, Any]] = {**DuelEnv.metadata, "is_parallelizable": False}


@breaks("metadata_is_complete")
class NamelessVersion(DuelEnv):
    metadata: ClassVar[dict[str, Any]] = {**DuelEnv.metadata, "name": "duel"}


class ParallelFormGoesItsOwnWay:
    """Not the parallel form of the duel but of a duel that lacks a legal action."""

    def __new__(cls, **options: Any) -> Any:
        return parallel_form(env_of("MaskLacksALegalAction"))(**options)
