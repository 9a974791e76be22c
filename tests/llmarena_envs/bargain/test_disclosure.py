"""Whether messages that state the own values are recognised."""

import pytest

from llmarena_envs.bargain.disclosure import discloses

VALUES = (8, 1, 0)


@pytest.mark.parametrize(
    "message",
    [
        "Hats are worth 8 to me, balls 1... I mean, balls are worth 1 and apples are worth 0.",
        "hat: 8, ball: 1, apple: 0",
        "hats=8 balls=1 apples=0",
        '{"hats": 8, "balls": 1, "apples": 0}',
        "A hat is worth 8 points to me.\nA ball is worth 1.\nAn apple is worth 0.",
        "I get 8 points per hat, 1 for each ball and 0 per apple.",
        "My values are 8, 1, 0.",
        "my values (hats, balls, apples): 8/1/0",
        "worth to me: 8, 1 and 0",
        "帽子值8，球值 1，苹果值0",
        "我的价值：8、1、0",
    ],
)
def test_the_own_values_are_recognised(message):
    assert discloses(message, VALUES)


@pytest.mark.parametrize(
    "message",
    [
        "",
        "I would like 1 hat and all the apples.",
        "8 hats, 1 ball, 0 apples",
        "Hats are worth 8 to me.",
        "Hats are worth 8 to me, balls are worth 2 and apples are worth 0.",
        "I value hats most of all, apples not at all.",
        "My values are 4, 0, 2.",
        "My values are secret. 8 1 0",
        "hat: 80, ball: 1, apple: 0",
    ],
)
def test_other_messages_are_not(message):
    assert not discloses(message, VALUES)


def test_a_long_message_of_blanks_is_searched_at_once():
    assert not discloses("values 1" + " " * 2000 + ",1" + " " * 2000, VALUES)
    assert not discloses("hats worth " * 200, VALUES)
