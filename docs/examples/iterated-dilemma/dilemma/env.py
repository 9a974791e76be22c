"""# Iterated dilemma.

A prisoner's dilemma over a hidden number of rounds. In each round both players write a message, read each other's, and then
choose at once. Both cooperate: 3 points each; both defect: 1 each; otherwise 5 for the defector and 0 for the other.

### Arguments

* `continuation=0.8`: probability of another round after each, 0.01 to 0.99.
* `most_rounds=20`: maximum number of rounds, 2 to 100.
* `language="en"`: language of the texts, `en` or `zh`.
* `obs_type="text"`: `text` only.
* `render_mode=None`: `ansi` or `human`.

### Rewards

The points of each round. An illegal action ends the match: -1 for the offender, +1 for the other player.
"""

from typing import Any, ClassVar

from dilemma.game import CHANNELS, Dilemma
from dilemma.text import DilemmaCodec
from llmarena_envs.core.declaration import Declaration
from llmarena_envs.core.order import order_checked
from llmarena_envs.core.parallel import parallel_form
from llmarena_envs.core.text_env import Language, ObsType, RenderMode, TextEnv


class raw_env(TextEnv):
    """The iterated dilemma as an AEC environment."""

    metadata: ClassVar[dict[str, Any]] = {
        "name": "dilemma_v0",
        "render_modes": ["ansi", "human"],
        "render_fps": 1,
        "is_parallelizable": True,
    }
    declaration: ClassVar[Declaration] = Declaration(
        scheme="mean_reward",
        channels=CHANNELS,
        abilities=("cooperation", "opponent modelling"),
        rated_options={"continuation": 0.75, "most_rounds": 12},
        history="full",
        unparsable="noop",
        illegal="noop",
    )
    obs_types: ClassVar[tuple[str, ...]] = ("text",)
    action_examples: ClassVar[tuple[str, ...]] = ("Shall we both cooperate?", "choice: cooperate", "choice: defect")

    def __init__(
        self,
        *,
        continuation: float = 0.8,
        most_rounds: int = 20,
        language: Language = "en",
        obs_type: ObsType = "text",
        render_mode: RenderMode | None = None,
    ) -> None:
        game = Dilemma(continuation, most_rounds)
        super().__init__(game, DilemmaCodec(language, game), obs_type=obs_type, render_mode=render_mode)


env = order_checked(raw_env)
parallel_env = parallel_form(env)
