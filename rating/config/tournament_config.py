"""The table of a run file with the rules of a tournament, and the file of its initial scores."""

import csv
import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import tomlkit
from pydantic import BaseModel, ConfigDict, Discriminator, Field, FiniteFloat, Tag

from llmarena_envs.catalogue import canonical_name
from llmarena_envs.core.options import OptionError
from rating.schedules.swiss import TournamentRules
from rating.store.environments import check_file

_HEADER = ["policy", "score"]

Scores = Annotated[
    Annotated[str, Tag("path")] | Annotated[dict[str, FiniteFloat], Tag("scores")],
    Discriminator(lambda value: "path" if isinstance(value, str) else "scores"),
]
"""Initial scores, or the path of their file."""


class TournamentConfig(BaseModel):
    """The rules of a tournament, ``[environment.tournament]``; see ``rating.schedules.swiss``.

    Attributes:
        questions: number of questions per pairing.
        paired: whether each question is played from both seats.
        prior: initial scores: a table of them by policy, or the path of a CSV file with the columns ``policy`` and ``score``.
            A new run stores the scores, not the path.
        ties: ``half`` or ``drop``: how ties count in ranks, pairings and the choice of judges.
        families: further families, by the name of a policy; families of well-known models are built in.
        exclude_family: whether judges never judge their own family.
        exclude: policies that never judge.
        min_judges: minimum number of judges if there are fewer than the environment has seats for.
        newcomers: policies placed after the rounds, in this order; ``llmarena resume --add`` writes them.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    questions: Annotated[int, Field(ge=1, le=100_000)] = 40
    paired: bool = False
    prior: Scores = {}
    ties: Literal["half", "drop"] = "half"
    families: dict[str, str] = {}
    exclude_family: bool = False
    exclude: list[str] = []
    min_judges: Annotated[int, Field(ge=1)] | None = None
    newcomers: list[str] = []

    @property
    def prior_file(self) -> str:
        """Path of the file of initial scores; empty for none."""
        return self.prior if isinstance(self.prior, str) else ""

    def rules(self) -> TournamentRules:
        """Returns the rules, with scores read from their file.

        Raises:
            OptionError: if the file of the scores cannot be read.
        """
        return TournamentRules(
            questions=self.questions,
            paired=self.paired,
            prior=_scores(self.prior),
            ties=self.ties,
            families=self.families,
            exclude_family=self.exclude_family,
            exclude=tuple(self.exclude),
            min_judges=self.min_judges,
            newcomers=tuple(self.newcomers),
        )


def _scores(prior: str | dict[str, float]) -> dict[str, float]:
    if not isinstance(prior, str):
        return prior
    check_file(prior, "tournament.prior")
    return read_scores(Path(prior))


def read_scores(path: Path) -> dict[str, float]:
    """Reads initial scores: a CSV file with the columns ``policy`` and ``score``; scores are optional.

    Raises:
        OptionError: if the file has another form, names a policy twice or has a score that is not a finite number; the message
            names the line.
    """
    scores: dict[str, float] = {}
    seen: dict[str, int] = {}
    for line, row in _rows(path):
        where = f"{path}, line {line}"
        if len(row) > len(_HEADER) or not row[0]:
            raise OptionError(f"{where}: expected a policy and its score, got {','.join(row)[:80]!r}")
        name, score = (*row, "")[:2]
        if name in seen:
            raise OptionError(f"{where}: expected every policy once, got {name!r} as in line {seen[name]}")
        seen[name] = line
        if score:
            scores[name] = _score(score, where)
    return scores


def _rows(path: Path) -> list[tuple[int, list[str]]]:
    """Returns the non-empty rows below the header, with their line numbers."""
    try:
        lines = csv.reader(io.StringIO(path.read_text(encoding="utf-8-sig"), newline=""))
        rows = [(lines.line_num, [cell.strip() for cell in row]) for row in lines]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise OptionError(f"tournament.prior: expected a CSV file, got {str(path)!r}: {error}") from error
    filled = [(line, row) for line, row in rows if any(row)]
    if not filled or filled[0][1] != _HEADER:
        got = ",".join(filled[0][1])[:80] if filled else ""
        raise OptionError(f"{path}: expected the header {','.join(_HEADER)!r}, got {got!r}")
    return filled[1:]


def _score(text: str, where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise OptionError(f"{where}: expected a finite number as score, or nothing, got {text[:80]!r}")
    return value


def keep_scores(run_file: str) -> str:
    """Returns the text of a run file with the scores themselves instead of the paths of their files.

    Later changes of these files do not affect the run.

    Raises:
        OptionError: if a file cannot be read.
    """
    document, changed = tomlkit.parse(run_file), False
    for environment in document["environment"]:
        rules = environment.get("tournament", {})
        if isinstance(rules.get("prior"), str):
            scores = tomlkit.inline_table()
            scores.update(read_scores(Path(rules["prior"])))
            rules["prior"], changed = scores, True
    return tomlkit.dumps(document) if changed else run_file


def add_newcomer(run_file: str, environments: Sequence[str], policy: Mapping[str, Any], score: float | None) -> str:
    """Returns the text of a run file with one more policy, a newcomer of the tournaments of ``environments``.

    Args:
        run_file: its text.
        environments: module names.
        policy: table of the policy; empty values are left out.
        score: initial score of the policy; ``None`` for none.
    """
    document = tomlkit.parse(run_file)
    document["policy"].append({key: value for key, value in policy.items() if value})
    for environment in document["environment"]:
        if canonical_name(environment["name"]) in environments:
            inline = isinstance(environment, tomlkit.items.InlineTable)
            rules = environment.setdefault("tournament", tomlkit.inline_table() if inline else tomlkit.table())
            rules["newcomers"] = [*rules.get("newcomers", []), policy["name"]]
            if score is not None:
                rules.setdefault("prior", tomlkit.inline_table())[policy["name"]] = score
    return tomlkit.dumps(document)
