"""Scores of judged work with the judge's error: prediction-powered columns of a leaderboard, where a part has a truth."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from llmarena_envs.core.declaration import Truth, role_of
from rating.judgements import exact_value, judged_seats, task_of
from rating.schemes import formatting
from rating.schemes.leaderboard import Leaderboard, LeaderboardColumn, LeaderboardRow
from rating.stats.prediction_powered import FEWEST_TRUE, TrueScore, true_score
from rating.stats.transport import LEVEL, PartError, transport
from rating.store.records import FINISHED, Outcome, SeatOutcome


class JudgedWork(NamedTuple):
    """Work of a policy with its score by judges and, if known, by the truth.

    Attributes:
        policy: name.
        deal: works of one deal are not independent.
        score: mean score of the judges, 0 to 1; in a comparison 1 for the winner, 0.5 for a tie.
        truth: the same by the truth; ``None`` if unknown.
        part: task; empty if unknown.
    """

    policy: str
    deal: str
    score: float
    truth: float | None
    part: str = ""


def judged_works(outcomes: Iterable[Outcome], truths: Sequence[Truth]) -> Iterator[JudgedWork]:
    """Yields the judged work in finished matches of one environment; work without a judge's score is left out.

    Args:
        outcomes: in any order; void ones are skipped.
        truths: as the environment declares them.
    """
    for outcome in outcomes:
        if outcome.status != FINISHED or any(seat.forfeit for seat in outcome.seats) or not _has_judge(outcome):
            continue
        if (found := judged_seats(outcome, truths)) is None:
            continue
        truth, seats = found
        if len(seats) == 1:
            yield from _rated(outcome, seats[0], truth)
        elif len(seats) == 2 and seats[0].policy != seats[1].policy:
            yield from _compared(outcome, seats, truth)


def _has_judge(outcome: Outcome) -> bool:
    return any(role_of(seat.agent) == "judge" for seat in outcome.seats if not seat.rated)


def _rated(outcome: Outcome, seat: SeatOutcome, truth: Truth) -> Iterator[JudgedWork]:
    low, high = truth.scores
    if low <= seat.reward <= high:
        score = (seat.reward - low) / (high - low)
        yield JudgedWork(seat.policy, str(outcome.seed), score, exact_value(seat, truth), task_of(seat, truth))


def _compared(outcome: Outcome, seats: Sequence[SeatOutcome], truth: Truth) -> Iterator[JudgedWork]:
    for own, other in (seats, seats[::-1]):
        exact, against = exact_value(own, truth), exact_value(other, truth)
        known = None if exact is None or against is None else _result(exact, against)
        yield JudgedWork(own.policy, str(outcome.seed), _result(own.reward, other.reward), known, task_of(own, truth))


def _result(own: float, other: float) -> float:
    return 0.5 + 0.5 * ((own > other) - (own < other))


def with_true_scores(board: Leaderboard, works: Iterable[JudgedWork], truth: str) -> Leaderboard:
    """Adds the corrected scores to a leaderboard, if a truth is known for any work.

    Its rows have the value ``true_score``, its facts the ``transport`` check by task. There are no columns if the score of every
    policy is refused.

    Args:
        board: of the environment.
        works: judged work in it.
        truth: name of the truth.
    """
    works = list(works)
    if all(work.truth is None for work in works):
        return board
    by_policy: dict[str, list[JudgedWork]] = defaultdict(list)
    for work in works:
        by_policy[work.policy].append(work)
    scores = {
        policy: true_score([work.score for work in own], [work.truth for work in own], [work.deal for work in own])
        for policy, own in by_policy.items()
    }
    known = [(work, work.truth) for work in works if work.truth is not None and work.part]
    checked = transport(
        [work.score for work, _ in known],
        [exact for _, exact in known],
        [work.part for work, _ in known],
        [work.deal for work, _ in known],
    )
    rows = tuple(replace(row, values={**row.values, "true_score": scores.get(row.policy)}) for row in board.rows)
    if not any(one and one.corrected for one in scores.values()):
        most = max(one.true_deals for one in scores.values() if one)
        return replace(board, rows=rows, notes=(*board.notes, _refusal(truth, most)))
    has_rest = any(work.truth is None for work in works)
    return replace(
        board,
        rows=rows,
        columns=(*board.columns, *_COLUMNS),
        notes=(*board.notes, *_notes(truth, checked)),
        caveats=(*board.caveats, *(_caveats(checked) if has_rest else ())),
        facts={**board.facts, "transport": tuple(checked)},
    )


def _cells(row: LeaderboardRow) -> formatting.TrueScoreCells:
    found = row.values["true_score"]
    return formatting.true_score(found if isinstance(found, TrueScore) else None)


_COLUMNS = (
    LeaderboardColumn("true, % (PPI)", lambda row: _cells(row).corrected, 2),
    LeaderboardColumn("truth, %", lambda row: _cells(row).share, 1),
    LeaderboardColumn("judge, %", lambda row: _cells(row).judged, 1),
)


def _refusal(truth: str, most: int) -> str:
    return (
        f"true scores by {truth} are refused: expected {FEWEST_TRUE} deals with truth of a policy, got at most {most}; no"
        " interval here includes the judges' error"
    )


def _notes(truth: str, checked: Sequence[PartError]) -> tuple[str, ...]:
    check = f"; no difference found between {len(checked)} tasks with truth" if checked and not _off(checked) else ""
    return (
        f"true (PPI): mean quality by {truth}, prediction-powered: the judges' scores, corrected by the truth of a part; its 95 %"
        f" interval includes the judges' error; refused below {FEWEST_TRUE} deals with truth",
        "truth: share of the work with truth; judge: mean of the judges' scores alone, on the same scale",
        f"true (PPI) assumes that equal scores mean equal quality with and without truth{check}",
    )


def _off(checked: Sequence[PartError]) -> list[PartError]:
    return [one for one in checked if one.p < LEVEL]


def _caveats(checked: Sequence[PartError]) -> tuple[str, ...]:
    """Returns a warning if the calibration differs between tasks."""
    off = _off(checked)
    if not off:
        return ()
    worst = max(off, key=lambda one: abs(one.error.value))
    return (
        f"judges: equal scores mean different quality in {len(off)} of {len(checked)} tasks with truth (most in {worst.part}:"
        f" {formatting.number(100 * worst.error.value, 0)} points); the true scores (PPI) of work without truth can be off",
    )
