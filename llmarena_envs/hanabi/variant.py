"""Variants of Hanabi: numbers of players, cards and tokens."""

from dataclasses import dataclass
from functools import cached_property

from llmarena_envs.core.options import OptionError, check_choice, check_int
from llmarena_envs.hanabi.actions import Action, all_actions
from llmarena_envs.hanabi.cards import COLORS, full_deck


@dataclass(frozen=True)
class Variant:
    """One variant; the defaults are the small game of LLMArena.

    Attributes:
        players: number of players, 2 to 5.
        colors: number of colours, 1 to 5.
        ranks: number of ranks, 1 to 5.
        hand_size: cards a player holds, 1 to 5.
        info_tokens: initial and maximum number of information tokens, 1 to 8.
        life_tokens: life tokens at the start, 1 to 3.
        bomb_score: score after the last life is lost: ``"zero"``, or ``"keep"`` for the points.

    Raises:
        OptionError: if a value is out of range, or there are not enough cards for the hands.
    """

    players: int = 2
    colors: int = 2
    ranks: int = 5
    hand_size: int = 2
    info_tokens: int = 3
    life_tokens: int = 1
    bomb_score: str = "zero"

    def __post_init__(self) -> None:
        check_int("players", self.players, 2, 5)
        check_int("colors", self.colors, 1, len(COLORS))
        check_int("ranks", self.ranks, 1, 5)
        check_int("hand_size", self.hand_size, 1, 5)
        check_int("info_tokens", self.info_tokens, 1, 8)
        check_int("life_tokens", self.life_tokens, 1, 3)
        check_choice("bomb_score", self.bomb_score, ("zero", "keep"))
        if self.stock < 0:
            raise OptionError(
                f"hand_size: expected at most {self.deck_size // self.players}, as {self.players} players share "
                f"{self.deck_size} cards, got {self.hand_size}"
            )

    @property
    def agents(self) -> tuple[str, ...]:
        """The players in the order of play."""
        return tuple(f"player_{seat}" for seat in range(self.players))

    @property
    def deck_size(self) -> int:
        """Number of cards before the deal."""
        return len(full_deck(self.colors, self.ranks))

    @property
    def stock(self) -> int:
        """Number of cards left in the deck after the deal."""
        return self.deck_size - self.players * self.hand_size

    @property
    def top_score(self) -> int:
        """The maximum score."""
        return self.colors * self.ranks

    @cached_property
    def actions(self) -> tuple[Action, ...]:
        """All actions, by number."""
        return all_actions(self.players, self.colors, self.ranks, self.hand_size)

    @property
    def max_turns(self) -> int:
        """The maximum number of turns of a match.

        Every play or discard draws a card, so there are ``stock`` of them until the deck is empty. Each restores at most one
        token, and the last one can only be spent in the last round: until the deck is empty there are at most ``info_tokens +
        stock - 1`` hints. Then each player has one more turn.
        """
        return self.players + (2 * self.stock + self.info_tokens - 1 if self.stock else 0)
