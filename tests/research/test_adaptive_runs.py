"""Real runs under both schedules: the printed tables, and contradictions between the schedules."""

import itertools
from dataclasses import replace

from rating.stats.bradley_terry import standings
from rating.stats.bradley_terry.comparisons import comparisons_of
from rating.stats.results import Battle
from research import adaptive_runs


def ranked(*order, games=60):
    """Returns standings where each beats the next nine times in ten."""
    return standings(
        comparisons_of(
            [
                Battle(upper, lower, float(number % 10 > 0), deal=f"{lower}{number}")
                for upper, lower in itertools.pairwise(order)
                for number in range(games)
            ]
        )
    )


def test_only_established_claims_can_be_contradicted():
    known = ranked("a", "b", "c")
    assert adaptive_runs.disagreements(known, ranked("a", "c", "b")) == ["b", "c"]
    assert adaptive_runs.disagreements(known, ranked("a", "c", "b", games=2)) == []
    run = adaptive_runs.Played(60, "cap", 0.9, known)
    line = adaptive_runs.Line("game", {"round_robin": run, "adaptive": run})
    assert line.is_same and line.agrees
    exchanged = replace(run, standings=ranked("c", "b", "a"))
    line = adaptive_runs.Line("game", {"round_robin": run, "adaptive": exchanged})
    assert not line.is_same and not line.agrees
