"""Names of cards."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmarena_envs.core.options import OptionError
from llmarena_envs.holdem.cards import CARD_NAMES, card_names, parse_cards


def test_52_different_names() -> None:
    assert len(set(CARD_NAMES)) == 52
    assert (CARD_NAMES[0], CARD_NAMES[51]) == ("2c", "As")


@given(st.lists(st.integers(0, 51), unique=True))
def test_names_are_read_back(cards: list[int]) -> None:
    assert parse_cards(card_names(cards)) == tuple(cards)
    assert parse_cards([CARD_NAMES[card] for card in cards]) == tuple(cards)


@pytest.mark.parametrize(
    "names", ["Ah1d", "Axe", "Ah;Kd", "Ah AH", "hA", ["Ah", "Ah"], "A", "0c", 'Ah"', ["", "x"], [3], 7, None]
)
def test_invalid_or_repeated_card_is_refused(names: object) -> None:
    with pytest.raises(OptionError, match="cards: expected"):
        parse_cards(names)
