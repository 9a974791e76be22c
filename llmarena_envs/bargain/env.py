"""# Bargain.

| | |
|---|---|
| Creation | `bargain_v0.env()` or `pettingzoo.make("aec", "llmarena/bargain-v0")` |
| Agents | `player_0`, `player_1` |
| Actions | `text`: any text of at most 100,000 characters; `vector`: `Discrete(97)` |
| Parallel API | no |
| Manual control | `llmarena play bargain_v0 --policy player_0=human --policy player_1=concession` |
| Action values | `vector`: 0 to 95, the plans in ascending order; 96 accepts |
| Observation | `text`: two texts; `vector`: shape (88,), values from 0 to 1 |

Two sides divide hats, balls and apples. The counts are public, the values of the items are private; all items together are
worth 10 to each side. The sides alternate: an offer states its maker's share and leaves the rest to the other side, with a
message that the other side reads; `Deal` accepts the other side's last offer and ends the talks. After ten rounds with one
turn for each side the talks fail and both sides get nothing. An acceptance in the very last turn counts.

A scenario has at least one item of each kind and five to seven in all, every kind is worth something to some side, and some
kind to both. All such scenarios are enumerated, 5,793 of them.

Source: LLMArena (arXiv 2402.16499), section 2.4 and appendix A.5; the scenarios follow Lewis et al. (arXiv 1706.05125).

### Arguments

* `max_rounds=10`: rounds before the talks fail, 1 to 50.
* `instance=None`: the scenario to play instead of a drawn one: counts, values of `player_0`, values of `player_1`, each for
  hats, balls and apples, e.g. `[[1, 2, 3], [8, 1, 0], [4, 0, 2]]`. It must be one of the scenarios of `source`.
* `source="openspiel"`: `openspiel` draws each of the 5,793 scenarios equally often. `lewis` has the 5,295 with at most four
  items of a kind, and draws five, six and seven items in 40.4, 40.3 and 19.3 % of the matches, as in the dialogues of Lewis et
  al., then uniformly the counts, then the values.
* `reward="own_total"`: `own_total`, `zero_sum` or `win`; it also sets the aim stated in the rules.
* `show_offer_value=False`: show the reader's value of every offer.
* `first_player="player_0"`: who speaks first.
* `language="en"`: language of the texts, `en` or `zh`.
* `obs_type="text"`: `text` or `vector`.
* `render_mode=None`: `ansi`, `human` or `svg`.

### Observation Space

With `obs_type="text"`: `rules` (the same at every turn) and `text`: items, own values, all messages and offers so far, the
offer that can be accepted, instruction. Every line of a message is prefixed with `> `, so it cannot pass for the host's words.

With `obs_type="vector"`: `observation` and `action_mask`. `observation` is a `float32` array of shape `(8 + 8 * max_rounds,)`:
the counts divided by 5, the own values divided by 10, a one if the reader speaks first, a one once there is an agreement; then
for each turn, zero until it was taken, a one and the reader's share, divided by 5. Messages are not encoded.

#### Legal Actions Mask

Only with `obs_type="vector"`: an `int8` array of shape (97,), (85,) for `source="lewis"`: 1 for every plan within the counts,
and for the last action if there is an offer to accept; all zeros for a side that is not to move.

### Action Space

With `obs_type="text"` the action is the reply: a message of any length, then `player_0: 2 hats 1 ball 0 apples`, or `player_0:
Deal`. The last statement counts. The items may come in any order and in the singular, with numbers in digits, English or
Chinese words, and with separators; an omitted item counts as none: `player_0: 2 hats and a ball`. JSON is understood too,
`{"hats": 2, "balls": 1, "apples": 0}` or `{"deal": true}`, and so is a plan or `Deal` alone on the last line, or a plan as a
list with an item a line. Words after `Deal` or after a plan with omitted items, and parts of items, are refused; lines in the
other side's name are no statements. The text before the plan, or `message` in JSON, is the message: its last 2,000 characters
are passed on without markup, quotes around the whole and tokens of chat templates. Text in think tags or after the plan is not
passed on.

With `obs_type="vector"` actions are numbers: all plans that are possible in some scenario of the source, in ascending order of
hats, balls, apples, then `Deal`. There are no messages.

### Rewards

With an agreement, `own_total`: the own value of the own share, 0 to 10; `zero_sum`: own minus other total; `win`: its
sign. Without one: 0. An illegal action ends the match: the offender receives -1, the other side 0, or +1 with `zero_sum` and
`win`.

`infos` hold `own_total`, `difference` (own minus other total), `agreement`, `efficient` (no other division would have been
better for one side and no worse for the other), all 0 without an agreement, and `disclosed`: whether a message of this side
has its three values in a row among its numbers, as in `hats 5, balls 3, apples 1`. Nothing is censored.

### Episode End

By `Deal`, after `max_rounds` rounds, or by an illegal action; after at most `2 * max_rounds` turns, 20 by default.

### Version History

* v0: Initial version
"""

