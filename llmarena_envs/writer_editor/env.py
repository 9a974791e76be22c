"""# Writer and editor.

| | |
|---|---|
| Creation | `writer_editor_v0.env()` or `pettingzoo.make("aec", "llmarena/writer_editor-v0")` |
| Agents | `writer_0`, `editor_0`, `judge_0`; 0 to 9 judges by option |
| Actions | text |
| Parallel API | no |
| Manual control | `llmarena play writer_editor_v0 --policy writer_0=human --policy editor_0=fixer --policy judge_0=rubric` |
| Action values | a program in a fenced block, a review, a translation, `over`, scores as JSON |
| Observation | two texts |

One writes, the other comments or revises, until both agree or the rounds are used up; then judges score both.

With `task="code_review"` the writer is a programmer who solves a question in Python, and the editor a reviewer who comments on
correctness, clarity and efficiency; the programmer revises the program by the comments, for up to five rounds. With
`task="translation"` the writer is a translator and the editor a proofreader who polishes the translation: one pass, or more by
option. The editor ends the rounds by replying with the consensus token, `over`, alone.

Beside the judges there is an objective channel: the share of the problem's tests that the first and the last program pass, or
chrF++ and BLEU of the translation before and after polishing. It serves to check judges, and reveals a consensus on a wrong
program.

The problem or document is drawn from the seed, so a match with swapped roles on the same seed has the same
task; an option can choose it instead. The problems and documents of the package were written for this project.

Source: DeepEval (arXiv 2309.04369), sections 3.7.3 and 3.7.4, and appendix A.1.

### Arguments

* `task="code_review"`: `code_review` or `translation`.
* `tasks=None`: the tasks to draw from instead of the shipped ones: the path of a file, or a list of records in the same form;
  below.
* `number=None`: number of the task in its list, from 0; `None` draws it from the seed.
* `max_rounds=None`: maximum number of rounds, 1 to 10; `None` is 5 for code review and 1 for translation.
* `n_judges=1`: number of judges, 0 to 9. Without judges the objective channel gives the rewards; that needs a sandbox, or
  sacrebleu.
* `objective=True`: measure the first and the last text beside the judges' scores.
* `sandbox="auto"`: backend that runs the tests: `auto` for the first one that isolates programs, or a name
  ([list](../sandbox.md)). Without a backend programs are not tested, and their results are unknown. For code review only.
* `src_lang=None`: language of the source texts, a code such as `de` or a name: selects this one of several language pairs. It
  is also the language of tasks that do not name theirs. For translation only.
* `tgt_lang=None`: the same for the target language.
* `consensus_token="over"`: the editor's word for accepting a text.
* `language="en"`: language of the texts around the task, `en` or `zh`.
* `obs_type="text"`: texts are the only form.
* `render_mode=None`: `ansi`, `human` or `svg`.

### Tasks of Your Own

Problems are records in JSON lines, with the fields of MBPP (`task_id`, `text`, `code`, `test_list`, optionally
`test_setup_code`, `challenge_test_list`) or of HumanEval (`task_id`, `prompt`, `entry_point`, `canonical_solution`, `test`).
`entry_point` names the required function; without it, it is the function that `code` defines and the first test calls. Players
see the question and the name of the function, never tests or solutions. A test passes only if it can be evaluated outside of
the program ([how](../sandbox.md#how-results-come-back)); `sources()` counts the others. In code, with `pip install
'llmarena-envs[data]'`, `tasks=list(datasets.load_dataset("google-research-datasets/mbpp", split="test"))` takes them from
there.

Documents are records in JSON lines, or in a file `*.tsv` whose first line names its columns: `src`, and optionally `tgt` (a
reference), `doc_id`, `src_lang`, `tgt_lang`. Neighbouring records with the same `doc_id` are one document. Documents are split
into tasks of whole paragraphs, with at most 1,500 characters and 8 sentences.

Errors name the file and the line.

### Observation Space

`rules` (the own role, the same at every turn) and `text`: the question or source text, all earlier texts in order,
and the instruction. Players' texts, and the task itself, are quoted, with `>` before
every line, so they cannot pass for a line of the environment or a judge's verdict. Tests, solutions and
references are shown to no agent, and judges do not see each other's scores.

### Action Space

Text. A program is a fenced block: the last one in Python that defines the required function, together with blocks
that define its imports and helpers; a block that begins with an indented line continues the previous one. Without such a
block it is the last one in Python, else the last one without a language, else the last one. As in Markdown, a fence
indented by four or more spaces, e.g. in a docstring, ends no block. Without a fence, a reply with a definition is the program,
from its first line of code to its last one. A diff, in a block or without one, is refused and the whole program asked for.
Quote markers before every line of a program or translation are removed.

A review or translation is the reply itself, without reasoning, tokens of chat templates, tags, a fence or an object around the
whole, and a heading such as `Translation:`. The consensus token counts in any case, with punctuation and markup around it
(`Over.`), and only if the reply contains nothing else. A text of more than 20,000 characters, including a quote marker before
every line, is refused.

Judges reply with a JSON object, `{"Programmer": {"evaluation": "", "score": 7}, "Reviewer": {"evaluation": "", "score": 8}}`
or with `Translator` and `Proofreader`. Scores go from 1 to 10. A missing role, another number or no number is refused.
`abstain` gives no scores. Judges act at once, without seeing the others' scores.

The standard fallback is `noop`: an empty text, which is counted, or an abstention.

### Rewards

At the end the mean of the judges' scores for the own role, 1 to 10; judges receive 0. If all judges abstained the
match has no result: it is counted and not rated. Without judges the writer receives 10 times the share of the tests that its
last program passes (chrF++ of its last translation, divided by 10), and the editor the same for the last program (the polished
translation). An illegal action ends the match: the offender receives -1, all others 0.

### Infos

Numbers: `rounds`; and, -1 before the end or if unknown: `task` (number of the task in its list), `consensus` (0 or
1), `length` (characters of the own last text), `empty` (own texts that were empty), `abstentions` (judges who abstained, or
for a judge whether it did), `spread` (standard deviation of the scores of the own role), for a judge `score_writer` and
`score_editor`; and with `objective` for code review `pass_first` and `pass_last` (0 to 1), for translation `chrf_first`,
`chrf_last`, `bleu_first`, `bleu_last` (0 to 100). The test results need a sandbox, chrF++ and BLEU
need sacrebleu: `pip install 'llmarena-envs[text]'`.

### Episode End

When the last judge has acted: after at most 2 * max_rounds + n_judges turns, 11 for code review and 3 for translation; or by an
illegal action.

### Version History

* v0: Initial version
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from llmarena_envs.core.declaration import Declaration, Truth, Verdicts
from llmarena_envs.core.options import OptionError, check_bool, check_choice, check_int
from llmarena_envs.core.order import order_checked
from llmarena_envs.core.prompts import Prompts
from llmarena_envs.core.source import Source
from llmarena_envs.core.text_env import Language, ObsType, RenderMode, TextEnv
from llmarena_envs.core.transcript import Scene
from llmarena_envs.sandbox import BACKENDS
from llmarena_envs.writer_editor import text_metrics
from llmarena_envs.writer_editor.document_files import MAX_LANGUAGE
from llmarena_envs.writer_editor.drawing import WriterEditorDrawing
from llmarena_envs.writer_editor.game import CHANNELS, CODE_REVIEW, TASKS, WriterEditor
from llmarena_envs.writer_editor.grammar import NAMES
from llmarena_envs.writer_editor.objective import Measure
from llmarena_envs.writer_editor.pass_rate import AUTO, find_pass_rate, sandbox_source
from llmarena_envs.writer_editor.task_types import Document, Problem
from llmarena_envs.writer_editor.tasks import Languages, Tasks, load_documents, load_problems, task_source
from llmarena_envs.writer_editor.text import WriterEditorCodec
from llmarena_envs.writer_editor.transcript import transcript

_ROUNDS = {"code_review": 5, "translation": 1}
_MAX_TOKEN = 40


class raw_env(TextEnv):
    """Writer and editor as an AEC environment; arguments as in the module's documentation."""

    game: WriterEditor
    metadata: ClassVar[dict[str, Any]] = {
        "name": "writer_editor_v0",
        "render_modes": ["ansi", "human", "svg"],
        "render_fps": 1,
        "is_parallelizable": False,
    }
    declaration: ClassVar[Declaration] = Declaration(
        scheme="roles",
        channels=CHANNELS,
        rated_roles=("writer", "editor"),
        results="scores",
        verdicts=Verdicts(first="", final="", side="", score="score_writer"),
        truths=(Truth("tests", "pass_last", "writer"), Truth("chrF++", "chrf_first", "writer", best=100.0)),
        abilities=("communication", "team collaboration"),
        history="single_turn",
        unparsable="noop",
        illegal="noop",
        files={"tasks": ()},
    )
    obs_types: ClassVar[tuple[str, ...]] = ("text",)
    # All hold a program, a text and a judgement; the role selects one.
    action_examples: ClassVar[tuple[str, ...]] = tuple(
        f"```python\ndef example():\n    return {score}\n```\n"
        + json.dumps({name: {"evaluation": "an example", "score": score} for names in NAMES.values() for name in names})
        for score in range(1, 11)
    )

    def __init__(
        self,
        *,
        task: Literal["code_review", "translation"] = "code_review",
        tasks: Tasks = None,
        number: int | None = None,
        max_rounds: int | None = None,
        n_judges: int = 1,
        objective: bool = True,
        sandbox: str = "auto",
        src_lang: str | None = None,
        tgt_lang: str | None = None,
        consensus_token: str = "over",
        language: Language = "en",
        obs_type: ObsType = "text",
        render_mode: RenderMode | None = None,
    ) -> None:
        check_choice("task", task, TASKS)
        check_bool("objective", objective)
        check_int("n_judges", n_judges, 0, 9)
        _check_token(consensus_token)
        check_choice("sandbox", sandbox, (AUTO, *BACKENDS) if task == CODE_REVIEW and objective else (AUTO,))
        languages = _languages(task, src_lang, tgt_lang)
        loaded: Sequence[Problem | Document] = (
            load_problems(tasks) if task == CODE_REVIEW else load_documents(tasks, languages)
        )
        rounds = _ROUNDS[task] if max_rounds is None else max_rounds
        if number is not None:
            check_int("number", number, 0, len(loaded) - 1)
        measures = _measures(task, n_judges, loaded, sandbox) if objective else ()
        game = WriterEditor(
            task,
            loaded,
            number=number,
            max_rounds=rounds,
            n_judges=n_judges,
            consensus_token=consensus_token,
            measures=measures,
        )
        codec = WriterEditorCodec(language, task, max_rounds=rounds, consensus_token=consensus_token)
        self._source = task_source(tasks, len(loaded), "problems" if task == CODE_REVIEW else "documents")
        self._sandbox = sandbox if task == CODE_REVIEW and objective else None
        self._problems = [task for task in loaded if isinstance(task, Problem)]
        super().__init__(game, codec, obs_type=obs_type, render_mode=render_mode)

    def sources(self) -> tuple[Source, ...]:
        """Returns the source and number of the tasks, and the sandbox for programs."""
        if self._sandbox is None or find_pass_rate(self._sandbox) is None:
            return (self._source,)
        return self._source, sandbox_source(self._sandbox, self._problems)

    def make_drawing(self) -> WriterEditorDrawing:
        """Returns the drawing of texts and scores."""
        return WriterEditorDrawing(self.codec.language, self.game)

    def transcript(self) -> tuple[Scene, ...]:
        """Returns the task, all texts, and the scores with their reasons."""
        return transcript(self.game, Prompts("llmarena_envs.writer_editor", self.codec.language))

    @classmethod
    def transcript_options(cls, options: Mapping[str, Any]) -> Mapping[str, Any]:
        """Returns the options without running programs or computing measures that do not affect rewards.

        Without judges, one judge replaces the tests.
        """
        if options.get("task", CODE_REVIEW) != CODE_REVIEW and not options.get("n_judges", 1):
            return options  # text comparison determines the result
        left_out = {"objective": False, "sandbox": AUTO}
        return {**options, **left_out, "n_judges": options.get("n_judges", 1) or 1}

    @classmethod
    def replaying_options(cls, options: Mapping[str, Any]) -> Mapping[str, Any]:
        """Returns the options with the first isolating sandbox of this machine."""
        return {**options, "sandbox": AUTO} if "sandbox" in options else options

    def lacks_sandbox(self) -> bool:
        """Returns whether programs are untested for lack of an isolating sandbox."""
        return self._sandbox is not None and find_pass_rate(self._sandbox) is None


