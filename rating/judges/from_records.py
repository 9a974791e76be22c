"""Judgements from run records, for environments that declare their judges' verdicts."""

from collections import Counter
from collections.abc import Iterable

from llmarena_envs.core.declaration import Verdicts, role_of
from rating.judges.judgement import TIE, Judgement, Label
from rating.store.environments import load_environment
from rating.store.outcome import PLAYED, Outcome, SeatOutcome


def declared_verdicts(environment: str) -> Verdicts | None:
    """Returns the declared verdicts of an environment, or ``None`` without any."""
    return load_environment(environment).declaration.verdicts


def judgements_of(outcomes: Iterable[Outcome], verdicts: Verdicts) -> list[Judgement]:
    """Returns the judgements in outcome order.

    A policy on several judge seats counts as several judges: the second one is called ``name (2)``.

    Args:
        outcomes: of one environment; unfinished matches are skipped.
        verdicts: the environment's declaration.
    """
    found = []
    for outcome in outcomes:
        if outcome.status in PLAYED:
            players, words = _sides(outcome, verdicts)
            names: Counter[str] = Counter()
            for seat in outcome.seats:
                if not seat.rated and role_of(seat.agent) == verdicts.role:
                    names[seat.policy] += 1
                    name = seat.policy if names[seat.policy] == 1 else f"{seat.policy} ({names[seat.policy]})"
                    found.append(_judgement(f"match {outcome.number}", name, seat, players, words, verdicts))
    return found


def _judgement(
    item: str,
    judge: str,
    seat: SeatOutcome,
    players: tuple[str, str],
    words: tuple[float, float] | None,
    verdicts: Verdicts,
) -> Judgement:
    def label(statistic: str) -> Label | None:
        return verdicts.labels.get(seat.statistics.get(statistic, -1.0)) if statistic else None

    rating = seat.statistics.get(verdicts.score, -1.0) if verdicts.score else -1.0
    return Judgement(
        item,
        judge,
        label(verdicts.final) if rating < 0 else rating,
        first=label(verdicts.first) if verdicts.first != verdicts.final else None,
        again=label(verdicts.swapped),
        players=players,
        words=words,
    )


def _sides(outcome: Outcome, verdicts: Verdicts) -> tuple[tuple[str, str], tuple[float, float] | None]:
    """Returns the policies shown first and second, and the number of words read of each, if recorded."""
    by_side = {
        seat.statistics[verdicts.side]: seat
        for seat in outcome.seats
        if verdicts.side in seat.statistics and seat.rated
    }
    sides = [by_side.get(number) for number, label in sorted(verdicts.labels.items()) if label != TIE]
    if len(sides) != 2 or sides[0] is None or sides[1] is None:
        return ("", ""), None
    lengths = [seat.statistics.get(verdicts.length, -1.0) if verdicts.length else -1.0 for seat in sides if seat]
    words = (lengths[0], lengths[1]) if min(lengths) >= 0 else None
    return (sides[0].policy, sides[1].policy), words
