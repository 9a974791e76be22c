"""# Public goods.

| | |
|---|---|
| Creation | `public_goods_v0.env()` or `pettingzoo.make("aec", "llmarena/public_goods-v0")` |
| Agents | `player_0` to `player_3`, up to `player_19` with `n_players` |
| Actions | `Discrete(11)` |
| Parallel API | yes: `public_goods_v0.parallel_env()` or `pettingzoo.make("parallel", "llmarena/public_goods-v0")` |
| Manual control | `llmarena play public_goods_v0 --policy player_0=human --policy player_1=random ...` |
| Action values | 0 to 10, the coins invested |
| Observation | `text`: two texts and a mask; `vector`: shape (13,), values from 0 to 1 |

In each of five rounds every player is given ten coins and decides how many of them to invest in a common pool. All decide at
the same time. The pool is multiplied by alpha = 1.2 and shared equally among all four players, regardless of their
investments. With investments x, player i earns 10 - x_i + (alpha / n) * (x_1 + ... + x_n) in a round.

An invested coin returns alpha / n = 0.3 to its owner and 1.2 to the group. So in a single round a player earns most by
investing nothing, for any investments of the others. Without investments each earns 50 in five rounds; if all invest
everything, 60. That holds for 1 < alpha < n; a warning is given for any other alpha.

Before the last round an investment can pay, since others can respond to it. Against three `conditional_cooperator`,
`free_rider` earns 60.8, and `end_defector:last=4`, which invests everything in the first round and nothing in the last four,
earns 62.8:

```sh
llmarena play public_goods_v0 --policy player_0=end_defector:last=4 --policy player_1=conditional_cooperator \
    --policy player_2=conditional_cooperator --policy player_3=conditional_cooperator
```

The players are anonymous: no text names a seat, not even the reader's own, so players cannot be recognised. `mode` sets the
information about the others after a round.

Source: DeepEval (arXiv 2309.04369), section 3.7.1 and appendix A.1. The value of alpha is not stated there. The worked example
divides the share of three players by four; here it is divided by the number of players. The list of mode 2 is called descending
in one place and an ascending set in another; here it is descending and keeps duplicates.

### Arguments

* `n_players=4`: number of players, 2 to 20.
* `rounds=5`: number of rounds, 1 to 100.
* `endowment=10`: coins given to each player, 1 to 10,000 times `coin_step`.
* `alpha=1.2`: multiplier of the pool, above 0 and at most 1,000.
* `mode=1`: information after a round: with 1 each player sees only its own income from the pool; with 2 all players see the
  list of all investments, sorted from the largest to the smallest, without names.
* `coin_step=1`: step between two investments in coins, with at most four decimals.
* `endowment_mode="per_round"`: `per_round` to give the endowment in every round, in which only these new coins can be invested;
  `initial` to give it once, before the first round; players can then invest all of their coins.
* `cot=True`: invite the player to reason, and ask for the reason in the reply.
* `language="en"`: language of the texts, `en` or `zh`.
* `obs_type="text"`: `text` or `vector`.
* `render_mode=None`: `ansi`, `human` or `svg`.

### Observation Space

With `obs_type="text"`: `rules` (the same at every turn and for every player), `text` (past rounds, own coins, limits of the
investment, instruction) and `action_mask`. With `obs_type="vector"`: `observation`, a `float32` array of shape
`(3 + 2 * rounds,)`, or `(3 + (2 + n_players) * rounds,)` in mode 2, and `action_mask`. The array holds the share of the rounds
that are over, the largest investment of this round and the coins owned; then for each round, zero until it is over, the own
investment, the income and, in mode 2, all investments, the largest first. Investments are divided by the greatest action, coins
owned by the maximum of all players' coins together, and incomes by one player's equal part of that.

Investments are hidden until all are in: in AEC order, no observation changes before the last one of a round. Amounts in texts
are rounded to four decimals; payments are exact.

#### Legal Actions Mask

`action_mask` is an `int8` array with a 1 for every investment from nothing up to the coins of the round, all zeros after
the own decision. With `endowment_mode="initial"`: up to the whole steps of the player's coins.

### Action Space

The investment in steps of `coin_step`: `Discrete(endowment / coin_step + 1)`, and with `endowment_mode="initial"`
`Discrete(floor(n_players * endowment * alpha ** rounds / coin_step) + 1)`. A reply states it as a JSON object, `{"reason":
"...", "coins": 5}`, or as `coins: 5`; the last statement counts. Numbers up to ten can be words, `five coins` or `五枚硬币`;
an amount on the last line is understood, alone or after words such as `I invest`. Amounts below zero or off the grid, NaN and
infinity are illegal; ranges, sums, shares such as `50%` and lines in the name of any seat are refused.

### Rewards

The earnings of each round, in coins: the coins given minus the investment plus the share of the pool. So the rewards of a
match add up to the coins owned at its end. With `endowment_mode="initial"` the coins given count in the first round. An
illegal action ends the match: the offender receives -1, the others 0.

The standard fallback is `random_legal`, a random amount, for replies without an amount and with an illegal one.

`infos` hold means over the rounds that are over, in coins: `investment`, the own one, and `income` from the pool; 0 before
that. They are for analysis only and no part of the reward.

### Episode End

After `rounds` rounds, that is `n_players * rounds` turns, or by an illegal action at the end of its round.

### Version History

* v0: Initial version
"""

