"""Contamination of questions by a possible training corpus (Auto-Arena, arXiv 2405.20267v4, appendix C).

No matches are played: questions from files are searched in the user's corpus, as pieces of 50 characters and by the similarity
of passages.
"""

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.auto_arena.corpus_search import (
    PIECE,
    SAMPLES,
    SHORTEST,
    SIMILAR,
    Embedder,
    Match,
    draw_pieces,
    find_pieces,
    find_similar,
    ngram_vectors,
    read_corpus,
)
from benchmarks.experiments.functions import find_function
from benchmarks.experiments.precision import rate_precision
from benchmarks.experiments.row import Result, Row, RowOptions
from benchmarks.experiments.runs import PlayedRun
from benchmarks.experiments.tables import MEASURED, Cells, Column, Table, percent
from benchmarks.options import option
from llmarena_envs.core.options import OptionError, check_number
from llmarena_envs.debate.questions import Question, load_questions
from llmarena_envs.debate.questions.files import BUILTIN
from rating.config.run_file import RunConfig
from rating.stats.estimates import mean_estimate, rate_estimate


@dataclass(frozen=True, kw_only=True)
class Options(RowOptions):
    """Options of the row."""

    questions: tuple[str, ...] = option((), "files of questions, e.g. of the row `questions` (default: builtin)")
    corpus: str = option("", "file or directory to look in; always needed")
    similarity: float = option(SIMILAR, "cosine from which a passage resembles a question")
    embedder: str = option("", "module:function from texts to vectors (default: counts of runs of three characters)")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("similarity", self.similarity, 0, 1)


def plan(options: Options) -> dict[str, RunConfig]:
    """Checks the options and returns no runs.

    Raises:
        OptionError: if the corpus or a named file or function does not exist.
    """
    question_files(options)
    find_embedder(options.embedder)
    if not options.corpus:
        raise OptionError("corpus: expected a file or directory to look in, got none; name it with --corpus")
    if not Path(options.corpus).exists():
        raise OptionError(f"corpus: expected a file or directory, but there is no {options.corpus!r}")
    return {}


def measure(runs: Mapping[str, PlayedRun], options: Options) -> Result:
    """Returns the share of questions in the corpus, with their places."""
    files = question_files(options)
    questions = list(itertools.chain(*files.values()))
    pieces = draw_pieces(questions, options.seed)
    corpus, embedder = Path(options.corpus), find_embedder(options.embedder)
    found = {match.question: match for match in find_pieces(pieces, read_corpus(corpus))}
    nearest = {match.question: match for match in find_similar(questions, read_corpus(corpus), embedder)}
    if not nearest:
        raise OptionError(f"corpus: expected text in {options.corpus!r}, got none")
    measured = options.embedder or "counts of all runs of three characters, which is no embedding"
    return Result(
        [contamination_table(files, pieces, found, nearest, options)],
        notes=[
            f"corpus: {options.corpus}",
            f"similarity: cosine of {measured}",
        ],
        files={"found.jsonl": found_lines(files, found, nearest, options.similarity)},
    )


def question_files(options: Options) -> dict[str, tuple[Question, ...]]:
    """Returns the questions of every file, by its name.

    Raises:
        OptionError: if a file cannot be read, or is named twice.
    """
    names = options.questions or (BUILTIN,)
    if len(set(names)) < len(names):
        raise OptionError(f"questions: expected different files, got {' '.join(names)}")
    return {name: load_questions(name, options.language) for name in names}


def find_embedder(spec: str) -> Embedder:
    """Returns the embedder named by a spec; by default counts of character trigrams.

    Raises:
        OptionError: if it does not exist.
    """
    if not spec:
        return ngram_vectors
    found: Embedder = find_function("embedder", spec)
    return found


def contamination_table(
    files: Mapping[str, Sequence[Question]],
    pieces: Sequence[Sequence[str]],
    found: Mapping[int, Match],
    nearest: Mapping[int, Match],
    options: Options,
) -> Table:
    """Returns the shares of matching questions.

    Args:
        files: the questions by file.
        pieces: the searched pieces of each question, numbered through all files.
        found: matches of pieces by question.
        nearest: for each question the most similar passage.
        options: of the row.
    """
    rows: list[Cells] = []
    start = 0
    for name, questions in files.items():
        numbers = range(start, start + len(questions))
        start += len(questions)
        sought = [number for number in numbers if pieces[number]]
        similarities = [nearest[number].similarity for number in numbers]
        rows.append(
            {
                Column("questions"): name,
                Column("number"): len(numbers),
                Column(f"with a piece of {PIECE} characters in it, %", MEASURED, 1): percent(
                    rate_estimate(sum(number in found for number in sought), len(sought))
                ),
                Column(f"with a passage of similarity {options.similarity:g} or more, %", MEASURED, 1): percent(
                    rate_estimate(sum(value >= options.similarity for value in similarities), len(numbers))
                ),
                Column("similarity of the nearest passage, mean", MEASURED): mean_estimate(similarities, scale=(-1, 1)),
            }
        )
    return Table.of(
        "contamination",
        "questions that stand in the corpus",
        rows,
        [
            f"pieces: {SAMPLES} of each question, drawn by the seed, of its letters and digits; one with fewer than {PIECE}"
            f" is looked for as a whole, one with fewer than {SHORTEST} not at all",
            "what was found, and where, stands in the file whose name ends in -found.jsonl",
        ],
    )


def found_lines(
    files: Mapping[str, Sequence[Question]], found: Mapping[int, Match], nearest: Mapping[int, Match], similar: float
) -> str:
    """Returns the matches as JSON lines."""
    lines = []
    owners = [(name, question) for name, questions in files.items() for question in questions]
    for number, (name, question) in enumerate(owners):
        alike = nearest[number] if nearest[number].similarity >= similar else None
        for how, match in (("piece", found.get(number)), ("similar", alike)):
            if match:
                fields = {"questions": name, "id": question.id, "found": how, "where": match.where, "text": match.text}
                lines.append(json.dumps({**fields, "similarity": round(match.similarity, 4)}, ensure_ascii=False))
    return "".join(f"{line}\n" for line in lines)


def precision(options: Options) -> str:
    """Returns the number of questions."""
    sizes = {name: len(questions) for name, questions in question_files(options).items()}
    least = min(sizes.values())
    return f"n = {', '.join(f'{size} questions of {name}' for name, size in sizes.items())}: {rate_precision(least)}"


ROW = Row(
    title="contamination: whether questions stand in a corpus",
    source="Auto-Arena (arXiv 2405.20267v4), appendix C",
    options=Options,
    plan=plan,
    measure=measure,
    precision=precision,
    needs="corpus",
    shows="It shows which questions stand in a corpus word for word, or resemble something there.",
    does_not_show=(
        "It does not show what a model was trained on: that a question is missing in this corpus says nothing of others. Without"
        " --embedder similarity sees the same words, not the same meaning, and 0.8 is not what it is for an embedding."
    ),
)
