"""# Bid.

| | |
|---|---|
| Creation | `bid_v0.env()` or `pettingzoo.make("aec", "llmarena/bid-v0")` |
| Agents | `player_0`, `player_1`, up to `player_19` with `n_bidders` |
| Actions | `Discrete(1000)` |
| Parallel API | yes: `bid_v0.parallel_env()` or `pettingzoo.make("parallel", "llmarena/bid-v0")` |
| Manual control | `llmarena play bid_v0 --policy player_0=human --policy player_1=half` |
| Action values | 0 to 999, the bid in cents |
| Observation | `text`: two texts and a mask; `vector`: shape (7,), values from 0 to 1 |

A first-price sealed-bid auction of one item. Each bidder has a private valuation of the item, drawn uniformly from $0 to $10,
rounded to cents and drawn again while it is below one cent. All bid at the same time, at least $0.00 and below their own
valuation. The highest bid wins and pays itself: the winner earns valuation minus bid, the others nothing. Equal highest bids
are decided by a fair coin drawn from the seed.

With risk-neutral bidders the symmetric equilibrium is to bid v(n - 1)/n, half the valuation for two bidders, who then earn
$10/6, about $1.67, each.

Source: LLMArena (arXiv 2402.16499), section 2.4 and appendix A.6.

### Arguments

* `n_bidders=2`: number of bidders, 2 to 20.
* `v_max=10.0`: highest valuation in dollars.
* `grid=0.01`: step between bids in dollars: whole cents, and `v_max` is 2 to 10,000 times as much.
* `rounds=1`: number of auctions in a match, 1 to 100, each with new valuations. After each one the bidders learn the winner
  and the winning bid; losing bids and the others' valuations stay secret for good.
* `values=None`: the valuations to play with instead of drawn ones, a list for each round with one amount in dollars for each
  bidder, e.g. `[[7.0, 3.5]]`. The coin for equal bids is still drawn from the seed.
* `cot=True`: invite the player to reason before bidding.
* `language="en"`: language of the texts, `en` or `zh`.
* `obs_type="text"`: `text` or `vector`.
* `render_mode=None`: `ansi`, `human` or `svg`.

### Observation Space

With `obs_type="text"`: `rules` (the same at every turn), `text` (results of past rounds, own valuation, limits of the bid,
instruction) and `action_mask`. With `obs_type="vector"`: `observation`, a `float32` array of shape
`(2 + rounds * (3 + n_bidders),)`, and `action_mask`. The array holds the own valuation divided by `v_max` and the share of the
rounds that are over; then for each round, zero until it is over, own valuation, own bid and winning bid, divided by `v_max`,
and a one for the winner, counted in seats from the reader.

Bids are sealed: in AEC order, no observation changes before the last bid of a round is in.

#### Legal Actions Mask

`action_mask` is an `int8` array of shape (1000,): 1 for every bid below the valuation, all zeros after the own bid of
the round. A bid of $10.00 can never be legal, so there is no action for it.

### Action Space

The bid in steps of `grid`, `Discrete(v_max / grid)`. A reply states it in dollars as `player_0: $1.08`; the last statement
counts; lines in another bidder's name are none. The dollar sign can be missing or a word, `108 cents`, `1,08` and
JSON such as `{"bid": 1.08}` are understood, and so is an amount on the last line, alone or after words such as `I bid` or
`Final bid:`. Fractions of a cent, amounts in words, ranges, sums, other currencies and bids in another bidder's name are
refused.

### Rewards

The earnings of each round: valuation minus bid in dollars for the winner, 0 for the others. An illegal action ends the match:
the offender receives -1, the others 0.

`infos` hold means over the rounds that are over: `bid` and `valuation` in dollars, and `score`, which is (b - v/2) / (v/2) for
a bid b at valuation v: 0 at the equilibrium of two bidders, -1 for a bid of nothing, nearly +1 for a bid just below the
valuation. Before the first round is over all three are 0; a `valuation` of 0 has no other meaning, since none is drawn. They
are for analysis only and no part of the reward.

### Episode End

After `rounds` auctions, that is `n_bidders * rounds` turns, or by an illegal action at the end of its round.

### Version History

* v0: Initial version
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from llmarena_envs.bid.drawing import BidDrawing
from llmarena_envs.bid.game import BidView, SealedBid
from llmarena_envs.bid.text import BidCodec
from llmarena_envs.core.declaration import Declaration
from llmarena_envs.core.options import check_bool
from llmarena_envs.core.order import order_checked
from llmarena_envs.core.parallel import parallel_form
from llmarena_envs.core.text_env import Language, ObsType, RenderMode, TextEnv

"""Returns the environment with PettingZoo's parallel interface; the options are those of ``raw_env``."""


class raw_env(TextEnv):
    """The sealed-bid auction as an AEC environment; arguments as in the module's documentation."""

    metadata: ClassVar[dict[str, Any]] = {
        "name": "bid_v0",
        "render_modes": ["ansi", "human", "svg"],
        "render_fps": 1,
        "is_parallelizable": True,
    }
    declaration: ClassVar[Declaration] = Declaration(
        scheme="mean_reward",
        abilities=("numerical reasoning", "opponent modelling"),
        history="full",
        unparsable="noop",
        illegal="noop",
        llmarena_reasks=0,
    )
    game: SealedBid

    def __init__(
        self,
        *,
        n_bidders: int = 2,
        v_max: float = 10.0,
        grid: float = 0.01,
        rounds: int = 1,
        values: Sequence[Sequence[float]] | None = None,
        cot: bool = True,
        language: Language = "en",
        obs_type: ObsType = "text",
        render_mode: RenderMode | None = None,
    ) -> None:
        check_bool("cot", cot)
        game = SealedBid(n_bidders, v_max, grid, rounds, values)
        self._equilibrium = v_max * rounds / (n_bidders * (n_bidders + 1))
        super().__init__(game, BidCodec(language, cot, game), obs_type=obs_type, render_mode=render_mode)

    def references(self) -> dict[str, float]:
        """Returns the expected payoff of a bidder if all bid the equilibrium: v_max / (n (n + 1)) a round."""
        return {"equilibrium": self._equilibrium}

    def make_drawing(self) -> BidDrawing:
        """Returns the drawing of valuations and bids."""
        return BidDrawing(self.codec.language, self.game)

    def vector_space(self) -> spaces.Box:
        """Returns the space of valuation, progress and past rounds."""
        return spaces.Box(0, 1, (2 + self.game.rounds * (3 + len(self.game.agents)),), np.float32)

    def encode(self, view: BidView) -> NDArray[np.float32]:
        """Returns valuation, progress and past rounds as numbers from 0 to 1."""
        agents, units, width = self.game.agents, self.game.units, 3 + view.n_bidders
        vector = np.zeros(2 + view.rounds * width, dtype=np.float32)
        vector[:2] = view.valuation / units, len(view.history) / view.rounds
        own_seat = agents.index(view.agent)
        for number, past in enumerate(view.history):
            start = 2 + number * width
            vector[start : start + 3] = past.valuation / units, past.bid / units, past.winning_bid / units
            vector[start + 3 + (agents.index(past.winner) - own_seat) % len(agents)] = 1
        return vector


env = order_checked(raw_env)
parallel_env = parallel_form(env)
