"""Judges against the truth, power, transport, severity and discrimination, as tables and JSON."""

from collections.abc import Mapping, Sequence
from typing import Any

from rating.judges import JudgeStudy
from rating.schemes import formatting
from rating.schemes.leaderboard import ALWAYS
from rating.stats.estimates import Estimate
from rating.stats.prediction_powered import FEWEST_TRUE
from rating.stats.transport import LEVEL, PartError
from rating.viewer.report.tables import Sheet

_MOST_ROWS = 60

_MOST_PARTS = 15
"""Maximum rows of a table of transport."""


def error_sheets(found: JudgeStudy) -> list[Sheet]:
    """Returns the tables of a study that state errors and power; tables without a value are left out."""
    sheets = [_power(found), _against_truth(found), _scale(found)]
    parts = {row.judge: row.parts for row in found.errors if row.parts}
    return [shown for shown in (*sheets, transport_sheet(parts, "tasks")) if shown is not None]


def _power(found: JudgeStudy) -> Sheet | None:
    rows = []
    for row in found.judges[:_MOST_ROWS]:
        biases = row.biases
        powers = (
            biases.position and biases.position.power,
            biases.verbosity.power,
            biases.family and biases.family.power,
        )
        if any(one is not None for one in powers):
            rows.append([row.judge, *("" if one is None else formatting.number(100 * one, 0) for one in powers)])
    notes = [
        "chance that the test could have seen a bias of 10 points, at the level of one more named bias; 10 points: of two equal"
        " sides, the favoured one scores 60, which is 20 above others"
    ]
    header = ["judge", "position", "verbosity", "family"]
    return Sheet("Power of the bias tests, %", header, rows, notes, [ALWAYS] * len(header)) if rows else None


def _against_truth(found: JudgeStudy) -> Sheet | None:
    if not found.errors:
        return None
    header, rows = ["judge", "right, % (n)", "error, points (n)", "judge alone, %", "true, % (PPI)", "truth, %"], []
    for row in found.errors[:_MOST_ROWS]:
        score = formatting.true_score(row.score)
        rows.append(
            [
                row.judge,
                formatting.percent(row.right),
                formatting.percent(row.error),
                score.judged,
                score.corrected,
                score.share,
            ]
        )
    notes = ["error: mean verdict minus truth, in points of 100, on the items with truth"]
    if any(row.score for row in found.errors):
        notes.append(
            "true (PPI): mean of all items, prediction-powered from the judge's ratings and the truth of a part; refused below"
            f" {FEWEST_TRUE} items with truth"
        )
    return Sheet("Judges against the truth", header, rows, notes, [ALWAYS] * len(header)).without_empty_columns()


def transport_sheet(parts: Mapping[str, Sequence[PartError]], between: str) -> Sheet | None:
    """Returns the transport of the judges' calibrations, worst first; ``None`` without any.

    Args:
        parts: by judge.
        between: name of the parts in plural.
    """
    tested = sorted(
        ((judge, one) for judge, own in parts.items() for one in own),
        key=lambda pair: (pair[1].p, pair[0], pair[1].part),
    )
    if not tested:
        return None
    rows = [
        [judge, one.part, formatting.percent(one.error), f"{one.p:.2g}", "differs" if one.p < LEVEL else ""]
        for judge, one in tested[:_MOST_PARTS]
    ]
    notes = [
        f"error: truth minus its prediction from the judge's scores, calibrated on the other {between}, in points of 100; p:"
        f" corrected for the {between} of a judge (Holm)"
    ]
    if len(tested) > _MOST_PARTS:
        notes.append(f"{len(tested) - _MOST_PARTS} more rows have a larger p; --json has all")
    header = ["judge", between[:-1], "error, points (n)", "p", ""]
    return Sheet(f"Transport between {between}", header, rows, notes, [ALWAYS] * len(header), texts=2)


def _scale(found: JudgeStudy) -> Sheet | None:
    if not found.scale.raters:
        return None
    rows = [
        [one.rater, formatting.estimate(one.severity), formatting.estimate(one.discrimination)]
        for one in found.scale.raters
    ]
    severity = "negative: favours the side shown first" if found.preferences else "positive: lower ratings"
    notes = [
        f"severity: in standard deviations of the items, above the mean judge; {severity}",
        "discrimination: log odds of a higher verdict for one standard deviation of the items; 0 is chance",
        "graded response model, verdicts before discussion, with 95 % intervals (number of shared items)",
    ]
    header = ["judge", "severity (n)", "discrimination (n)"]
    return Sheet("Severity and discrimination", header, rows, notes, [ALWAYS] * len(header))


def error_tables(found: JudgeStudy) -> dict[str, Any]:
    """Returns the same for JSON."""
    return {
        "against_truth": [
            {
                "judge": row.judge,
                "right": interval_table(row.right),
                "error": interval_table(row.error),
                "judge_alone": row.score and interval_table(row.score.judged),
                "prediction_powered": row.score and interval_table(row.score.corrected),
                "share_with_truth": row.score and row.score.share,
                "transport": part_tables(row.parts),
            }
            for row in found.errors
        ],
        "rater_model": {
            "refused": found.scale.refused,
            "judges": [
                {
                    "judge": one.rater,
                    "severity": interval_table(one.severity),
                    "discrimination": interval_table(one.discrimination),
                }
                for one in found.scale.raters
            ],
        },
    }


def part_tables(parts: Sequence[PartError]) -> list[dict[str, Any]]:
    """Returns the transport of one judge for JSON."""
    return [{"part": one.part, "error": interval_table(one.error), "p": one.p} for one in parts]


def interval_table(value: Estimate | None) -> dict[str, Any] | None:
    """Returns an estimate for JSON."""
    return value and {"value": value.value, "low": value.low, "high": value.high, "n": value.n}
