"""Search of questions in a corpus: as pieces of 50 characters, or by similar passages.

A question occurs in the corpus if one of three pieces of 50 characters, drawn from its letters and digits, is in the
letters and digits of a passage; a question with fewer characters is searched as a whole. It resembles a passage if the cosine
of their embeddings is at least 0.8. Both searches take time linear in the size of the corpus.

Source: Auto-Arena (arXiv 2405.20267v4, appendix C), which tests generated questions in this way; the pieces as in the report on
GPT-4 (arXiv 2303.08774, appendix C).
"""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from llmarena_envs.core.options import OptionError
from llmarena_envs.core.similarity import essence
from llmarena_envs.debate.questions import Question

JSON_LINES = (".jsonl", ".ndjson")
"""Suffixes of files of JSON lines."""

PIECE = 50
SAMPLES = 3
SHORTEST = 20
"""Minimum number of letters and digits of a searched question; shorter ones match by chance."""

SIMILAR = 0.8
LONGEST_PASSAGE = 2_000
"""Maximum number of characters of an embedded passage; longer ones are split."""

_AT_ONCE = 1024
_DIMENSIONS = 2048
_NGRAM = 3

Embedder = Callable[[Sequence[str]], Any]
"""A function from texts to a vector for each: lists of numbers, or an array with a row for each text."""


class Passage(NamedTuple):
    """A part of the corpus.

    Attributes:
        where: file and line.
        text: the text.
    """

    where: str
    text: str


class Match(NamedTuple):
    """A match of a question in the corpus.

    Attributes:
        question: its number.
        where: file and line.
        text: the matching piece, or the beginning of the similar passage.
        similarity: cosine of both; 1 for a piece.
    """

    question: int
    where: str
    text: str
    similarity: float


def read_corpus(path: Path) -> Iterator[Passage]:
    """Yields the passages of a file, or of all files below a directory in the order of their names.

    In a file of JSON lines every text in a line is a passage, in any other file every paragraph. Invalid UTF-8 bytes are skipped.

    Raises:
        OptionError: if the file does not exist, or cannot be read.
    """
    files = sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]
    if not files:
        raise OptionError(f"corpus: expected files in {str(path)!r}, got none")
    for file in files:
        try:
            yield from _passages(file)
        except OSError as error:
            raise OptionError(f"corpus: cannot read {str(file)!r}: {error}") from error


def _passages(file: Path) -> Iterator[Passage]:
    with file.open(encoding="utf-8", errors="replace") as lines:
        if file.suffix.lower() in JSON_LINES:
            for number, line in enumerate(lines, start=1):
                yield from (Passage(f"{file}, line {number}", text) for text in _texts(line) if text.strip())
            return
        held: list[str] = []
        start = 1
        for number, line in enumerate(lines, start=1):
            if line.strip():
                start = start if held else number
                held.append(line)
            elif held:
                yield Passage(f"{file}, line {start}", "".join(held))
                held = []
        if held:
            yield Passage(f"{file}, line {start}", "".join(held))


def _texts(line: str) -> Iterator[str]:
    """Yields the texts of a line of JSON, or the line itself if it is not JSON."""
    try:
        waiting = [json.loads(line)]
    except (ValueError, RecursionError):
        yield line
        return
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, Mapping):
            waiting += list(value.values())[::-1]
        elif isinstance(value, list):
            waiting += value[::-1]


def draw_pieces(questions: Sequence[Question], seed: int) -> list[tuple[str, ...]]:
    """Returns the pieces of each question to search; too short questions have none."""
    rng = np.random.default_rng(seed)
    drawn: list[tuple[str, ...]] = []
    for question in questions:
        plain = essence(question.text)
        starts = rng.integers(max(1, len(plain) - PIECE + 1), size=SAMPLES).tolist()
        drawn.append(
            tuple(dict.fromkeys(plain[start : start + PIECE] for start in starts)) if len(plain) >= SHORTEST else ()
        )
    return drawn


def find_pieces(pieces: Sequence[Sequence[str]], corpus: Iterable[Passage]) -> list[Match]:
    """Returns the first match of each question with a piece in the corpus, in linear time.

    Args:
        pieces: of each question.
        corpus: the passages; a piece must be within one passage.
    """
    by_beginning: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for number, own in enumerate(pieces):
        for piece in own:
            by_beginning[piece[:SHORTEST]].append((piece, number))
    found: dict[int, Match] = {}
    for passage in corpus:
        text = essence(passage.text)
        for start in range(len(text) - SHORTEST + 1):
            for piece, number in by_beginning.get(text[start : start + SHORTEST], ()):
                if number not in found and text.startswith(piece, start):
                    found[number] = Match(number, passage.where, piece, 1.0)
    return [found[number] for number in sorted(found)]


def find_similar(questions: Sequence[Question], corpus: Iterable[Passage], embed: Embedder) -> list[Match]:
    """Returns the most similar passage for each question, with any cosine.

    Args:
        questions: the questions.
        corpus: the passages.
        embed: the embedder.

    Raises:
        OptionError: if the embedder does not return a vector of finite numbers for each text, all of equal length.
    """
    wanted = _unit_vectors(embed, [question.text for question in questions])
    best = np.full(len(questions), -np.inf)
    where: list[Passage | None] = [None] * len(questions)
    parts = _parts(corpus)
    while batch := list(islice(parts, _AT_ONCE)):
        vectors = _unit_vectors(embed, [passage.text for passage in batch])
        if vectors.shape[1] != wanted.shape[1]:
            raise OptionError(
                f"embedder: expected vectors of {wanted.shape[1]} numbers throughout, got {vectors.shape[1]}"
            )
        cosines = wanted @ vectors.T
        nearest = cosines.argmax(axis=1)
        for number, index in enumerate(nearest.tolist()):
            if cosines[number, index] > best[number]:
                best[number], where[number] = cosines[number, index], batch[index]
    return [
        Match(number, passage.where, passage.text[:200], float(best[number]))
        for number, passage in enumerate(where)
        if passage is not None
    ]


def _parts(corpus: Iterable[Passage]) -> Iterator[Passage]:
    for where, text in corpus:
        for start in range(0, len(text), LONGEST_PASSAGE):
            yield Passage(where, text[start : start + LONGEST_PASSAGE])


def _unit_vectors(embed: Embedder, texts: Sequence[str]) -> NDArray[np.float64]:
    try:
        vectors = np.asarray(embed(texts), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise OptionError(f"embedder: expected a vector of numbers for each text, but: {str(error)[:200]}") from error
    if vectors.ndim != 2 or len(vectors) != len(texts) or not np.all(np.isfinite(vectors)):
        raise OptionError(
            f"embedder: expected {len(texts)} vectors of finite numbers, got an array of the shape {vectors.shape}"
        )
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)


def ngram_vectors(texts: Sequence[str]) -> NDArray[np.float64]:
    """Returns the counts of character trigrams of each text, hashed into 2048 numbers.

    These vectors show common words, not common meaning.
    """
    vectors = np.zeros((len(texts), _DIMENSIONS))
    for row, text in zip(vectors, texts, strict=True):
        plain = " ".join(text.casefold().split())
        runs = Counter(plain[start : start + _NGRAM] for start in range(max(1, len(plain) - _NGRAM + 1)))
        for run, count in runs.items():
            row[crc32(run.encode("utf-8", "replace")) % _DIMENSIONS] += count
    return vectors
