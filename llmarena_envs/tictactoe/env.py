"""# Tic-tac-toe.

| | |
|---|---|
| Creation | `tictactoe_v0.env()` or `pettingzoo.make("aec", "llmarena/tictactoe-v0")` |
| Agents | `player_0` (X), `player_1` (O) |
| Actions | `Discrete(9)` |
| Parallel API | no |
| Manual control | `llmarena play tictactoe_v0 --policy player_0=human --policy player_1=minimax` |
| Action values | 0 to 8, row by row from the top left |
| Observation | `text`: two texts and a mask; `vector`: shape (3, 3, 2), values 0 and 1 |

The players alternately put their marks on a grid of three rows and three columns; X begins. Three own marks in a row, a column
or a diagonal win; a full grid without a line is a draw. The game has 5,478 positions and is a draw with best play.

Source: LLMArena (arXiv 2402.16499), section 2.4 and appendix A.1.

### Arguments

* `hint=True`: list the empty cells in the text.
* `random_opening=0`: number of random legal plies, 0 to 4, drawn from the seed before play; without any, two deterministic
  players repeat one game for ever.
* `language="en"`: language of the texts, `en` or `zh`.
* `obs_type="text"`: `text` or `vector`.
* `render_mode=None`: `ansi`, `human`, `svg` or `rgb_array`.

### Observation Space

With `obs_type="text"`: `rules` (the same at every turn), `text` (own mark, moves so far, board, empty cells, instruction) and
`action_mask`. With `obs_type="vector"`: `observation`, an `int8` array of shape (3, 3, 2) whose planes hold the own and the
opponent's marks, and `action_mask`.

#### Legal Actions Mask

`action_mask` is an `int8` array of shape (9,): 1 for an empty cell, all zeros out of turn.

### Action Space

`3 * (row - 1) + (column - 1)`, with rows and columns from 1 to 3. A reply states a cell as `X: (1, 3)`, or without the mark
alone on a line; the other mark is illegal. A labelled line, an object such as `{"row": 1, "column": 3}` or the contents of
`<answer>` or a LaTeX box outrank a bare line, and a bare line a label inside a line; the last statement of the highest rank
counts, cells in running text are none. PettingZoo's own tictactoe counts down the columns: `game.to_pettingzoo` and
`game.from_pettingzoo` convert.

### Rewards

Winner +1, loser -1, draw 0. An illegal action ends the match: the offender receives -1, the opponent +1.

### Episode End

By a line, by a full grid, or by an illegal action; after at most 9 turns.

### Version History

* v0: Initial version
"""

from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from llmarena_envs.core.board import BoardView, encode_marks
from llmarena_envs.core.declaration import Declaration
from llmarena_envs.core.options import check_bool
from llmarena_envs.core.order import order_checked
from llmarena_envs.core.text_env import Language, ObsType, RenderMode, TextEnv
from llmarena_envs.tictactoe.drawing import TicTacToeDrawing
from llmarena_envs.tictactoe.game import TicTacToe
from llmarena_envs.tictactoe.text import TicTacToeCodec


class raw_env(TextEnv):
    """Tic-tac-toe as an AEC environment; arguments as in the module's documentation."""

    metadata: ClassVar[dict[str, Any]] = {
        "name": "tictactoe_v0",
        "render_modes": ["ansi", "human", "svg", "rgb_array"],
        "render_fps": 1,
        "is_parallelizable": False,
    }
    declaration: ClassVar[Declaration] = Declaration(
        abilities=("strategic planning", "spatial reasoning"),
        rated_options={"random_opening": 2},
    )
    codec: TicTacToeCodec

    def __init__(
        self,
        *,
        hint: bool = True,
        random_opening: int = 0,
        language: Language = "en",
        obs_type: ObsType = "text",
        render_mode: RenderMode | None = None,
    ) -> None:
        check_bool("hint", hint)
        game, codec = TicTacToe(random_opening), TicTacToeCodec(language, hint)
        super().__init__(game, codec, obs_type=obs_type, render_mode=render_mode)

    def make_drawing(self) -> TicTacToeDrawing:
        """Returns the drawing of the board."""
        return TicTacToeDrawing(self.codec)

    def vector_space(self) -> spaces.Box:
        """Returns the space of two planes of marks."""
        return spaces.Box(0, 1, (3, 3, 2), np.int8)

    def encode(self, view: BoardView) -> NDArray[np.int8]:
        """Returns the planes of own and opponent's marks."""
        return encode_marks(view, 3, 3)


env = order_checked(raw_env)
