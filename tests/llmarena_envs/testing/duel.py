"""# Duel: a small correct game with chance, secrets and simultaneous stages.

### Arguments

* `points=1`: what a round is worth.
* `language="en"`: language of the texts, `en` or `zh`.
* `obs_type="text"`, `render_mode=None`: as everywhere.

### Rewards

Of other sections nothing is read, `not_an_argument=0` for one.
"""

import copy
from typing import Any, ClassVar, NamedTuple

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from llmarena_envs.core.codec import Codec
from llmarena_envs.core.declaration import Channel, Declaration
from llmarena_envs.core.ending import Ending
from llmarena_envs.core.failures import Failure, ParseError, Reason
from llmarena_envs.core.game import Game
from llmarena_envs.core.messages import MessagePool
from llmarena_envs.core.order import OrderWrapper
from llmarena_envs.core.parallel import parallel_form
from llmarena_envs.core.text_env import MAX_ACTION_TEXT, TextEnv

ROUNDS = 3


class DuelView(NamedTuple):
    agent: str
    to_move: bool
    legal: tuple[int, ...]
    card: int
    rounds: tuple[tuple[int, int], ...]


class Duel(Game[int, Any]):
    """Each player holds a secret card; in each round both add 0, 1 or 2 at once, and the higher sum wins a point."""

    agents = ("player_0", "player_1")
    num_actions = 3
    max_turns = 2 * ROUNDS

    def __init__(self, points: int = 1) -> None:
        self.points = points

    def reset(self, rng: np.random.Generator) -> None:
        self.cards = tuple(int(card) for card in rng.integers(10, 20, size=2))
        self.rounds: tuple[tuple[int, int], ...] = ()
        self.to_move: tuple[str, ...] = self.agents
        self.rewards = (0.0, 0.0)

    def view(self, agent: str) -> DuelView:
        to_move = agent in self.to_move
        seat = self.agents.index(agent)
        rounds = tuple((pair[seat], pair[1 - seat]) for pair in self.rounds)
        return DuelView(agent, to_move, (0, 1, 2) if to_move else (), self.cards[seat], rounds)

    def why_illegal(self, agent: str, action: int) -> Reason | None:
        return None if 0 <= action <= 2 else Reason("no_such_action", {"last": 2})

    def apply(self, actions: tuple[int, ...]) -> None:
        first, second = (card + action for card, action in zip(self.cards, actions, strict=True))
        self.rounds += ((actions[0], actions[1]),)
        won = float(self.points * ((first > second) - (first < second)))
        self.rewards = (won, -won)
        self.to_move = self.agents if len(self.rounds) < ROUNDS else ()

    def resample(self, agent: str, rng: np.random.Generator) -> None:
        other, card = 1 - self.agents.index(agent), int(rng.integers(10, 20))
        self.cards = (self.cards[0], card) if other else (card, self.cards[1])


def totals(game: Duel) -> dict[str, float]:
    """Counts the points by the cards and the bonus on them."""
    first, second = game.cards
    signs = [np.sign(first + a - second - b) for a, b in game.rounds]
    return {"player_0": float(sum(signs)), "player_1": -float(sum(signs))}


TEXTS = {
    "en": ("Your card: {}, of 10 to 19.", "You added {}, the other {}.", "Add 0, 1 or 2.", "Wait."),
    "zh": ("你的牌：{}（10 到 19）。", "你加了 {}，对方加了 {}。", "请加 0、1 或 2。", "请等待。"),
}


class DuelCodec(Codec[int, Any]):
    def __init__(self, language: str = "en") -> None:
        self.language = language
        self.card, self.round, self.add, self.wait = TEXTS[language]

    def rules(self, agent: str) -> str:
        return "Both add 0, 1 or 2 to a secret card."

    def observation(self, view: DuelView) -> str:
        return "\n".join([self.card.format(view.card), *self.told(view), self.instruction(view)])

    def update(self, view: Any, since: Any) -> str:
        return "\n".join([*self.told(view)[len(since.rounds) :], self.instruction(view)])

    def told(self, view: DuelView) -> list[str]:
        return [self.round.format(*pair) for pair in view.rounds]

    def instruction(self, view: DuelView) -> str:
        return self.add if view.to_move else self.wait

    def ending(self, view: DuelView, ending: Ending) -> str:
        return f"{self.observation(view)} {ending.reward} {ending.offenders}"

    def read(self, reply: str, view: DuelView) -> int:
        if reply.strip() not in ("0", "1", "2"):
            raise ParseError(Failure.UNPARSABLE, "nothing_stated")
        return int(reply)

    def format(self, action: int, view: DuelView) -> str:
        return str(action)

    def picture(self, game: Any) -> str:
        return f"{game.cards} {game.rounds}"


