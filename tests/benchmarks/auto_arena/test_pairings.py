"""Pairings read off a log of battles, and how many there must be."""

import pytest

from benchmarks.auto_arena.pairings import pairings, planned_pairings
from benchmarks.experiments.published import load_published
from rating.store.records import FINISHED, UNDECIDED, VOID, Outcome, SeatOutcome


def battle(number, first, second, reward, judges=(), status=FINISHED):
    """A battle; ``reward`` is the first debater's."""
    seats = [SeatOutcome(first, reward, agent="debater_0"), SeatOutcome(second, -reward, agent="debater_1")]
    seats += [SeatOutcome(name, 0.0, agent=f"judge_{k}", rated=False) for k, name in enumerate(judges)]
    return Outcome("debate_v0", number, number, status, tuple(seats))


def test_two_consecutive_battles_form_a_pairing_in_any_order():
    log = [
        battle(3, "c", "a", 0.0, ("d", "b"), status=UNDECIDED),
        battle(1, "b", "a", 1.0, ("c", "d")),
        battle(0, "a", "b", 1.0, ("c", "d")),
        battle(2, "a", "b", 0.0, ("c", "d")),
        battle(4, "a", "c", 0.0, status=VOID),
        battle(5, "a", "b", -1.0, ("d",)),
    ]
    found = pairings(log)
    assert [(each.first, each.second, len(each.outcomes)) for each in found] == [
        ("a", "b", 3),
        ("a", "c", 2),
        ("a", "b", 1),
    ]
    assert [each.committee for each in found] == [("c", "d"), ("d", "b"), ("d",)]
    assert [(each.wins("a"), each.wins("b"), each.ties) for each in found] == [(1, 1, 1), (0, 0, 0), (0, 1, 0)]
    assert (found[1].undecided, found[1].void) == (1, 1)


@pytest.mark.parametrize(("players", "newcomers"), [(7, 0), (9, 0), (18, 9), (18, 11)])
def test_published_numbers_of_battles_are_reproduced(players, newcomers):
    (published,) = load_published("benchmarks.auto_arena")["battle_counts"].rows[f"{players} models"]
    assert 40 * planned_pairings(players, newcomers) == published


def test_small_tournaments():
    assert [planned_pairings(players) for players in (2, 3, 4, 8)] == [1, 2, 4, 12]
