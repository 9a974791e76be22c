"""# No-limit Texas hold'em.

| | |
|---|---|
| Creation | `holdem_v0.env()` or `pettingzoo.make("aec", "llmarena/holdem-v0")` |
| Agents | `player_0`, `player_1`; up to `player_5` with `players=6` |
| Actions | `Discrete(5)` |
| Parallel API | no |
| Manual control | `llmarena play holdem_v0 --policy player_0=human --policy player_1=strength` |
| Action values | 0 Fold, 1 Check and Call, 2 Raise Half Pot, 3 Raise Full Pot, 4 All-In |
| Observation | `text`: two texts and a mask; `vector`: shape (111 + 7 * players,), values 0 to 1 |

A match is one hand (or several, `hands`) of no-limit Texas hold'em. Each player gets two hole cards; five community cards
follow in three deals, with a betting round before the flop, on the flop, on the turn and on the river. The best five of seven
cards win the pot, equal hands split it. A player who is all-in competes for the amount of its own stake from each opponent;
the rest is a side pot of the others, or is returned if uncalled. When no further bet is possible, the board is dealt out.

`rules="standard"`: with two players the button posts the small blind, acts first before the flop and last after it. With
more, the two players after the button post the blinds, the next one acts first, and later streets begin after the button. A
raise calls and then adds half of the pot as it is after the call (rounded down), or all of it. It must be at least the big
blind and at least the largest raise of the street; a raise of the whole stack is not offered separately, it is
All-In. An all-in can be smaller; then players who have acted cannot raise again unless the bet went up by a full raise since.
Fold is legal only when there is something to call. A player with less than the blind posts all of its chips; the others still
call the whole blind.

`rules="rlcard"`, for two players, follows PettingZoo's `texas_holdem_no_limit`: the button posts the big blind, the small blind
acts first on every street, a raise puts in half of the pot (rounded down) or all of it, the call included. Fold is always
legal; a raise is offered if the chips suffice and a call would not take them all, half the pot only if it is more than a call.

With several hands, the button moves to the next player with chips after each one, and players keep their chips; a player
without chips is out. The match ends when one player has all chips or after `hands` hands. A chip that cannot be split goes to
the first winner clockwise from the button.

With `decision` the match is one decision of `player_0` on the flop. The play before it is fixed and independent of the cards:
the small blind calls, the big blind checks, and on the flop `player_1` checks (`open`) or bets half the pot (`facing_bet`). If
`player_0` is first to act on the flop, it decides at once, or checks and decides after the bet. The match ends with the
decision: no more cards are dealt, and all stakes are returned.

Source: LLMArena (arXiv 2402.16499), section 2.4 and appendix A.3, which leaves blinds and raises open; Figure 4 for
`decision`. treys ranks the hands.

### Arguments

* `rules="standard"`: `standard` or `rlcard`.
* `button="random"`: seat of the dealer button in the first hand, or `random`.
* `stack=100`: starting chips of each player.
* `small_blind=1`, `big_blind=2`: the blinds; the stack must be larger.
* `players=2`: number of players, 2 to 6.
* `hands=1`: maximum number of hands.
* `deck_seed=None`: seed of the deals; they are then the same in every match.
* `deck=None`: the cards of a match of one hand in dealing order, as a text or a list of names such as `Ah` and `Td`: two for
  each player from `player_0` on, then the five of the board.
* `decision=None`: `open` or `facing_bet` for one decision on the flop instead of a match (below); with two players and one
  hand.
* `reward="chips"`: `chips` or `win`.
* `hint=True`: list the legal actions with their cost in the text.
* `cot=True`: invite the player to reason before the answer.
* `language="en"`: language of the texts, `en` or `zh`.
* `obs_type="text"`: `text` or `vector`.
* `render_mode=None`: `ansi`, `human`, `svg` or `rgb_array`; shows all cards.

### Observation Space

With `obs_type="text"`: `rules` (the same at every turn), `text` and `action_mask`. The text holds the results of earlier
hands, the own cards and position, the betting of the hand and the deals in order, then the street, the community cards, pot,
chips left and put in, and the legal actions. A finished hand includes the hole cards of a showdown; folded
cards stay secret.

With `obs_type="vector"`: `observation`, a `float32` array, and `action_mask`. With n players, seats counted clockwise from the
own one and chips as a share of all chips in play, the array holds:

| index | content |
|---|---|
| 0 to 51 | own cards, `4 * rank + suit` with ranks 2 to A and suits c, d, h, s |
| 52 to 103 | community cards |
| 104 to 107 | street |
| 108, 109, 110 | pot, chips to call, number of the hand divided by `hands` |
| next n | place after the button: 1 at the first of them for the button itself |
| next n | chips left of each seat |
| next n | whether each seat is in the hand |
| next 4 n | chips that each seat has put in before the flop, on the flop, the turn and the river |

#### Legal Actions Mask

`action_mask` is an `int8` array of shape (5,): 1 for a legal action, all zeros out of turn.

### Action Space

A reply states an action as `Action: <name>`; the last such line counts, case does not matter, `&` stands for `and`. Check,
Call, Raise Half and Raise Pot are understood; Check alone is illegal if there is a bet to match. JSON with `action` and the
contents of `<answer>` or a LaTeX box count like such a line; without these a line with only a name counts.
Amounts cannot be chosen. All-In is read as a call if a call takes all chips or all opponents are all-in.

### Rewards

At the end of the match, the net chips of each player, or their sign with `reward="win"`; with `decision` 0. An illegal action
ends the match: the offender loses its stake of the hand, at least one chip, and enough to end with less than its starting
stack and with no more than any other player. The others get their stakes back, unless they have folded; players still in the
hand share the rest equally.

`infos` hold `chips`, the chips left, and `hands`, the number of finished hands (none with `decision`).

### Episode End

After `hands` hands, when one player has all chips, or by an illegal action. One hand of two players with the default stack and
blinds takes at most 14 turns, 18 under RLCard's rules; `betting.longest_hand` gives the bound for all options. With `decision`
there is one turn.

### Version History

* v0: Initial version
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, ClassVar, Literal

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from llmarena_envs.core.declaration import Declaration
from llmarena_envs.core.options import check_bool
from llmarena_envs.core.order import order_checked
from llmarena_envs.core.text_env import Language, ObsType, RenderMode, TextEnv
from llmarena_envs.holdem.decision import FlopDecision
from llmarena_envs.holdem.drawing import HoldemDrawing
from llmarena_envs.holdem.game import Holdem, HoldemView, Table
from llmarena_envs.holdem.text import HoldemCodec

_CARDS = 52
_STREETS = 4


class raw_env(TextEnv):
    """No-limit Texas hold'em as an AEC environment; arguments as in the module's documentation."""

    metadata: ClassVar[dict[str, Any]] = {
        "name": "holdem_v0",
        "render_modes": ["ansi", "human", "svg", "rgb_array"],
        "render_fps": 1,
        "is_parallelizable": False,
    }
    declaration: ClassVar[Declaration] = Declaration(
        abilities=("numerical reasoning", "opponent modelling", "risk assessment"),
        illegal="random_legal",
    )
    game: Holdem
    codec: HoldemCodec

    def __init__(
        self,
        *,
        rules: Literal["standard", "rlcard"] = "standard",
        button: int | Literal["random"] = "random",
        stack: int = 100,
        small_blind: int = 1,
        big_blind: int = 2,
        players: int = 2,
        hands: int = 1,
        deck_seed: int | None = None,
        deck: str | Sequence[str] | None = None,
        decision: str | None = None,
        reward: Literal["chips", "win"] = "chips",
        hint: bool = True,
        cot: bool = True,
        language: Language = "en",
        obs_type: ObsType = "text",
        render_mode: RenderMode | None = None,
    ) -> None:
        check_bool("hint", hint)
        check_bool("cot", cot)
        options: dict[str, Any] = {
            "rules": rules,
            "button": button,
            "stack": stack,
            "small_blind": small_blind,
            "big_blind": big_blind,
            "players": players,
            "hands": hands,
            "deck_seed": deck_seed,
            "deck": deck,
            "reward": reward,
        }
        game = Holdem(**options) if decision is None else FlopDecision(decision, **options)
        super().__init__(game, HoldemCodec(game, language, hint, cot), obs_type=obs_type, render_mode=render_mode)

    def make_drawing(self) -> HoldemDrawing:
        """Returns the drawing of the table."""
        return HoldemDrawing(self.codec, self.game)

    def vector_space(self) -> spaces.Box:
        """Returns the space of the array described in the module's documentation."""
        return spaces.Box(0, 1, (2 * _CARDS + _STREETS + 3 + 7 * len(self.game.agents),), np.float32)

    def encode(self, view: HoldemView) -> NDArray[np.float32]:
        """Returns the array described in the module's documentation."""
        vector = _betting_vector(view.table, view.seat, view.to_call, self.game.stack, self.game.hands).copy()
        for card in view.hole:
            vector[card] = 1
        for card in view.board:
            vector[_CARDS + card] = 1
        return vector


@lru_cache(maxsize=1024)
def _betting_vector(table: Table, seat: int, to_call: int, stack: int, hands: int) -> NDArray[np.float32]:
    """Returns the array without the cards; cached, because betting repeats with other cards."""
    players = len(table.stacks)
    clockwise = [(seat + step) % players for step in range(players)]
    streets = [0] * _STREETS
    streets[table.street] = 1
    place = [0] * players
    place[(seat - table.button) % players] = 1
    put_in = [[0] * players for _ in range(_STREETS)]
    for event in table.history:
        put_in[event.street][(event.seat - seat) % players] += event.chips
    scale = 1 / (players * stack)
    numbers = [
        *[0] * (2 * _CARDS),
        *streets,
        table.pot * scale,
        to_call * scale,
        table.hand / hands,
        *place,
        *(table.stacks[other] * scale for other in clockwise),
        *(table.live[other] for other in clockwise),
        *(chips * scale for street_chips in put_in for chips in street_chips),
    ]
    return np.array(numbers, dtype=np.float32)


env = order_checked(raw_env)
