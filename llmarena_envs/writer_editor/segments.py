"""Splitting of documents into segments for translation."""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

MAX_CHARS = 1_500
MAX_SENTENCES = 8

_END_OF_SENTENCE = re.compile(r"[.!?…]++[\"'”’»)\]]*+(?=\s|\Z)|[。！？]++[”’」』）\"]*+")


class Unit(NamedTuple):
    """A piece of a document with its translation, empty if missing."""

    src: str
    tgt: str


def sentences(text: str) -> list[str]:
    """Returns the sentences of a text: parts that end in a full stop or the like, before a blank or, in Chinese, anything."""
    ends = [0, *(match.end() for match in _END_OF_SENTENCE.finditer(text)), len(text)]
    return [part for start, end in pairwise(ends) if (part := text[start:end].strip())]


def segment(units: Iterable[Unit], max_chars: int = MAX_CHARS, max_sentences: int = MAX_SENTENCES) -> Iterator[Unit]:
    """Yields segments of as many whole paragraphs as fit.

    A unit of multiple paragraphs is split if its translation has as many; a paragraph that does not fit is split
    into sentences on the same condition. Without a translation it is always split. Other units stay whole.

    Args:
        units: the pieces of a document in order, e.g. its paragraphs or sentences.
        max_chars: characters of the source text of a segment.
        max_sentences: sentences of the source text of a segment.
    """
    lines: list[Unit] = []
    chars = count = 0
    for paragraph in (part for unit in units for part in _paragraphs(unit)):
        for unit in _fitting(paragraph, max_chars, max_sentences):
            size, number = len(unit.src), len(sentences(unit.src))
            if lines and (chars + 1 + size > max_chars or count + number > max_sentences):
                yield _joined(lines)
                lines, chars, count = [], 0, 0
            lines.append(unit)
            chars += size + (len(lines) > 1)
            count += number
    if lines:
        yield _joined(lines)


def _joined(lines: list[Unit]) -> Unit:
    targets = [line.tgt for line in lines]
    return Unit("\n".join(line.src for line in lines), "\n".join(targets) if all(targets) else "")


def _paragraphs(unit: Unit) -> list[Unit]:
    return _aligned(unit, *([part.strip() for part in text.split("\n") if part.strip()] for text in unit))


def _fitting(unit: Unit, max_chars: int, max_sentences: int) -> list[Unit]:
    """Returns a paragraph, or its sentences joined into fitting parts."""
    parts = sentences(unit.src)
    if len(unit.src) <= max_chars and len(parts) <= max_sentences:
        return [unit]
    fitting: list[list[Unit]] = []
    chars = 0
    for sentence in _aligned(unit, parts, sentences(unit.tgt)):
        if not fitting or len(fitting[-1]) == max_sentences or chars + 1 + len(sentence.src) > max_chars:
            fitting.append([])
            chars = 0
        fitting[-1].append(sentence)
        chars += 1 + len(sentence.src)
    return [Unit(" ".join(one.src for one in part), " ".join(one.tgt for one in part).strip()) for part in fitting]


def _aligned(unit: Unit, sources: list[str], targets: list[str]) -> list[Unit]:
    if not targets:
        return [Unit(source, "") for source in sources]
    if len(sources) != len(targets):
        return [unit]
    return [Unit(*pair) for pair in zip(sources, targets, strict=True)]
