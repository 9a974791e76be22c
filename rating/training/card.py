"""Data set cards, in the format of ``datasets`` and the Hugging Face hub."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rating.training.parquet import Written
from rating.training.selection import Tally

_LANGUAGE = re.compile("[a-z]{2,3}")
_PLAIN = re.compile(r"[\w .,:;=/+()-]", re.ASCII)
"""Characters without a meaning in Markdown, anywhere in a line."""


@dataclass(frozen=True)
class Card:
    """The content of a card.

    Attributes:
        format: name of the format.
        columns: columns of a row, with their types.
        written: number of rows, and their size.
        tally: matches used and left out.
        options: export options by name.
        run: facts of the run by name: digest, seal, versions.
        sources: data sources by environment: version and licence by name.
        settings: invalid-reply policy by environment.
    """

    format: str
    columns: Mapping[str, Any]
    written: Written
    tally: Tally
    options: Mapping[str, Any]
    run: Mapping[str, str]
    sources: Mapping[str, Mapping[str, str]]
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def text(self) -> str:
        """Returns the card: front matter in YAML (as JSON values), and Markdown."""
        front = {
            "pretty_name": f"Matches of llmarena-envs ({self.format})",
            "license": "other",
            "language": sorted(filter(_LANGUAGE.fullmatch, self.tally.languages)),
            "task_categories": ["text-generation"],
            "tags": ["llmarena-envs", "conversational", self.format],
            "configs": [
                {"config_name": self.format, "data_files": [{"split": "train", "path": "data/train-*.parquet"}]}
            ],
            "dataset_info": {
                "config_name": self.format,
                "features": [_feature(name, kind) for name, kind in self.columns.items()],
                "splits": [{"name": "train", "num_bytes": self.written.bytes, "num_examples": self.written.rows}],
            },
        }
        lines = [f"{name}: {json.dumps(value)}" for name, value in front.items()]
        return "\n".join(["---", *lines, "---", "", *self._body()]) + "\n"

    def _body(self) -> Iterator[str]:
        yield f"# {self.written.rows} rows for training ({self.format})"
        yield ""
        yield "Written by `llmarena export` from the recorded matches of a run; `docs/training_data.md` of llmarena-envs says"
        yield "what the columns hold."
        if self.format != "deals":
            yield "Each match was played again from its record and came out the same."
        yield from _table("How it was made", ("what", "value"), [*self._options(), *self.run.items()])
        yield from _table("Matches", ("environment", "matches"), self.tally.environments.items())
        if self.tally.left_out:
            yield from _table("Left out", ("reason", "matches"), sorted(self.tally.left_out.items()))
        yield from _table("Who played", ("policy", "seats"), sorted(self.tally.policies.items()))
        bad_replies = [(name, _words(table)) for name, table in self.settings.items()]
        yield from _table("Treatment of bad replies", ("environment", "settings"), bad_replies)
        sources = [(name, source, about) for name, table in self.sources.items() for source, about in table.items()]
        if sources:
            yield from _table("Data and tools in the prompts", ("environment", "source", "version, licence"), sources)
        yield "\n## Licence\n"
        yield "Rules and prompts are texts of llmarena-envs (Apache-2.0), and of the sources above where there are any."
        yield "What a model said may be under the terms of who offers the model, some of whom do not allow training on it."

    def _options(self) -> Iterator[tuple[str, str]]:
        for name, value in self.options.items():
            yield name, json.dumps(value, ensure_ascii=False)


def _feature(name: str, kind: Any) -> dict[str, Any]:
    """Returns a column as ``datasets`` writes it in a card."""
    if isinstance(kind, list):
        items = kind[0]
        fields = [_feature(*item) for item in items.items()] if isinstance(items, dict) else items
        return {"name": name, "list": fields}
    return {"name": name, "dtype": kind}


def _words(table: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {json.dumps(value)}" for name, value in table.items())


def _table(title: str, header: tuple[str, ...], rows: Any) -> Iterator[str]:
    yield f"\n## {title}\n"
    yield "| " + " | ".join(header) + " |"
    yield "|" + "---|" * len(header)
    for row in rows:
        yield "| " + " | ".join(escaped(str(cell)) for cell in row) + " |"


def escaped(text: str) -> str:
    """Returns a text on one line, with Markdown and HTML markup escaped."""
    line = " ".join(text.split())
    return "".join(
        letter if _PLAIN.match(letter) or (ord(letter) > 0xFF and letter.isalnum()) else f"&#{ord(letter)};"
        for letter in line
    )
