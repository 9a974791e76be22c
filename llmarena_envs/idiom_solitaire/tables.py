"""The shipped tables of idioms, characters and pronunciations; ``research/idioms/build.py`` makes them."""

import gzip
from collections.abc import Iterator
from importlib import resources

IDIOMS = "idioms.tsv.gz"
"""Idiom, frequency, letters of its sources, and the pronunciation of its first and last character or nothing."""

SIMPLIFIED = "simplified.tsv.gz"
"""Traditional character, simplified character, and ``separate`` if the former is also a character of simplified texts."""

READINGS = "readings.tsv.gz"
"""Character or phrase, and the pronunciation of its first and last character."""


def read_table(name: str) -> Iterator[list[str]]:
    """Yields the rows of a table."""
    file = resources.files("llmarena_envs.idiom_solitaire") / "data" / name
    for line in gzip.decompress(file.read_bytes()).decode("utf-8").splitlines():
        yield line.split("\t")
