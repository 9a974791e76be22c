"""# Connect four.

| | |
|---|---|
| Creation | `connect_four_v0.env()` or `pettingzoo.make("aec", "llmarena/connect_four-v0")` |
| Agents | `player_0` (X), `player_1` (O) |
| Actions | `Discrete(7)` |
| Parallel API | no |
| Manual control | `llmarena play connect_four_v0 --policy player_0=human --policy player_1=minimax` |
| Action values | 0 to 6, columns from left to right |
| Observation | `text`: two texts and a mask; `vector`: shape (6, 7, 2), values 0 and 1 |

The players alternately drop discs into seven columns of six cells; X begins, a disc falls to the lowest free cell. Four own
discs in a horizontal, vertical or diagonal line win; a full board without such a line is a draw.

Source: LLMArena (arXiv 2402.16499), section 2.4 and appendix A.2.

### Arguments

* `hint=True`: list the columns that are not full in the text.
* `random_opening=0`: number of random legal plies, 0 to 6, drawn from the seed before play; without any, two deterministic
  players repeat one game for ever.
* `reward_mode=None`: `between_turns`, `own_move` or `cumulative_value` report the strategic reward in `infos` (below).
* `count="windows"`: rows counted by the strategic reward: `windows` (a row of four is also two threes and three twos) or
  `maximal` (every row once, at its full length; longer than four counts as four).
* `language="en"`: language of the texts, `en` or `zh`.
* `obs_type="text"`: `text` or `vector`.
* `render_mode=None`: `ansi`, `human`, `svg` or `rgb_array`.

### Observation Space

With `obs_type="text"`: `rules` (the same at every turn), `text` (own mark, moves so far, board, columns that are not full,
instruction) and `action_mask`. With `obs_type="vector"`: `observation`, an `int8` array of shape (6, 7, 2) whose planes hold
the own and the opponent's discs, and `action_mask`.

#### Legal Actions Mask

`action_mask` is an `int8` array of shape (7,): 1 for a column that is not full, all zeros out of turn.

### Action Space

The column, counted from 0. A reply states it counted from 1, as `X: 1`, or without the mark alone on a line; the other mark is
illegal. A labelled line, an object such as `{"column": 1}` or the contents of `<answer>` or a LaTeX box outrank a bare line,
and a bare line a label inside a line; the last statement of the highest rank counts, columns in running text are none.

### Rewards

Winner +1, loser -1, draw 0. An illegal action ends the match: the offender receives -1, the opponent +1.

### Infos

With a `reward_mode`, `strategic_reward`: the sum of the gains of the own moves (LLMArena, Figure 2). It is no part of the
rewards. A position is worth V = 10 (own fours - opponent's fours) + 5 (own threes - opponent's) + 2 (own twos - opponent's),
counted in all directions, empty neighbours or not. A move gains

* `between_turns`: V after it less V after the own previous move, including the effect of the opponent's reply; the first move
  is compared with the starting position. The opponent's last move is not included if no own move follows.
* `own_move`: V after it less V right before it. That is never negative: with `windows` a disc neither takes own rows away nor
  adds to the opponent's, with `maximal` only joining a row of four to another would cost, and four end the match.
* `cumulative_value`: V after it.

### Episode End

By a line of four, by a full board, or by an illegal action; after at most 42 turns.

### Version History

* v0: Initial version
"""

from typing import Any, ClassVar, Literal

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from llmarena_envs.connect_four.drawing import ConnectFourDrawing
from llmarena_envs.connect_four.game import COLUMNS, ROWS, ConnectFour
from llmarena_envs.connect_four.scored_game import ScoredConnectFour
from llmarena_envs.connect_four.strategy import COUNTS
from llmarena_envs.connect_four.text import ConnectFourCodec
from llmarena_envs.core.board import EMPTY, MARKS, BoardView, encode_marks
from llmarena_envs.core.declaration import Declaration
from llmarena_envs.core.options import check_bool, check_choice
from llmarena_envs.core.order import order_checked
from llmarena_envs.core.text_env import Language, ObsType, RenderMode, TextEnv


class raw_env(TextEnv):
    """Connect four as an AEC environment; arguments as in the module's documentation."""

    metadata: ClassVar[dict[str, Any]] = {
        "name": "connect_four_v0",
        "render_modes": ["ansi", "human", "svg", "rgb_array"],
        "render_fps": 2,
        "is_parallelizable": False,
    }
    declaration: ClassVar[Declaration] = Declaration(
        abilities=("strategic planning", "spatial reasoning"),
        rated_options={"random_opening": 4},
    )
    game: ConnectFour
    codec: ConnectFourCodec

    def __init__(
        self,
        *,
        hint: bool = True,
        random_opening: int = 0,
        reward_mode: Literal["between_turns", "own_move", "cumulative_value"] | None = None,
        count: Literal["windows", "maximal"] = "windows",
        language: Language = "en",
        obs_type: ObsType = "text",
        render_mode: RenderMode | None = None,
    ) -> None:
        check_bool("hint", hint)
        check_choice("count", count, COUNTS)
        game = (
            ConnectFour(random_opening)
            if reward_mode is None
            else ScoredConnectFour(random_opening, reward_mode, count)
        )
        super().__init__(game, ConnectFourCodec(language, hint), obs_type=obs_type, render_mode=render_mode)

    @property
    def board(self) -> list[int]:
        """The cells row by row from the top left as in PettingZoo: 0 empty, 1 ``player_0``'s, 2 ``player_1``'s."""
        return [(EMPTY + MARKS).index(cell) for cell in self.game.board]

    def make_drawing(self) -> ConnectFourDrawing:
        """Returns the drawing of the board."""
        return ConnectFourDrawing(self.codec)

    def vector_space(self) -> spaces.Box:
        """Returns the space of two planes of discs."""
        return spaces.Box(0, 1, (ROWS, COLUMNS, 2), np.int8)

    def encode(self, view: BoardView) -> NDArray[np.int8]:
        """Returns the planes of own and opponent's discs."""
        return encode_marks(view, ROWS, COLUMNS)


env = order_checked(raw_env)
