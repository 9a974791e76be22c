"""# Hanabi.

| | |
|---|---|
| Creation | `hanabi_v0.env()` or `pettingzoo.make("aec", "llmarena/hanabi-v0")` |
| Agents | `player_0`, `player_1`; up to `player_4` with `players=5` |
| Actions | `Discrete(11)` |
| Parallel API | no |
| Manual control | `llmarena play hanabi_v0 --policy player_0=human --policy player_1=convention` |
| Action values | 0 and 1 discard, 2 and 3 play, 4 and 5 reveal a colour, 6 to 10 reveal a rank |
| Observation | `text`: two texts and a mask; `vector`: shape (134,), values 0 and 1 |

All players cooperate to build one firework for each colour, from rank 1 upwards. They see all cards except
their own; hints are the only information about these. The default is the small game: two players, the colours red and
yellow, ranks 1 to 5 (three cards of rank 1, two each of ranks 2 to 4, one of rank 5), two cards in a hand, three information
tokens and one life.

A turn is one of these. *Play* a card: the next card of its firework scores a point, and completing a firework returns an
information token if one is missing; any other card is lost and costs a life. *Discard* a card to regain an
information token; this is illegal while all tokens are available. *Reveal* a colour or a rank to another player: this marks all
of that player's cards with it, at least one, and costs an information token. After a play or discard the player draws a card.

Source: LLMArena (arXiv 2402.16499), section 2.4 and appendix A.7. The paper has three lives in one place and one in
another, and the score as a sum of card values or of greatest values; its published averages fit one life, the greatest
values, and no points after a lost life.

### Arguments

* `players=2`: number of players, 2 to 5.
* `colors=2`: number of colours, 1 to 5: Red, Yellow, Green, White, Blue.
* `ranks=5`: number of ranks, 1 to 5.
* `hand_size=2`: cards a player holds, 1 to 5.
* `info_tokens=3`: information tokens at the start, also the maximum; 1 to 8.
* `life_tokens=1`: lives, 1 to 3.
* `bomb_score="zero"`: whether losing the last life sets the score to `zero` or players `keep` their points.
* `hint=True`: list the legal actions in the text.
* `cot=True`: ask players to explain before they act.
* `deck_seed=None`: seed of the deck, which is then the same in every match.
* `deck=None`: the order of the deck as a text of card codes, `"R1 Y3 R4 ..."`, to play a recorded game again. The first
  `hand_size` cards are the hand of `player_0`, the next ones the hand of `player_1`, and so on; then follow the cards in
  drawing order.
* `language="en"`: language of the texts, `en` or `zh`; actions and cards have English names in both.
* `obs_type="text"`: `text` or `vector`.
* `render_mode=None`: `ansi`, `human`, `svg` or `rgb_array`.

The full game is `env(colors=5, hand_size=5, info_tokens=8, life_tokens=3)`, with `hand_size=4` for four and five players.

### Observation Space

With `obs_type="text"`: `rules` (the same at every turn), `text` (all actions so far, fireworks, tokens, size of the deck,
discarded cards, the others' cards with their hints, the hints about the own cards, last action,
last card, legal actions, instruction) and `action_mask`. Hints are never forgotten: the colours and ranks that
a hint named or ruled out stay with the card until it leaves the hand.

With `obs_type="vector"`: `observation`, an `int8` vector of zeros and ones that holds the same except for the earlier
history, part by part as described in `vector.VectorEncoder`, and `action_mask`.

#### Legal Actions Mask

`action_mask` is an `int8` array of shape (11,): 1 for a legal action, all zeros out of turn.

### Action Space

With hands of H cards, C colours and R ranks, and the players counted from the next one on: discard position 0 to H - 1; play
position 0 to H - 1; reveal colour 0 to C - 1 to the next player, then to the one after, and so on; reveal rank 1 to R
likewise. That is `2 * H + (players - 1) * (C + R)` actions, numbered as in OpenSpiel's hanabi. Position 0 is the oldest card;
the cards after one that leaves move up, and the new card comes last.

A reply states its action on a line such as `Action: Play card 1`, `Action: Discard card 2`, `Action: Reveal Red` or `Action:
Reveal rank 3`; with more than two players a hint names its receiver, `Action: Reveal Red to player_2`. Positions are counted
from 1 in texts. JSON (`{"action": "Play card 1"}`) and the contents of `<answer>` or a LaTeX box count like such a line;
without these an action alone on a line counts; the last statement of the highest rank is read.

### Rewards

Every point is a reward of 1 for all players when it is scored, so the rewards of a match sum to the score: at most 10 in the
small game. When the last life is lost and `bomb_score="zero"`, a negative reward takes all points back.

An illegal action ends the match: the offender receives -1, the others 0, and with `bomb_score="zero"` all points are taken
back as if a life had been lost; otherwise an illegal action could save the points that a misplay loses.

`infos` count each player's `plays`, `discards` and `reveals`; `score` is the score of the match, without the -1 of an
offender.

### Episode End

When all fireworks are complete, when the last life is lost, when every player has had one more turn after the last card was
drawn, or by an illegal action. With N cards left in the deck after the deal this takes at most
`2 * N + info_tokens - 1 + players` turns, 36 in the small game.

### Version History

* v0: Initial version
"""

