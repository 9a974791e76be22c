"""The correlations printed in Auto-Arena (arXiv 2405.20267v1), recomputed from published scores."""

from collections.abc import Mapping, Sequence

from benchmarks.auto_arena.correlation import Correlation, correlate
from benchmarks.experiments.published import Published
from benchmarks.experiments.tables import MEASURED, PUBLISHED, Cell, Column, Table, percent
from rating.stats.estimates import Estimate

ROUNDING = {"Spearman, %": 0.05, "concordance, %": 0.05, "Pearson": 1e-9}
"""Tolerance between a printed value and the recomputed one."""

RATED = "Auto-Arena Elo"
"""The column of published ratings."""

AGREES, DIFFERS, NO_SCORES = "yes", "no", "its scores are not published"


def scores(published: Published, column: str) -> dict[str, float | None]:
    """Returns a column of published scores by model."""
    index = published.columns.index(column)
    return {model: numbers[index] for model, numbers in published.rows.items()}


def correlation_table(published: Published, human: str, printed: Sequence[Published]) -> Table:
    """Returns every printed correlation with a human ranking beside the recomputed one.

    Args:
        published: scores of models.
        human: the column with the human ranking.
        printed: correlations by benchmark; names of benchmarks are columns of ``published`` if it has their scores.
    """
    values: dict[str, dict[str, float]] = {}
    for table in printed:
        for benchmark, numbers in table.rows.items():
            own = zip(table.columns, numbers, strict=True)
            values.setdefault(benchmark, {}).update({title: value for title, value in own if value is not None})
    measures = list(dict.fromkeys(title for table in printed for title in table.columns))
    rows: list[list[Cell]] = []
    for benchmark, known in values.items():
        column = next((title for title in published.columns if title in (benchmark, f"{benchmark} Elo")), None)
        found = correlate(scores(published, column), scores(published, human)) if column else None
        computed: dict[str, Estimate | float | None] = _by_measure(found) if found else {}
        rows.append(
            [
                benchmark,
                *(cell for title in measures for cell in (known.get(title), computed.get(title))),
                f"{found.alike:g} / {found.pairs}" if found else None,
                verdict(known, computed),
            ]
        )
    return Table(
        "published",
        f"correlation with the human ranking ({human}), as printed and computed again from the published scores",
        [
            Column("benchmark"),
            *(
                column
                for title in measures
                for column in (
                    Column(title, PUBLISHED, 4 if title == "Pearson" else 2),
                    Column(f"{title}, from the published scores", decimals=4 if title == "Pearson" else 2),
                )
            ),
            Column("pairs in the same order, from the published scores"),
            Column("agrees"),
        ],
        rows,
        [
            "models without one of both scores are left out of a line (pairwise deletion); ties have averaged ranks",
            "intervals: 95 %, over models drawn like these (Bonett and Wright); the paper has none; (n): models",
            f"published: {published.source}; {'; '.join(table.source for table in printed)}",
            *dict.fromkeys([*published.notes, *(note for table in printed for note in table.notes)]),
        ],
    )


def verdict(printed: Mapping[str, float], computed: Mapping[str, Estimate | float | None]) -> str:
    """Returns whether printed values agree with their scores, within rounding."""
    if not computed:
        return NO_SCORES
    for title, value in printed.items():
        other = computed[title]
        if isinstance(other, Estimate):
            other = other.value
        if other is None or abs(value - other) > ROUNDING[title] + 1e-9:
            return DIFFERS
    return AGREES


def _by_measure(found: Correlation) -> dict[str, Estimate | float | None]:
    return {
        "Spearman, %": percent(found.spearman_estimate()),
        "Pearson": found.pearson,
        "concordance, %": None if found.concordance is None else 100 * found.concordance,
    }


def claims_table(claims: Published) -> Table:
    """Returns the paper's claims of its gain over the best benchmark, in three places."""
    return Table.of(
        "gains",
        "gain in Spearman correlation over the best other benchmark, as the paper says it",
        [
            {Column("place"): place, Column("gain, percentage points", PUBLISHED, 1): gain}
            for place, (gain,) in claims.rows.items()
        ],
        [f"published: {claims.source}", *claims.notes],
    )


def published_ratings_table(
    lists: Mapping[str, Published],
    measured: Mapping[str, Estimate],
    same: Mapping[str, str],
    known: Sequence[str],
) -> Table:
    """Returns published lists of ratings by model, beside the measured ratings of these models.

    Args:
        lists: published tables by key.
        measured: ratings by policy.
        same: our policy by published model.
        known: notes of earlier tables, not repeated here.
    """
    values = {key: scores(table, RATED) for key, table in lists.items()}
    models = dict.fromkeys(model for own in values.values() for model in own)
    return Table(
        "published-ratings",
        "published ratings",
        [
            Column("model"),
            *(Column(f"Elo, list of {len(own)} models", PUBLISHED, 0) for own in values.values()),
            *([Column("Elo", MEASURED, 0)] if same else []),
        ],
        [
            [
                model,
                *(own.get(model) for own in values.values()),
                *([measured.get(same.get(model, ""))] if same else []),
            ]
            for model in models
        ],
        [
            *(f"published: {table.source}" for table in lists.values()),
            *dict.fromkeys(note for table in lists.values() for note in table.notes if note not in known),
        ],
    )
