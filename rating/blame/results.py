"""Results of analyses, in files beside their run."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Annotated, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from rating.blame.estimate import Effect, effects
from rating.blame.question import Question
from rating.errors import RunError
from rating.play.run_directory import check_no_links
from rating.replacing import replacing_text

DIRECTORY = "blame"
"""Name of the directory of results in the directory of a run."""

MAX_SIZE = 10_000_000
"""Maximum size of a file of results, in bytes."""

Finite = Annotated[float, Field(allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0)]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class BlamedTurn(_Strict):
    """The estimates of a turn.

    Attributes:
        turn: index of the turn.
        kind: third of the match and kind of action.
        played: the recorded action in the grammar of the game; empty for a forfeit.
        value: expected reward after the recorded reply.
        screened: mean cost in the first round of the screening.
        cost: estimated cost of the reply; ``None`` if the turn was dropped in the screening.
        low: lower end of its simultaneous interval.
        high: upper end.
        pairs: number of pairs of continuations.
        other: the most frequent other action; empty if it was always the recorded one.
    """

    turn: Count
    kind: str
    played: str
    value: Finite | None
    screened: Finite
    cost: Finite | None
    low: Finite | None
    high: Finite | None
    pairs: Count
    other: str


class Blame(_Strict):
    """The result of an analysis.

    Attributes:
        question: the question.
        reward: reward of the match for the rewarded agent.
        turns: the turns in question.
        least: smallest cost that counts.
        blamed: index of the turn with the largest established cost; ``None`` if none is established.
        needed: pairs of each finalist that may establish a turn, if none is; ``None`` if no estimate exceeds ``least``.
        continuations: number of continuations.
        void: number of pairs in this session without a result, e.g. because a provider failed.
        invalid: number of invalid replies of the substitute.
    """

    question: Question
    reward: Finite
    turns: tuple[BlamedTurn, ...]
    least: Finite
    blamed: int | None
    needed: int | None
    continuations: Count
    void: Count
    invalid: Count


class KindCost(NamedTuple):
    """Mean cost of the replies of a kind.

    Attributes:
        kind: third of the match and kind of action.
        turns: number of turns.
        matches: number of matches with such a turn.
        cost: mean over matches of the mean cost per turn.
        effect: the mean with its simultaneous interval; ``None`` for too few matches.
    """

    kind: str
    turns: int
    matches: int
    cost: float
    effect: Effect | None


def costs_by_kind(results: Sequence[Blame]) -> list[KindCost]:
    """Returns the mean cost of each kind of turn, the largest first.

    Uses the first round of the screening, which every turn has, so the choice of finalists does not bias it.
    """
    table: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for result in results:
        for turn in result.turns:
            table[turn.kind][result.question.match].append(turn.screened)
    kinds = sorted(table)
    samples = [[fmean(costs) for costs in table[kind].values()] for kind in kinds]
    rows = [
        KindCost(kind, sum(map(len, table[kind].values())), len(sample), fmean(sample), effect)
        for kind, sample, effect in zip(kinds, samples, effects(samples), strict=True)
    ]
    return sorted(rows, key=lambda row: -row.cost)


def write_result(directory: Path, result: Blame) -> None:
    """Writes a result beside its continuations."""
    path = directory / f"{result.question.name}.json"
    check_no_links([path])
    with replacing_text(path) as file:
        file.write(f"{result.model_dump_json(indent=2)}\n")


def read_results(directory: Path, match: str = "*") -> dict[str, list[Blame]]:
    """Returns the results in a directory by match, or nothing without it.

    Args:
        directory: the directory.
        match: id of the only match to read.

    Raises:
        RunError: if one is damaged, or a link.
    """
    found: dict[str, list[Blame]] = defaultdict(list)
    check_no_links([directory])
    for path in sorted(directory.glob(f"{match}-*.json")) if directory.is_dir() else ():
        check_no_links([path])
        result = _read(path)
        found[result.question.match].append(result)
    return dict(found)


def _read(path: Path) -> Blame:
    try:
        if path.stat().st_size > MAX_SIZE:
            raise ValueError(f"at most {MAX_SIZE:,} bytes")
        result = Blame.model_validate_json(path.read_bytes())
        if path.stem != result.question.name:
            raise ValueError("another question")
        return result
    except (ValueError, RecursionError, OSError) as error:
        raise RunError(f"{path}: expected a result of llmarena blame; delete it or run the command again") from error