from typing import Any, ClassVar, Literal

import numpy as np
from gymnasium import logger, spaces
from numpy.typing import NDArray

from llmarena_envs.core.declaration import Channel, Declaration
from llmarena_envs.core.options import check_bool
from llmarena_envs.core.order import order_checked
from llmarena_envs.core.parallel import parallel_form
from llmarena_envs.core.text_env import Language, ObsType, RenderMode, TextEnv
from llmarena_envs.public_goods.drawing import PublicGoodsDrawing
from llmarena_envs.public_goods.game import PublicGoods, PublicGoodsView
from llmarena_envs.public_goods.text import PublicGoodsCodec

"""Returns the environment with PettingZoo's parallel interface; the options are those of ``raw_env``."""


class raw_env(TextEnv):
    """The public goods game as an AEC environment; arguments as in the module's documentation."""

    metadata: ClassVar[dict[str, Any]] = {
        "name": "public_goods_v0",
        "render_modes": ["ansi", "human", "svg"],
        "render_fps": 1,
        "is_parallelizable": True,
    }
    declaration: ClassVar[Declaration] = Declaration(
        scheme="mean_reward",
        channels={"investment": Channel("player")},
        abilities=("numerical reasoning", "opponent modelling", "cooperation"),
        history="full",
        illegal="random_legal",
    )
    game: PublicGoods

    def __init__(
        self,
        *,
        n_players: int = 4,
        rounds: int = 5,
        endowment: float = 10,
        alpha: float = 1.2,
        mode: int = 1,
        coin_step: float = 1,
        endowment_mode: Literal["per_round", "initial"] = "per_round",
        cot: bool = True,
        language: Language = "en",
        obs_type: ObsType = "text",
        render_mode: RenderMode | None = None,
    ) -> None:
        check_bool("cot", cot)
        game = PublicGoods(n_players, rounds, endowment, alpha, mode, coin_step, endowment_mode)
        if not game.is_dilemma():
            logger.warn(
                f"alpha: expected 1 < alpha < n_players = {n_players}, got {alpha!r}; no social dilemma: investing does not pay "
                "for the group, or pays for the one who invests"
            )
        self._most_coins = game.most_coins()
        self._width = 2 + (n_players if mode == 2 else 0)
        super().__init__(game, PublicGoodsCodec(language, cot, game), obs_type=obs_type, render_mode=render_mode)

    def references(self) -> dict[str, float]:
        """Returns a player's payoff without any investments, the equilibrium for alpha < n."""
        payoff = self.game.equilibrium_payoff()
        return {} if payoff is None else {"equilibrium": payoff}

    def make_drawing(self) -> PublicGoodsDrawing:
        """Returns the drawing of investments and coins."""
        return PublicGoodsDrawing(self.codec.language, self.game)

    def vector_space(self) -> spaces.Box:
        """Returns the space of progress, own coins and past rounds."""
        return spaces.Box(0, 1, (3 + self._width * self.game.rounds,), np.float32)

    def encode(self, view: PublicGoodsView) -> NDArray[np.float32]:
        """Returns progress, own coins and past rounds as numbers from 0 to 1."""
        greatest, most, width = self.game.greatest, self._most_coins, self._width
        vector = np.zeros(3 + width * view.rounds, dtype=np.float32)
        vector[:3] = len(view.history) / view.rounds, view.highest / greatest, view.coins / most
        for number, past in enumerate(view.history):
            start = 3 + width * number
            vector[start : start + 2] = past.investment / greatest, past.income * view.n_players / most
            if past.investments:
                vector[start + 2 : start + width] = np.divide(past.investments, greatest)
        return vector


env = order_checked(raw_env)
parallel_env = parallel_form(env)