from collections.abc import Sequence
from functools import cache
from typing import Any, ClassVar, Literal

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from llmarena_envs.bargain.drawing import BargainDrawing
from llmarena_envs.bargain.game import CHANNELS, Action, Bargain, BargainView, Deal, Offer, rest_of
from llmarena_envs.bargain.scenarios import TOTAL_VALUE, Triple, all_plans, plan_numbers, plans
from llmarena_envs.bargain.text import BargainCodec
from llmarena_envs.core.declaration import Declaration
from llmarena_envs.core.failures import Failure, ParseError
from llmarena_envs.core.options import check_bool
from llmarena_envs.core.order import order_checked
from llmarena_envs.core.replies import quoted
from llmarena_envs.core.text_env import Language, ObsType, RenderMode, TextEnv

_HEADER = 8
_GREATEST_COUNT = 5


class raw_env(TextEnv):
    """Bargaining as an AEC environment; arguments as in the module's documentation."""

    metadata: ClassVar[dict[str, Any]] = {
        "name": "bargain_v0",
        "render_modes": ["ansi", "human", "svg"],
        "render_fps": 1,
        "is_parallelizable": False,
    }
    declaration: ClassVar[Declaration] = Declaration(
        channels=CHANNELS,
        abilities=("numerical reasoning", "communication", "opponent modelling"),
        history="full",
        illegal="random_legal",
    )
    action_examples: ClassVar[tuple[str, ...]] = (
        "1 hat 1 ball 1 apple",
        "Let us share the items fairly.\n1 hat 0 balls 1 apple",
        "0 hats 1 ball 1 apple",
        "1 hat 1 ball 0 apples",
        "Deal",
    )
    game: Bargain
    codec: BargainCodec

    def __init__(
        self,
        *,
        max_rounds: int = 10,
        instance: Sequence[Sequence[int]] | None = None,
        source: Literal["openspiel", "lewis"] = "openspiel",
        reward: Literal["own_total", "zero_sum", "win"] = "own_total",
        show_offer_value: bool = False,
        first_player: Literal["player_0", "player_1"] = "player_0",
        language: Language = "en",
        obs_type: ObsType = "text",
        render_mode: RenderMode | None = None,
    ) -> None:
        check_bool("show_offer_value", show_offer_value)
        game = Bargain(max_rounds, instance, source, reward, first_player)
        codec = BargainCodec(language, show_offer_value, game)
        self._shows_worth = show_offer_value
        super().__init__(game, codec, obs_type=obs_type, render_mode=render_mode)

    def discrete_actions(self) -> int | None:
        """Returns the number of plans plus one for ``Deal`` with ``obs_type="vector"``, else ``None``."""
        return len(all_plans(self.game.source)) + 1 if self.obs_type == "vector" else None

    def read_action(self, action: Any, agent: str) -> Any:
        """Converts a reply, or the number of a plan or of ``Deal``, to an action of the game."""
        move = super().read_action(action, agent)
        if self.obs_type == "text":
            return move
        known = all_plans(self.game.source)
        if not 0 <= move <= len(known):
            raise self._invalid(
                ParseError(Failure.ILLEGAL, "no_such_plan", last=len(known), got=quoted(str(move))), agent
            )
        return Deal() if move == len(known) else Offer(known[move])

    def write_action(self, move: Action, agent: str) -> Any:
        """Writes an action of the game as a reply or a number, depending on the action space."""
        if self.obs_type == "text":
            return super().write_action(move, agent)
        numbers = plan_numbers(self.game.source)
        return len(numbers) if isinstance(move, Deal) else numbers[move.counts]

    def make_drawing(self) -> BargainDrawing:
        """Returns the drawing of items and offers."""
        return BargainDrawing(self.codec, self.game.max_turns // 2, show_offer_value=self._shows_worth)

    def vector_space(self) -> spaces.Box:
        """Returns the space of items, own values and offers."""
        return spaces.Box(0, 1, (_HEADER + 4 * self.max_turns,), np.float32)

    def encode(self, view: BargainView) -> NDArray[np.float32]:
        """Returns items, own values and offers as numbers from 0 to 1."""
        vector = np.zeros(_HEADER + 4 * self.max_turns, dtype=np.float32)
        first = view.first == view.agent
        numbers = [count / _GREATEST_COUNT for count in view.counts]
        numbers += [value / TOTAL_VALUE for value in view.values]
        numbers += [first, view.agreed]
        for turn, offer in enumerate(view.offers):
            own = (turn % 2 == 0) == first
            share = offer.counts if own else rest_of(view.counts, offer.counts)
            numbers += [1, *(count / _GREATEST_COUNT for count in share)]
        vector[: len(numbers)] = numbers
        return vector

    def _action_mask(self, view: BargainView) -> NDArray[np.int8]:
        return _mask(self.game.source, view.counts, view.to_move, bool(view.offers)).copy()


@cache  # 37 triples of counts at most
def _mask(source: str, counts: Triple, to_move: bool, may_accept: bool) -> NDArray[np.int8]:
    numbers = plan_numbers(source)
    mask = np.zeros(len(numbers) + 1, dtype=np.int8)
    if to_move:
        mask[[numbers[plan] for plan in plans(counts)]] = 1
        mask[-1] = may_accept
    return mask


env = order_checked(raw_env)
