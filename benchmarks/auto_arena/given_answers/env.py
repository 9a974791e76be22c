"""# Given answers.

| | |
|---|---|
| Creation | `benchmarks.auto_arena.given_answers.env.env()` |
| Agents | `debater_0`, `debater_1`, who never act; `judge_0` to `judge_4`, 0 to 9 by option |
| Actions | text |
| Parallel API | no |
| Manual control | `llmarena play benchmarks.auto_arena.given_answers.env` with a `--policy` for each agent |
| Action values | `[[A]]`, `[[B]]`, `[[Tie]]` |
| Observation | two texts, and whether the turn needs no history |

A committee judges the first answers of a debate that was played elsewhere: the end of `debate_v0` with `judge_initial_only`
and both answers given. It shows the judges' verdicts on first answers of existing debates.

Source: Auto-Arena (arXiv 2405.20267v1), sections 3.3 and 4.3.

### Arguments

* `battle=EXAMPLE`: a table of the debate: `match`, its number, without effect; `question`, `domain` and `reference`, the
  last two may be empty; `answers`, the turns of A and B with their first answers, in tags.
* `n_judges=5`, `discussion=True`, `discussion_rounds=1`, `quorum=1`, `both_orders=False`, `words=None`, `counter="words"`,
  `judge_sees_think=True`, `language="en"`: as in `debate_v0`.
* `obs_type="text"`: texts are the only form.
* `render_mode=None`: `ansi` or `human`.

### Observation Space, Action Space, Rewards, Infos

As in `debate_v0`.

### Episode End

When the judges have given their last verdicts, or by an illegal action.

### Version History

* v0: Initial version
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from llmarena_envs.core.declaration import Declaration
from llmarena_envs.core.options import OptionError
from llmarena_envs.core.order import order_checked
from llmarena_envs.core.text_env import MAX_ACTION_TEXT, Language, ObsType, RenderMode
from llmarena_envs.debate import env as debate

EXAMPLE: Mapping[str, Any] = {
    "match": 0,
    "question": "What is a bridge for?",
    "domain": "",
    "reference": "",
    "answers": ["<respond>To cross what is below it.</respond>", "<respond>For traffic.</respond>"],
}


class raw_env(debate.raw_env):
    """Judging of given answers as an AEC environment; arguments as in the module docstring."""

    metadata: ClassVar[dict[str, Any]] = {**debate.raw_env.metadata, "name": "given_answers_v0"}
    declaration: ClassVar[Declaration] = Declaration(
        scheme="self_play",
        rated_roles=("debater",),
        verdicts=debate.raw_env.declaration.verdicts,
        channels=debate.raw_env.declaration.channels,
        history=debate.raw_env.declaration.history,
        unparsable="noop",
        illegal="noop",
    )

    def __init__(
        self,
        *,
        battle: Mapping[str, Any] = EXAMPLE,
        n_judges: int = 5,
        discussion: bool = True,
        discussion_rounds: int = 1,
        quorum: int = 1,
        both_orders: bool = False,
        words: int | None = None,
        counter: Literal["words", "tiktoken"] = "words",
        judge_sees_think: bool = True,
        language: Language = "en",
        obs_type: ObsType = "text",
        render_mode: RenderMode | None = None,
    ) -> None:
        self._answers = _answers(battle)
        super().__init__(
            question=battle["question"],
            domain=battle["domain"] or None,
            reference=battle["reference"] or None,
            n_judges=n_judges,
            discussion=discussion,
            discussion_rounds=discussion_rounds,
            quorum=quorum,
            both_orders=both_orders,
            words=words,
            counter=counter,
            judge_sees_think=judge_sees_think,
            judge_initial_only=True,
            language=language,
            obs_type=obs_type,
            render_mode=render_mode,
        )

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begins a new match after both answers."""
        super().reset(seed, options)
        for answer in self._answers:
            self.step(answer)


def _answers(battle: object) -> tuple[str, ...]:
    if not isinstance(battle, Mapping) or not EXAMPLE.keys() <= battle.keys():
        raise OptionError(f"battle: expected a table of {', '.join(EXAMPLE)}, got {battle!r:.80}")
    answers = battle["answers"]
    texts = [text for text in answers if isinstance(text, str) and 0 < len(text) <= MAX_ACTION_TEXT]
    if not isinstance(answers, Sequence) or len(texts) != 2 or len(answers) != 2:
        raise OptionError(f"battle: expected two texts as answers, got {answers!r:.80}")
    return tuple(texts)


env = order_checked(raw_env)
