"""# Description judge.

| | |
|---|---|
| Creation | `benchmarks.llmarena.description_judge.env.env()` |
| Agents | `judge_0` |
| Actions | `Discrete(2)` |
| Parallel API | no |
| Manual control | `llmarena play benchmarks.llmarena.description_judge.env --policy judge_0=human` |
| Action values | 0 no, 1 yes |
| Observation | two texts and a mask |

One judge reads items, a word and a clue each, and decides for each item whether the clue describes the word correctly. Any
policy can judge the descriptions of undercover in this way.

Source: LLMArena (arXiv 2402.16499), Table 3, with human judges.

### Arguments

* `items=(("lemon", "a sour yellow fruit"),)`: pairs of a word and a clue, each one line without control characters.
* `language="en"`: language of the texts, `en` or `zh`.
* `obs_type="text"`: texts are the only form.
* `render_mode=None`: `ansi` or `human`.

### Observation Space

`rules` (the same at every turn), `text` (the present item and the instruction) and `action_mask`. Word and clue are quoted to
keep a clue from imitating a line of the instruction. Earlier items are not shown: verdicts are independent of each other.

### Action Space

0 or 1. A reply states it as `Verdict: no` or `Verdict: yes`; `否` and `是` are understood, and so is JSON such as
`{"verdict": true}`. A reply without a verdict is an abstention: a turn with `fallback` in the record is not counted,
even though an action was drawn for it.

### Rewards

None. An illegal action ends the match with -1.

### Episode End

After the last item (one turn per item), or by an illegal action.

### Version History

* v0: Initial version
"""

from collections.abc import Sequence
from typing import Any, ClassVar

from benchmarks.llmarena.description_judge.game import EXAMPLE, DescriptionJudge
from benchmarks.llmarena.description_judge.text import JudgeCodec
from llmarena_envs.core.declaration import Declaration
from llmarena_envs.core.order import order_checked
from llmarena_envs.core.text_env import TextEnv


class raw_env(TextEnv):
    """The judge of descriptions as an AEC environment; arguments as in the module docstring."""

    metadata: ClassVar[dict[str, Any]] = {
        "name": "description_judge_v0",
        "render_modes": ["ansi", "human"],
        "render_fps": 1,
        "is_parallelizable": False,
    }
    # The action drawn for a judge without a verdict is not a verdict, but play continues with the next item.
    declaration: ClassVar[Declaration] = Declaration(
        scheme="self_play", unparsable="random_legal", illegal="random_legal"
    )
    obs_types: ClassVar[tuple[str, ...]] = ("text",)

    def __init__(
        self,
        *,
        items: Sequence[Sequence[str]] = EXAMPLE,
        language: str = "en",
        obs_type: str = "text",
        render_mode: str | None = None,
    ) -> None:
        super().__init__(DescriptionJudge(items), JudgeCodec(language), obs_type=obs_type, render_mode=render_mode)


env = order_checked(raw_env)
