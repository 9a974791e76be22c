"""# Observation.

| | |
|---|---|
| Creation | `benchmarks.simulbench.observation.env.env()` |
| Agents | `observer_0` |
| Actions | text |
| Parallel API | no |
| Manual control | `llmarena play benchmarks.simulbench.observation.env --policy observer_0=human` |
| Action values | `Turn: [[k]]` |
| Observation | two texts |

An observer reads a dialogue between a user and a simulating model, and names the first turn with an extremely complex request
and an inaccurate answer. That turn and the later ones become scripts for other policies.

Source: SimulBench (arXiv 2409.07641), section 2.4.

### Arguments

* `dialogue=EXAMPLE`: a record of a dialogue, with the fields of `llmarena_envs.simulation.dialogues`.
* `language="en"`: language of the texts, `en` or `zh`.
* `obs_type="text"`: texts are the only form.
* `render_mode=None`: `ansi` or `human`.

### Observation Space

`rules` (the same at every turn) and `text`: the dialogue as a JSON list, one message per line with the number of its turn, and
the instruction. Messages are quoted, with `>` before every line.

### Action Space

Text that ends with the number of the turn in double brackets: 1 to the number of turns of the dialogue, 0 for none. A turn is a
request and its answer. Other numbers are refused. `abstain` gives no finding; it is the standard fallback.

### Rewards

0. An abstention leaves the match without a result; an illegal action ends it with -1.

### Infos

Numbers, -1 while unknown: `turn` (the finding), `turns` (of the dialogue), `abstained`.

### Episode End

After one turn.

### Version History

* v0: Initial version
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from benchmarks.simulbench.observation.game import Observation
from benchmarks.simulbench.observation.text import ObservationCodec
from llmarena_envs.core.declaration import Declaration
from llmarena_envs.core.failures import InvalidReply
from llmarena_envs.core.order import order_checked
from llmarena_envs.core.text_env import MAX_ACTION_TEXT, TextEnv
from llmarena_envs.simulation.dialogues import load_dialogues
from llmarena_envs.simulation.truth import check_engine

EXAMPLE: Mapping[str, Any] = {
    "id": "example",
    "source_id": "example",
    "act": "Counter",
    "task_description": "Count the letters of each word that I send, and print nothing but the number. First request: ice",
    "request_type": "a word",
    "type": "stateless",
    "source_file_name": "example",
    "dialogue_history": [
        {
            "role": "user",
            "content": "Count the letters of each word that I send, and print nothing but the number. First request: ice",
        },
        {"role": "assistant", "content": "3"},
        {"role": "user", "content": "floccinaucinihilipilification"},
        {"role": "assistant", "content": "27"},
    ],
}


class raw_env(TextEnv):
    """An observer's work as an AEC environment; arguments as in the module docstring."""

    metadata: ClassVar[dict[str, Any]] = {
        "name": "observation_v0",
        "render_modes": ["ansi", "human"],
        "render_fps": 1,
        "is_parallelizable": False,
    }
    declaration: ClassVar[Declaration] = Declaration(scheme="self_play", unparsable="noop", illegal="noop")
    obs_types: ClassVar[tuple[str, ...]] = ("text",)
    action_examples: ClassVar[tuple[str, ...]] = (
        "Every answer is right. Turn: [[0]]",
        "The first answer is wrong. Turn: [[1]]",
    )

    def __init__(
        self,
        *,
        dialogue: Mapping[str, Any] = EXAMPLE,
        language: str = "en",
        obs_type: str = "text",
        render_mode: str | None = None,
    ) -> None:
        (loaded,) = load_dialogues([dialogue])
        check_engine(loaded.task)
        super().__init__(Observation(loaded), ObservationCodec(language), obs_type=obs_type, render_mode=render_mode)

    def read_action(self, action: Any, agent: str) -> Any:
        """Parses a text into an action of the game; one without a turn is an abstention.

        Raises:
            InvalidReply: if it is not a text, or names a turn outside the dialogue.
        """
        try:
            return super().read_action(action, agent)
        except InvalidReply:
            if not isinstance(action, str) or len(action) > MAX_ACTION_TEXT:
                raise
            return self.game.default_action(agent)


env = order_checked(raw_env)
