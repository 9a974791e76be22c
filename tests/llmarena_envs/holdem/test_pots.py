"""The division of the pot."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmarena_envs.holdem.pots import side_pots, split, winnings


def test_side_pots() -> None:
    # 20 all-in, 50 all-in, two players with 80: a main pot of four times 20, then three times 30, then two times 30.
    assert side_pots((20, 80, 50, 80), (True, True, True, True)) == [(80, (0, 1, 2, 3)), (90, (1, 2, 3)), (60, (1, 3))]


@pytest.mark.parametrize(
    ("button", "shares"), [(0, [0, 3, 2]), (1, [0, 2, 3]), (2, [0, 3, 2])]
)  # the first winner clockwise from the button
def test_the_odd_chip_goes_to_the_first_winner_after_the_button(button: int, shares: list[int]) -> None:
    assert split(5, (1, 2), button, 3) == shares


def test_two_odd_chips_go_to_two_players() -> None:
    assert split(5, (0, 1, 2), 0, 3) == [1, 2, 2]
    assert split(5, (0, 1, 2), 1, 3) == [2, 1, 2]


@st.composite
def finished_hands(draw: st.DrawFn) -> tuple[list[int], list[int | None], int]:
    """Chips put in, ranks, and the button; a folded player has put in at most as many as the largest other stake."""
    players = draw(st.integers(2, 6))
    live = [draw(st.booleans()) for _ in range(players - 1)]
    live.insert(draw(st.integers(0, players - 1)), True)
    put_in = [draw(st.integers(1, 200)) if is_live else 0 for is_live in live]
    most = max(put_in)
    put_in = [chips if is_live else draw(st.integers(0, most)) for chips, is_live in zip(put_in, live, strict=True)]
    ranks = [draw(st.integers(1, 4)) if is_live else None for is_live in live]
    return put_in, ranks, draw(st.integers(0, players - 1))


@given(finished_hands())
def test_pots_conserve_chips(hand: tuple[list[int], list[int | None], int]) -> None:
    put_in, ranks, button = hand
    won = winnings(put_in, ranks, button)
    assert sum(won) == sum(put_in)
    assert all(chips >= 0 for chips in won)
    assert all(chips == 0 for chips, rank in zip(won, ranks, strict=True) if rank is None)


@pytest.mark.slow
@given(finished_hands())
def test_winnings_from_an_opponent_are_bounded_by_own_stake(hand: tuple[list[int], list[int | None], int]) -> None:
    put_in, ranks, button = hand
    for seat, chips in enumerate(winnings(put_in, ranks, button)):
        assert chips <= sum(min(other, put_in[seat]) for other in put_in)


@given(finished_hands())
def test_best_hand_wins_all_eligible_pots(hand: tuple[list[int], list[int | None], int]) -> None:
    put_in, ranks, button = hand
    best = min(rank for rank in ranks if rank is not None)
    if ranks.count(best) == 1:
        seat = ranks.index(best)
        assert winnings(put_in, ranks, button)[seat] == sum(min(other, put_in[seat]) for other in put_in)
