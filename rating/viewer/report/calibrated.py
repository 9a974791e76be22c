"""Calibration of predicted results as a table."""

from rating.schemes import formatting
from rating.schemes.leaderboard import ALWAYS
from rating.stats.calibration import PARTS, Calibration, CalibrationBin
from rating.stats.estimates import Estimate
from rating.viewer.report.tables import Sheet


def calibration_sheet(environment: str, found: Calibration) -> Sheet:
    """Returns the table of predicted and observed scores by group.

    Args:
        environment: environment name.
        found: calibration of its results.
    """
    rows = [
        [
            f"{100 * group.low:.0f} - {100 * group.high:.0f}",
            formatting.number(100 * group.predicted, 1),
            formatting.percent(group.observed),
            _verdict(group),
        ]
        for group in found.groups
    ]
    gain = found.gain
    notes = [
        "predictions: Bradley-Terry ratings fitted without the deal of the result (cross-validation:"
        f" {min(PARTS, found.deals)} parts of {found.deals} deals); favourite: predicted score above one half; a tie is a half",
        "in %; observed with 95 % intervals by deal (number of results); correct ratings miss at most one interval in twenty",
        f"Brier score {found.brier:.4f}, baseline (equal scores) {found.brier_of_guess:.4f}: smaller by"
        f" {formatting.estimate(gain, decimals=4)}; {_worth(gain)}",
        f"logarithmic loss {found.log_loss:.4f} nats, baseline {found.log_loss_of_guess:.4f}",
    ]
    header = ["favourite, predicted", "mean prediction", "observed (n)", ""]
    return Sheet(f"Calibration: {environment}", header, rows, notes, [ALWAYS] * len(header))


def _verdict(group: CalibrationBin) -> str:
    if group.is_met:
        return ""
    return "more than predicted" if group.observed.value > group.predicted else "less than predicted"


def _worth(gain: Estimate) -> str:
    """Returns whether the gain in Brier score is significant, in words."""
    if gain.low is not None and gain.low > 0:
        return "the ratings predict better than the baseline"
    if gain.high is not None and gain.high < 0:
        return "the ratings predict worse than the baseline"
    return "no significant difference from the baseline"