class DuelEnv(TextEnv):
    metadata: ClassVar[dict[str, Any]] = {
        "name": "duel_v0",
        "render_modes": ["ansi", "human", "svg"],
        "render_fps": 1,
        "is_parallelizable": True,
    }
    game_type: ClassVar[type[Duel]] = Duel
    codec_type: ClassVar[type[DuelCodec]] = DuelCodec
    game: Duel

    def __init__(
        self, points: int = 1, language: str = "en", obs_type: str = "text", render_mode: str | None = None
    ) -> None:
        super().__init__(self.game_type(points), self.codec_type(language), obs_type=obs_type, render_mode=render_mode)

    def vector_space(self) -> spaces.Box:
        return spaces.Box(-1, 20, (1 + 2 * ROUNDS,), np.int8)

    def encode(self, view: DuelView) -> NDArray[np.int8]:
        numbers = [view.card, *(number for pair in view.rounds for number in pair)]
        return np.array(numbers + [-1] * (1 + 2 * ROUNDS - len(numbers)), dtype=np.int8)

    @classmethod
    def make(cls, **options: Any) -> Any:
        return OrderWrapper(cls(**options))


def duel(**options: Any) -> Any:
    return DuelEnv.make(**options)


parallel_duel = parallel_form(duel)


class OneActionGame(Duel):
    """Chance alone decides, as there is but one action."""

    num_actions = 1

    def view(self, agent: str) -> DuelView:
        view = super().view(agent)
        return view._replace(legal=view.legal[:1])

    def why_illegal(self, agent: str, action: int) -> Reason | None:
        return None if action == 0 else Reason("no_such_action", {"last": 0})


class OneActionCodec(DuelCodec):
    def read(self, reply: str, view: DuelView) -> int:
        if reply.strip() != "0":
            raise ParseError(Failure.UNPARSABLE, "nothing_stated")
        return 0


class OneAction(DuelEnv):
    game_type = OneActionGame
    codec_type = OneActionCodec


class OneLegalActionGame(OneActionGame):
    """There are three actions, only one of them legal at a time."""

    num_actions = 3

    def view(self, agent: str) -> DuelView:
        view = Duel.view(self, agent)
        return view._replace(legal=view.legal[len(self.rounds) :][:1])

    def why_illegal(self, agent: str, action: int) -> Reason | None:
        return None if action == len(self.rounds) else Reason("no_such_action", {"last": 2})


class OneLegalAction(DuelEnv):
    game_type = OneLegalActionGame


class RareChanceGame(Duel):
    """One deal in 25 is another one."""

    def reset(self, rng: np.random.Generator) -> None:
        super().reset(rng)
        self.cards = (15, self.draw(rng))

    def draw(self, rng: np.random.Generator) -> int:
        return 15 if rng.random() < 0.96 else 19

    def resample(self, agent: str, rng: np.random.Generator) -> None:
        self.cards = (15, self.draw(rng) if agent == "player_0" else self.cards[1])


class RareChance(DuelEnv):
    game_type = RareChanceGame


class UnseenChanceGame(Duel):
    """There is a deck that no agent ever sees."""

    def reset(self, rng: np.random.Generator) -> None:
        super().reset(rng)
        self.cards = (15, 15)
        self.resample("", rng)

    def resample(self, agent: str, rng: np.random.Generator) -> None:
        self.deck = tuple(rng.permutation(5).tolist())


class UnseenChance(DuelEnv):
    game_type = UnseenChanceGame


class DiceGame(Duel):
    """It draws while it is played, and says how it is copied."""

    def reset(self, rng: np.random.Generator) -> None:
        super().reset(rng)
        self.rng = rng

    def apply(self, actions: tuple[int, ...]) -> None:
        super().apply(actions)
        self.rewards = (float(self.rng.integers(3)), 0.0)

    def resample(self, agent: str, rng: np.random.Generator) -> None:
        super().resample(agent, rng)
        self.rng = np.random.default_rng(rng.integers(2**62))

    def __copy__(self) -> "DiceGame":
        copied = object.__new__(type(self))
        copied.__dict__.update(self.__dict__, rng=copy.deepcopy(self.rng))
        return copied


