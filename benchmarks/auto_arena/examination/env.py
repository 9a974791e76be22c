"""# Examination.

| | |
|---|---|
| Creation | `benchmarks.auto_arena.examination.env.env()` |
| Agents | `examiner_0` |
| Actions | text |
| Parallel API | no |
| Manual control | `llmarena play benchmarks.auto_arena.examination.env --policy examiner_0=human` |
| Action values | numbered questions |
| Observation | two texts |

One examiner drafts questions for debates in one domain. They are checked: a question must ask something, contain no answer, need
no context, and be neither the example nor a near-copy of another one. Good questions are kept, missing ones requested again.

Source: Auto-Arena (arXiv 2405.20267v1), section 3.1; the authors' code asks for 30 questions in each of
eight domains, ten at a time.

### Arguments

* `domain="writing"`: `writing`, `roleplay`, `extraction`, `reasoning`, `math`, `coding`, `stem` or `humanities`.
* `count=30`: number of questions wanted, 1 to 100.
* `batch=10`: number of questions per request, 1 to 100.
* `calls=3`: maximum number of requests per batch, 1 to 10. Questions still missing afterwards are left out.
* `language="en"`: language of the texts and of the questions, `en` or `zh`.
* `obs_type="text"`: texts are the only form.
* `render_mode=None`: `ansi` or `human`.

### Observation Space

`rules` (the same at every turn) and `text`: the questions accepted up to now, the refused ones of the last reply with reasons,
and the present request. Everything that the examiner wrote is quoted.

### Action Space

Text: questions with a number in front of each, `(1).`, `1.`, `（1）` and the like; lines below one belong to it. Bullets, JSON
lists and a single question are read too. A reply without questions is refused; its fallback is an empty question, which is
counted as such.

### Rewards

At the end the share of the requested questions that were accepted, 0 to 1. An illegal action ends the match with -1.

### Infos

Numbers: `domain` (its index in the list above), `calls`, `drafted` (questions in all replies), `accepted`, `surplus` (good ones
beyond the requested number), and the refused ones by reason: `refused_empty`, `refused_short`, `refused_long`,
`refused_answer`, `refused_asks_nothing`, `refused_context` (it refers to missing context), `refused_example`,
`refused_repeated`.

### Episode End

When the last batch is complete or was requested `calls` times: after at most `calls` turns per batch; or by an illegal action.

### Version History

* v0: Initial version
"""

from typing import Any, ClassVar

from benchmarks.auto_arena.examination.game import Examination
from benchmarks.auto_arena.examination.text import ExaminationCodec
from llmarena_envs.core.declaration import Declaration
from llmarena_envs.core.order import order_checked
from llmarena_envs.core.text_env import TextEnv


class raw_env(TextEnv):
    """An examiner's work as an AEC environment; arguments as in the module docstring."""

    metadata: ClassVar[dict[str, Any]] = {
        "name": "examination_v0",
        "render_modes": ["ansi", "human"],
        "render_fps": 1,
        "is_parallelizable": False,
    }
    declaration: ClassVar[Declaration] = Declaration(scheme="self_play", unparsable="noop", illegal="noop")
    obs_types: ClassVar[tuple[str, ...]] = ("text",)
    action_examples: ClassVar[tuple[str, ...]] = (
        "(1). Why does ice float on water?\n(2). How does a sundial show the time?",
        "(1). Write a short letter to a friend who has moved away.",
    )

    def __init__(
        self,
        *,
        domain: str = "writing",
        count: int = 30,
        batch: int = 10,
        calls: int = 3,
        language: str = "en",
        obs_type: str = "text",
        render_mode: str | None = None,
    ) -> None:
        game = Examination(domain=domain, count=count, batch=batch, calls=calls, language=language)
        super().__init__(game, ExaminationCodec(language), obs_type=obs_type, render_mode=render_mode)


env = order_checked(raw_env)
