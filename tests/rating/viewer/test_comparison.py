"""The completed prefix: what counts of a run that is going on."""

from rating.store.records import FINISHED, Match, Outcome, SeatOutcome
from rating.viewer.comparison import completed_battles
from tests.rating.made_outcomes import duel, match, void


def entries(*outcomes, under_way=()):
    """Matches with outcomes, and those under way as (number, policies, seed)."""
    ended = [
        (Match("game_v0", item.number, tuple(seat.policy for seat in item.seats), item.seed), item) for item in outcomes
    ]
    waiting = [(Match("game_v0", number, policies, seed), None) for number, policies, seed in under_way]
    return sorted([*ended, *waiting], key=lambda entry: entry[0].number)


def test_prefix_ends_at_a_match_in_progress():
    outcomes = [duel(0, "a", "b", "a", seed=7), duel(1, "b", "a", None, seed=7), duel(3, "a", "b", "a", seed=9)]
    done = completed_battles(entries(*outcomes, under_way=[(2, ("a", "c"), 8)]), "a", "b")
    assert [(battle.first, battle.score, battle.deal) for battle in done.battles] == [
        ("a", 1, "7"),
        ("b", 0.5, "7"),
        ("a", 1, "9"),
    ]
    assert (done.seated, done.waiting, done.without_result) == (True, 0, 0)
    behind = completed_battles(entries(*outcomes, under_way=[(2, ("b", "a"), 9)]), "b", "a")
    assert (len(behind.battles), behind.waiting) == (2, 2)


def test_prefix_leaves_out_a_deal_in_progress():
    outcomes = [duel(0, "a", "b", "a", seed=7), duel(1, "a", "b", "a", seed=8), duel(2, "b", "a", "a", seed=8)]
    found = completed_battles(entries(*outcomes, under_way=[(3, ("b", "a"), 7)]), "a", "b")
    assert [battle.deal for battle in found.battles] == ["8", "8"]
    assert found.waiting == 2


def test_prefix_passes_matches_without_a_result():
    outcomes = [void(0, "a", "b"), void(1, "a", "c"), duel(2, "a", "b", "b")]
    found = completed_battles(entries(*outcomes), "a", "b")
    assert ([battle.score for battle in found.battles], found.waiting, found.without_result) == ([0], 0, 1)


def test_prefix_of_many_seats_has_every_pair():
    found = completed_battles(entries(match(0, ("a", 1.0), ("b", 3.0), ("c", 2.0), ("a", 3.0))), "a", "b")
    assert [(battle.first, battle.score) for battle in found.battles] == [("a", 0), ("b", 0.5)]
    assert not found.seated


def test_prefix_counts_forfeits_and_fallbacks():
    seats = SeatOutcome("a", -1.0, turns=4, forfeit="illegal"), SeatOutcome("b", 1.0, turns=5, fallbacks=3)
    found = completed_battles(entries(Outcome("game_v0", 0, 0, FINISHED, seats), duel(1, "a", "c", "a")), "a", "b")
    assert found.conduct == {"a": (1, 4, 0), "b": (0, 5, 3)}
