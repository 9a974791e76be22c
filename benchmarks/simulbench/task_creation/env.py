"""# Task creation.

| | |
|---|---|
| Creation | `benchmarks.simulbench.task_creation.env.env()` |
| Agents | `creator_0` |
| Actions | text |
| Parallel API | no |
| Manual control | `llmarena play benchmarks.simulbench.task_creation.env --policy creator_0=human` |
| Action values | a JSON list of tasks |
| Observation | two texts |

One task creator writes simulation tasks of one type. It is shown a few packaged tasks, drawn from the seed. Its tasks are
checked: each has a name, a description and a type of request, and is neither an example nor a near-copy of
another one. Good tasks are kept, missing ones requested again.

Source: SimulBench (arXiv 2409.07641), section 2.2, which generates tasks with five examples per prompt and five seeds.

### Arguments

* `type="stateless"`: `stateless` for an interface that is called once, `stateful` for one with an environment behind it.
* `count=5`: number of tasks wanted, 1 to 100.
* `batch=5`: number of tasks per request, 1 to 20.
* `calls=3`: maximum number of requests per batch, 1 to 10. Tasks still missing afterwards are left out.
* `examples=5`: number of example tasks, 0 to 10.
* `language="en"`: language of the texts and of the tasks, `en` or `zh`.
* `obs_type="text"`: texts are the only form.
* `render_mode=None`: `ansi` or `human`.

### Observation Space

`rules` (the same at every turn) and `text`: the present request, the examples, the names of the tasks accepted up to now, and
the refused ones of the last reply with reasons. Everything that the creator wrote is quoted.

### Action Space

Text: a JSON list of objects with `name`, `description` and `request_type`; single objects and ones within other text are read
too. A reply without tasks is refused; its fallback is an empty task, which is counted as such.

### Rewards

At the end the share of the requested tasks that were accepted, 0 to 1. An illegal action ends the match with -1.

### Infos

Numbers: `stateful` (0 or 1), `calls`, `drafted` (tasks in all replies), `accepted`, `surplus` (good ones beyond the requested
number), and the refused ones by reason: `refused_incomplete`, `refused_short`, `refused_long`, `refused_example`,
`refused_repeated`.

### Episode End

When the last batch is complete or was requested `calls` times: after at most `calls` turns per batch; or by an illegal action.

### Version History

* v0: Initial version
"""

from typing import Any, ClassVar

from benchmarks.simulbench.task_creation.game import Creation
from benchmarks.simulbench.task_creation.text import CreationCodec
from llmarena_envs.core.declaration import Declaration
from llmarena_envs.core.order import order_checked
from llmarena_envs.core.text_env import TextEnv
from llmarena_envs.simulation.tasks import STATELESS


class raw_env(TextEnv):
    """A task creator's work as an AEC environment; arguments as in the module docstring."""

    metadata: ClassVar[dict[str, Any]] = {
        "name": "task_creation_v0",
        "render_modes": ["ansi", "human"],
        "render_fps": 1,
        "is_parallelizable": False,
    }
    declaration: ClassVar[Declaration] = Declaration(scheme="self_play", unparsable="noop", illegal="noop")
    obs_types: ClassVar[tuple[str, ...]] = ("text",)
    action_examples: ClassVar[tuple[str, ...]] = (
        '[{"name": "Counter", "description": "Count the letters of each word I send. First request: ice", '
        '"request_type": "a word"}]',
        '[{"name": "Clock", "description": "Be a clock that I set. First request: 12:00", "request_type": "a time"}]',
    )

    def __init__(
        self,
        *,
        type: str = STATELESS,
        count: int = 5,
        batch: int = 5,
        calls: int = 3,
        examples: int = 5,
        language: str = "en",
        obs_type: str = "text",
        render_mode: str | None = None,
    ) -> None:
        game = Creation(type=type, count=count, batch=batch, calls=calls, examples=examples, language=language)
        super().__init__(game, CreationCodec(language), obs_type=obs_type, render_mode=render_mode)


env = order_checked(raw_env)