def _check_token(token: object) -> None:
    if not isinstance(token, str) or len(token) > _MAX_TOKEN or not re.fullmatch(r"[^\W_]+(?:[ _-][^\W_]+)*", token):
        raise OptionError(f"consensus_token: expected a word of at most {_MAX_TOKEN} letters, got {token!r:.80}")


def _languages(task: str, src_lang: object, tgt_lang: object) -> Languages:
    for name, language in (("src_lang", src_lang), ("tgt_lang", tgt_lang)):
        if language is None:
            continue
        if task == CODE_REVIEW:
            raise OptionError(f"{name}: expected None for code review, which translates nothing, got {language!r:.80}")
        if not isinstance(language, str) or not language.isprintable() or not 0 < len(language.strip()) <= MAX_LANGUAGE:
            raise OptionError(
                f"{name}: expected a language such as 'de', of at most {MAX_LANGUAGE} characters, got {language!r:.80}"
            )
    return Languages(" ".join(str(src_lang or "").split()), " ".join(str(tgt_lang or "").split()))


def _measures(task: str, n_judges: int, tasks: Sequence[Problem | Document], sandbox: str) -> tuple[Measure, ...]:
    """Returns the measures; at least one is required without judges.

    Raises:
        OptionError: if there are no judges and no measure or reference is available.
    """
    if task == CODE_REVIEW:
        pass_rate = find_pass_rate(sandbox)
        if not n_judges and pass_rate is None:
            raise OptionError(
                "n_judges: 0 needs a sandbox in which programs are tested, and there is none on this machine; "
                "python -m llmarena_envs.sandbox says what is missing"
            )
        return (Measure("pass", 1.0, pass_rate or _unknown),)
    if not n_judges and not text_metrics.has_text_metrics():
        raise OptionError("n_judges: 0 needs sacrebleu, which is not installed: pip install 'llmarena-envs[text]'")
    without = [document.doc_id for document in tasks if isinstance(document, Document) and not document.tgt]
    if not n_judges and without:
        raise OptionError(f"n_judges: 0 needs a reference (tgt) for every document; {without[0]!r} has none")
    best = text_metrics.BEST
    return Measure("chrf", best, text_metrics.chrf), Measure("bleu", best, text_metrics.bleu)


def _unknown(program: str, problem: Problem) -> None:
    """Replaces a pass rate without a sandbox."""


env = order_checked(raw_env)