from typing import Any, ClassVar, Literal

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from llmarena_envs.core.declaration import Declaration
from llmarena_envs.core.options import check_bool
from llmarena_envs.core.order import order_checked
from llmarena_envs.core.text_env import Language, ObsType, RenderMode, TextEnv
from llmarena_envs.hanabi.drawing import HanabiDrawing
from llmarena_envs.hanabi.game import Hanabi, HanabiView
from llmarena_envs.hanabi.text import HanabiCodec
from llmarena_envs.hanabi.variant import Variant
from llmarena_envs.hanabi.vector import VectorEncoder


class raw_env(TextEnv):
    """Hanabi as an AEC environment; arguments as in the module's documentation."""

    metadata: ClassVar[dict[str, Any]] = {
        "name": "hanabi_v0",
        "render_modes": ["ansi", "human", "svg", "rgb_array"],
        "render_fps": 1,
        "is_parallelizable": False,
    }
    declaration: ClassVar[Declaration] = Declaration(
        scheme="cooperation",
        abilities=("team collaboration", "strategic planning", "numerical reasoning"),
        illegal="random_legal",
    )
    codec: HanabiCodec

    def __init__(
        self,
        *,
        players: int = 2,
        colors: int = 2,
        ranks: int = 5,
        hand_size: int = 2,
        info_tokens: int = 3,
        life_tokens: int = 1,
        bomb_score: Literal["zero", "keep"] = "zero",
        hint: bool = True,
        cot: bool = True,
        deck_seed: int | None = None,
        deck: str | None = None,
        language: Language = "en",
        obs_type: ObsType = "text",
        render_mode: RenderMode | None = None,
    ) -> None:
        check_bool("hint", hint)
        check_bool("cot", cot)
        variant = Variant(players, colors, ranks, hand_size, info_tokens, life_tokens, bomb_score)
        self._maximum = float(colors * ranks)
        self._encoder = VectorEncoder(variant)
        game, codec = Hanabi(variant, deck_seed, deck), HanabiCodec(variant, language, hint, cot)
        super().__init__(game, codec, obs_type=obs_type, render_mode=render_mode)

    def make_drawing(self) -> HanabiDrawing:
        """Returns the drawing of the table."""
        return HanabiDrawing(self.codec)

    def references(self) -> dict[str, float]:
        """Returns the maximum score."""
        return {"maximum": self._maximum}

    def vector_space(self) -> spaces.Box:
        """Returns the space of the vectors of zeros and ones."""
        return spaces.Box(0, 1, (self._encoder.size,), np.int8)

    def encode(self, view: HanabiView) -> NDArray[np.int8]:
        """Returns the vector of a view."""
        return self._encoder.encode(view)


env = order_checked(raw_env)
