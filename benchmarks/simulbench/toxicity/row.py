"""Toxicity of the tasks and of the scripts, as means of six attributes (SimulBench, arXiv 2409.07641, Table 3).

No matches are played. Texts are scored by a user function, ``--scorer module:function``, from a list of texts to
the six attributes of each as numbers from 0 to 1, by name; by default by a small lexicon.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from benchmarks.experiments.functions import find_function
from benchmarks.experiments.published import load_published
from benchmarks.experiments.row import Result, Row, RowOptions
from benchmarks.experiments.runs import PlayedRun
from benchmarks.experiments.tables import MEASURED, PUBLISHED, Cell, Column, Table
from benchmarks.options import option
from benchmarks.simulbench.inputs import read_scripts, read_tasks, refusal_notes
from benchmarks.simulbench.toxicity.lexicon import ATTRIBUTES, TOXICITY, score_by_lexicon
from llmarena_envs.core.options import OptionError
from rating.config.run_file import RunConfig
from rating.stats.estimates import Estimate, bounded_mean

TASK, SCRIPT = "task", "script"
_PRINTED = {TASK: "Simulation Task", SCRIPT: "Testing Script"}

Scores = Mapping[str, float]
"""The attributes of a text, 0 to 1 by name."""


@dataclass(frozen=True, kw_only=True)
class Options(RowOptions):
    """Options of the row."""

    scripts: str = option("", "file of scripts (default: those that come with the package)")
    tasks: str = option("", "file of tasks (default: those that come with the package)")
    scorer: str = option("", "module:function from texts to six attributes each (default: a small lexicon)")


class Text(NamedTuple):
    """A scored text.

    Attributes:
        kind: ``TASK`` or ``SCRIPT``.
        id: its name in its file.
        task: the id of its task, the cluster of intervals.
        text: a task's description, or all messages of a script.
    """

    kind: str
    id: str
    task: str
    text: str


def plan(options: Options) -> dict[str, RunConfig]:
    """Checks the options and returns no runs."""
    find_scorer(options.scorer)
    read_texts(options)
    return {}


def measure(runs: Mapping[str, PlayedRun], options: Options) -> Result:
    """Returns the means of tasks and scripts beside the published ones, and the scores of every text.

    Raises:
        OptionError: if the scorer returns invalid scores.
    """
    texts = read_texts(options)
    scores = scored([text.text for text in texts], find_scorer(options.scorer), options.scorer)
    return Result(
        [mean_table(texts, scores), highest_table(texts, scores)],
        notes=[
            f"scored by {options.scorer}"
            if options.scorer
            else "scored by the built-in lexicon: the share of sentences with a coarse word. This is a smoke test: nearly all"
            " texts of the package score 0. To measure toxicity, pass --scorer module:function, a function from a"
            " list of texts to six numbers from 0 to 1 each, such as a classifier",
            *refusal_notes(read_scripts(options.scripts, options.tasks, options.language)),
        ],
        files={"scores.jsonl": score_lines(texts, scores)},
    )


def find_scorer(spec: str) -> Callable[[Sequence[str]], Any]:
    """Returns the function that scores texts; by default the lexicon's.

    Raises:
        OptionError: if it does not exist.
    """
    return find_function("scorer", spec) if spec else score_by_lexicon


def read_texts(options: Options) -> list[Text]:
    """Returns the texts of tasks and scripts."""
    tasks = [
        Text(TASK, task.id, task.id, task.task_description) for task in read_tasks(options.tasks, options.language).rows
    ]
    scripts = [
        Text(SCRIPT, script.id, script.source_id, "\n".join(message.content for message in script.dialogue_history))
        for script, _, _ in read_scripts(options.scripts, options.tasks, options.language).rows
    ]
    return [*tasks, *scripts]


def scored(texts: Sequence[str], scorer: Callable[[Sequence[str]], Any], name: str) -> list[Scores]:
    """Returns a scorer's checked scores of every text.

    Args:
        texts: the texts.
        scorer: from a list of texts to as many mappings.
        name: of the scorer, for errors.

    Raises:
        OptionError: if it returns anything else; the message gives the number of the text, from 1.
    """
    try:
        given = list(scorer(list(texts)))
    except Exception as error:  # any error of the user's function
        raise OptionError(f"scorer: {name} failed: {type(error).__name__}: {error}") from error
    if len(given) != len(texts):
        raise OptionError(f"scorer: expected {name} to return scores for each of {len(texts)} texts, got {len(given)}")
    return [_checked(each, f"scorer: {name}, text {number}") for number, each in enumerate(given, start=1)]


def _checked(given: Any, where: str) -> Scores:
    if not isinstance(given, Mapping):
        raise OptionError(f"{where}: expected a mapping of {', '.join(ATTRIBUTES)}, got {given!r:.80}")
    names = {" ".join(str(name).lower().replace("_", " ").split()): value for name, value in given.items()}
    scores = {}
    for attribute in ATTRIBUTES:
        try:
            value = float(names.get(attribute, math.nan))
        except (TypeError, ValueError):
            value = math.nan
        if not 0 <= value <= 1:
            raise OptionError(
                f"{where}: expected {attribute!r} as a number from 0 to 1, got {names.get(attribute)!r:.80} among"
                f" {', '.join(sorted(names)) or 'nothing'}"
            )
        scores[attribute] = value
    return scores


def mean_of(texts: Sequence[Text], scores: Sequence[Scores], kind: str, attribute: str) -> Estimate | None:
    """Returns the mean of an attribute over all texts of a kind."""
    own = [(each[attribute], text.task) for text, each in zip(texts, scores, strict=True) if text.kind == kind]
    return bounded_mean([value for value, _ in own], [task for _, task in own])


def mean_table(texts: Sequence[Text], scores: Sequence[Scores]) -> Table:
    """Returns the means of tasks and scripts beside the published ones."""
    published = load_published("benchmarks.simulbench")["T3"]
    rows: list[list[Cell]] = []
    for index, attribute in enumerate(ATTRIBUTES):
        row: list[Cell] = [attribute]
        for kind, printed in _PRINTED.items():
            row += [published.rows[printed][index], mean_of(texts, scores, kind, attribute)]
        rows.append(row)
    return Table(
        "means",
        "mean scores of tasks and scripts, 0 to 1",
        [
            Column("attribute"),
            *(
                Column(title, source, 4 if source == MEASURED else 2)
                for title in ("tasks", "scripts")
                for source in (PUBLISHED, MEASURED)
            ),
        ],
        rows,
        [
            *published.notes,
            f"published: {published.source}, of the paper's own tasks and scripts, by another scorer; measured: those of the"
            " options",
            "a task is scored by its description, a script by all that is said in it; intervals of scripts are clustered by task",
        ],
    )


def highest_table(texts: Sequence[Text], scores: Sequence[Scores], most: int = 10) -> Table:
    """Returns the most toxic texts with a toxicity above zero, highest first."""
    found = [(each, text) for text, each in zip(texts, scores, strict=True) if each[TOXICITY] > 0]
    found.sort(key=lambda pair: (-pair[0][TOXICITY], pair[1].kind, pair[1].id))
    return Table.of(
        "highest",
        "the most toxic texts",
        [
            {
                Column("text"): text.kind,
                Column("id"): text.id,
                **{Column(attribute, MEASURED, 4): each[attribute] for attribute in ATTRIBUTES},
            }
            for each, text in found[:most]
        ],
        [f"{len(found)} of {len(texts)} texts have a toxicity above 0"],
    )


def score_lines(texts: Sequence[Text], scores: Sequence[Scores]) -> str:
    """Returns the scores of every text as JSON lines."""
    lines = [
        json.dumps({"text": text.kind, "id": text.id, "task": text.task, **each}, ensure_ascii=False)
        for text, each in zip(texts, scores, strict=True)
    ]
    return "".join(f"{line}\n" for line in lines)


def precision(options: Options) -> str:
    """Returns the number of texts."""
    kinds = [text.kind for text in read_texts(options)]
    return f"n = {kinds.count(TASK)} tasks and {kinds.count(SCRIPT)} scripts"


ROW = Row(
    title="toxicity of tasks and scripts: means of six attributes",
    source="SimulBench, Table 3",
    options=Options,
    plan=plan,
    measure=measure,
    precision=precision,
    shows="It shows how toxic tasks and scripts are by a scorer, on average and which ones most.",
    does_not_show=(
        "Offline it is a smoke test of the pipeline: the built-in lexicon counts coarse words, of which tasks and scripts of the"
        " package have next to none. Toxicity is measured with --scorer module:function, e.g. a classifier."
    ),
)
