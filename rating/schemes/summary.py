"""Several environments in one table: normalised scores, their averages, and a summary by ability.

Source: LLMArena (arXiv 2402.16499), Table 1 and section 2.4.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from llmarena_envs.catalogue import load_environment
from rating.schemes.leaderboard import Leaderboard, headline
from rating.statistics.estimates import normalise


class Average(NamedTuple):
    """A mean over n cells of a table."""

    value: float
    n: int


@dataclass(frozen=True)
class SummaryRow:
    """One policy.

    Attributes:
        policy: its name.
        scores: by environment, 100 for the best policy; ``None`` if it has none.
        average: over the environments in which it has a score.
        abilities: by ability, the average over the environments that ask for it.
    """

    policy: str
    scores: dict[str, float | None]
    average: Average | None
    abilities: dict[str, Average | None]


@dataclass(frozen=True)
class Summary:
    """The table.

    Attributes:
        environments: columns, in the order they came in.
        abilities: abilities that an environment of the table asks for, sorted.
        rows: best average first, equals by name.
        averages: by environment, over the policies with a score.
        left_out: environments that cannot be normalised, with the reason.
    """

    environments: tuple[str, ...]
    abilities: tuple[str, ...]
    rows: tuple[SummaryRow, ...]
    averages: dict[str, Average | None]
    left_out: dict[str, str]


def summarise(boards: Iterable[Leaderboard]) -> Summary:
    """Makes the table of several environments from their leaderboards, with the abilities that each declares."""
    scores = {board.environment: headline(board) for board in boards}
    return summarise_scores(scores, {name: load_environment(name).declaration.abilities for name in scores})


def summarise_scores(
    scores: Mapping[str, Mapping[str, float | None]], abilities: Mapping[str, Sequence[str]]
) -> Summary:
    """Makes the table of several environments.

    An environment whose best score is not above 0 has no normalised scores; it is left out, and the table says so.

    Args:
        scores: by environment, then by policy; larger is better.
        abilities: by environment what it asks of a player.
    """
    normalised: dict[str, dict[str, float | None]] = {}
    left_out = {}
    for environment, column in scores.items():
        try:
            normalised[environment] = normalise(column)
        except ValueError as error:
            left_out[environment] = str(error)
    policies = sorted({policy for column in scores.values() for policy in column})
    known = sorted({ability for environment in normalised for ability in abilities.get(environment, ())})
    rows = []
    for policy in policies:
        cells = {environment: column.get(policy) for environment, column in normalised.items()}
        by_ability = {
            ability: _average(cell for environment, cell in cells.items() if ability in abilities.get(environment, ()))
            for ability in known
        }
        rows.append(SummaryRow(policy, cells, _average(cells.values()), by_ability))
    rows.sort(key=lambda row: (row.average is None, -round(row.average.value if row.average else 0.0, 6), row.policy))
    averages = {environment: _average(column.values()) for environment, column in normalised.items()}
    return Summary(tuple(normalised), tuple(known), tuple(rows), averages, left_out)


def _average(cells: Iterable[float | None]) -> Average | None:
    known = [cell for cell in cells if cell is not None]
    return Average(sum(known) / len(known), len(known)) if known else None