class RollsDice(DuelEnv):
    game_type = DiceGame


class UnpaidGame(Duel):
    """Nothing is won or lost, not even by an illegal action."""

    def apply(self, actions: tuple[int, ...]) -> None:
        super().apply(actions)
        self.rewards = (0.0, 0.0)

    def forfeit(self, offenders: tuple[str, ...]) -> tuple[float, ...]:
        return (0.0, 0.0)


class Unpaid(DuelEnv):
    game_type = UnpaidGame


class OpenDuelView(NamedTuple):
    agent: str
    to_move: bool
    legal: tuple[int, ...]
    card: int
    other: int
    rounds: tuple[tuple[int, int], ...]


class OpenGame(Duel):
    """Both cards lie open."""

    perfect_information = True

    def view(self, agent: str) -> Any:
        view = super().view(agent)
        return OpenDuelView(*view[:4], self.cards[1 - self.agents.index(agent)], view.rounds)

    def resample(self, agent: str, rng: np.random.Generator) -> None:
        Game.resample(self, agent, rng)


class OpenCodec(DuelCodec):
    def told(self, view: Any) -> list[str]:
        return [f"The other card: {view.other}.", *super().told(view)]

    def update(self, view: Any, since: Any) -> str:
        return self.observation(view)


class OpenDuel(DuelEnv):
    game_type = OpenGame
    codec_type = OpenCodec


CHAT = {"words": Channel("player", ("player",))}


class ChatView(NamedTuple):
    agent: str
    to_move: bool
    legal: tuple[str, ...]
    rounds: tuple[tuple[str, str], ...]


class ChatGame(Game[str, Any]):
    """In each round both say something at once; nothing can be won."""

    agents = ("player_0", "player_1")
    max_turns = 2 * ROUNDS
    perfect_information = True

    def reset(self, rng: np.random.Generator) -> None:
        self.pool: MessagePool[tuple[str, str]] = MessagePool(CHAT, self.agents)
        self.to_move: tuple[str, ...] = self.agents
        self.rewards = (0.0, 0.0)

    def view(self, agent: str) -> ChatView:
        said = self.pool.visible_to(agent)
        own, other = ([text for speaker, text in said if (speaker == agent) == is_own] for is_own in (True, False))
        rounds = tuple(zip(own, other, strict=True))
        return ChatView(agent, agent in self.to_move, (), rounds)

    def random_action(self, agent: str, rng: np.random.Generator) -> str:
        return f"word {rng.integers(100)}"

    def why_illegal(self, agent: str, action: str) -> Reason | None:
        return None

    def apply(self, actions: tuple[str, ...]) -> None:
        for agent, text in zip(self.agents, actions, strict=True):
            self.pool = self.pool.with_message("words", agent, (agent, text))
        self.to_move = self.agents if len(self.pool) < 2 * ROUNDS else ()


class ChatCodec(Codec[str, Any]):
    def rules(self, agent: str) -> str:
        return "Both say something."

    def observation(self, view: ChatView) -> str:
        said = [f"You said {own!r}, the other {other!r}." for own, other in view.rounds]
        return "\n".join([*said, "Say something." if view.to_move else "Wait."])

    def ending(self, view: ChatView, ending: Ending) -> str:
        return f"{self.observation(view)} {ending.reward} {ending.offenders}"

    def read(self, reply: str, view: ChatView) -> str:
        if len(reply) > MAX_ACTION_TEXT:
            raise ParseError(Failure.UNPARSABLE, "no_text", limit=MAX_ACTION_TEXT)
        return reply

    def format(self, action: str, view: ChatView) -> str:
        return action

    def picture(self, game: Any) -> str:
        return f"{list(game.pool)}"


class Chat(DuelEnv):
    declaration = Declaration(channels=CHAT)
    obs_types: ClassVar[tuple[str, ...]] = ("text",)

    def __init__(
        self, points: int = 1, language: str = "en", obs_type: str = "text", render_mode: str | None = None
    ) -> None:
        TextEnv.__init__(self, ChatGame(), ChatCodec(), obs_type=obs_type, render_mode=render_mode)
