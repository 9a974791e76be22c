"""Translation: translators and proofreaders, scored by judges, with references beside (DeepEval, arXiv 2309.04369, Tables 4-6).

Every pair of policies has both roles on the same documents, one pass each. The paper's documents are not published; the packaged
ones are the project's own, others can be given with ``--tasks``. With references, the tables also give chrF++ and BLEU of the
raw and of the polished text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from benchmarks.deepeval import matrices
from benchmarks.deepeval.judged import (
    TASKS,
    JudgedMatch,
    JudgedOptions,
    check_task,
    describe_size,
    judged_matches,
    known,
    plan_tasks,
)
from benchmarks.deepeval.judges import accuracy_picture, judge_notes, judge_tables, judges_of
from benchmarks.deepeval.matrices import Names, policies
from benchmarks.deepeval.pool import TRANSLATION
from benchmarks.experiments.published import load_published
from benchmarks.experiments.row import Result, Row
from benchmarks.experiments.runs import PlayedRun
from benchmarks.experiments.tables import MEASURED, Cell, Column, Table
from llmarena_envs.writer_editor.text_metrics import has_text_metrics
from rating.config.run_file import RunConfig
from rating.stats.estimates import Estimate, mean_estimate

NAMES = Names("translator", "proofreader")
METRICS = {"chrf": "chrF++", "bleu": "BLEU"}


@dataclass(frozen=True)
class Languages:
    """The languages of a row.

    Attributes:
        source: code of the language of the source texts.
        target: code of the language of the translations.
        title: both in words.
        published: key of the published figures.
        place: their place in the paper.
    """

    source: str
    target: str
    title: str
    published: str
    place: str

    @property
    def task(self) -> dict[str, str]:
        """The options of the environment."""
        return {"task": "translation", "src_lang": self.source, "tgt_lang": self.target}


def plan(languages: Languages, options: JudgedOptions) -> dict[str, RunConfig]:
    """Returns the run of all pairs."""
    return plan_tasks(options, TRANSLATION, languages.task)


def measure(languages: Languages, runs: Mapping[str, PlayedRun], options: JudgedOptions) -> Result:
    """Returns scores in both roles, the comparison with references, and the quality of the judges."""
    run = runs[TASKS]
    check_task(run, TRANSLATION, languages.task)
    matches = judged_matches(run, TRANSLATION)
    published = load_published("benchmarks.deepeval")
    tables = [
        *matrices.score_tables(
            matches,
            NAMES,
            published[languages.published],
            published[f"{languages.published}_means"],
            options.published_as(),
        ),
        *(reference_table(matches, role) for role in ("writer", "editor")),
        matrices.count_table(run, TRANSLATION, matches),
        *judge_tables(
            matches,
            NAMES,
            truth,
            length,
            [
                "what is known: chrF++ against the reference, of the first text for the translator and of the last one for the"
                " proofreader; a good translation may be unlike the reference",
                "length: characters of the role's last text",
            ],
        ),
    ]
    figures = {"scores": matrices.mean_picture(matches, NAMES), **accuracy_picture(matches, NAMES, truth)}
    notes = judge_notes(judges_of(matches), policies(matches))
    if all(truth(match, "writer") is None for match in matches):
        notes.append(
            "nothing was compared with references: "
            + (
                "the documents have none"
                if has_text_metrics()
                else "sacrebleu was not installed when this was played; pip install 'llmarena-envs[text]' and play again"
            )
        )
    return Result(tables, figures, notes)


def truth(match: JudgedMatch, role: str) -> float | None:
    """Returns chrF++ of the raw translation, or for the editor chrF++ of the polished one."""
    return metric(match, "chrf", "first" if role == "writer" else "last")


def length(match: JudgedMatch, role: str) -> float:
    """Returns the length of a role's text."""
    return match.seat(role).statistics["length"]


def metric(match: JudgedMatch, name: str, which: str) -> float | None:
    """Returns chrF++ or BLEU of the first or the last text, or ``None`` if it is unknown."""
    return None if match.is_forfeited else known(match.writer, f"{name}_{which}")


def mean_metric(matches: Sequence[JudgedMatch], name: str, which: str) -> Estimate | None:
    """Returns the mean of a metric over the texts with references; ``change`` is last minus first."""
    pairs = [(metric(match, name, "first"), metric(match, name, "last"), match.task) for match in matches]
    values = {
        "first": [(first, task) for first, _, task in pairs if first is not None],
        "last": [(last, task) for _, last, task in pairs if last is not None],
        "change": [(last - first, task) for first, last, task in pairs if first is not None and last is not None],
    }[which]
    least = -100 if which == "change" else 0
    return mean_estimate([value for value, _ in values], [task for _, task in values], scale=(least, 100))


def reference_table(matches: Sequence[JudgedMatch], role: str) -> Table:
    """Returns chrF++ and BLEU of raw and polished texts, by the policy in a role."""
    rows: list[list[Cell]] = []
    for policy in policies(matches):
        own = [match for match in matches if match.seat(role).policy == policy]
        rows.append(
            [policy, *(mean_metric(own, name, which) for name in METRICS for which in ("first", "last", "change"))]
        )
    return Table(
        f"references-{NAMES.of(role)}s",
        f"likeness to references, by {NAMES.of(role)}",
        [
            Column(NAMES.of(role)),
            *(
                Column(f"{title}, {text}", MEASURED, 1)
                for title in METRICS.values()
                for text in ("raw text", "polished text", "change")
            ),
        ],
        rows,
        [
            "raw: the translator's first text; polished: what came of the match",
            "chrF++ and BLEU go from 0 to 100, are computed by sacrebleu for each text, and averaged over texts (BLEU smoothed,"
            " which is not corpus BLEU)",
            matrices.CLUSTERED,
        ],
    )


def precision(languages: Languages, options: JudgedOptions) -> str:
    """Returns the planned number of cases."""
    return describe_size(plan(languages, options)[TASKS], TRANSLATION)


def make_row(languages: Languages) -> Row[JudgedOptions]:
    """Returns the row of a pair of languages."""
    return Row(
        title=f"translation, {languages.title}: scores in both roles, chrF++ and BLEU, and what the judges are worth",
        source=f"DeepEval, {languages.place}",
        options=JudgedOptions,
        plan=partial(plan, languages),
        measure=partial(measure, languages),
        precision=partial(precision, languages),
        shows=(
            "It shows how judges score every pair in both roles, whether proofreading brings texts nearer to the references, and"
            " whether the judges' scores follow these."
        ),
        does_not_show=(
            "It does not show how good a translation is where only judges say so: read the scores with the table on judges. The"
            " scripted players know the shipped references, by_length is a judge that looks at nothing but length, and the"
            " paper's documents are not these."
        ),
        any_manner=True,
    )


GERMAN_ENGLISH = make_row(Languages("de", "en", "German to English", "T4_translation_DE-EN", "Table 4"))
ENGLISH_FRENCH = make_row(Languages("en", "fr", "English to French", "T5_translation_EN-FR", "Table 5"))
ENGLISH_CHINESE = make_row(Languages("en", "zh", "English to Chinese", "T6_translation_EN-ZH", "Table 6"))
