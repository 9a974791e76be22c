"""Pictures of bargaining."""

from itertools import pairwise
from xml.etree.ElementTree import fromstring

import pytest

from llmarena_envs import bargain_v0
from llmarena_envs.bargain.game import Deal
from llmarena_envs.core.svg import text_width
from tests.support.pictures import height, replies, shown, texts_outside

INSTANCE = [[1, 2, 3], [8, 1, 0], [4, 0, 2]]
OFFER = "Let me have the hat.\n1 hat 0 balls 1 apple"


def talks(*said, **options):
    env = bargain_v0.raw_env(**{"instance": INSTANCE, **options})
    env.reset(seed=0)
    for reply in said:
        env.step(reply)
    return env


def test_side_sees_its_values_and_all_offers():
    text = shown(talks(OFFER).draw("player_1"))
    assert (
        "player_0 gets: 1 hat, 0 balls, 1 apple; player_1 gets: 0 hats, 2 balls, 2 apples" in text
        and "Let me have the hat." in text
    )
    assert "Worth to player_1: a hat 4, a ball 0, an apple 2" in text
    assert "Worth to player_0" not in text and "8 each" not in text


@pytest.mark.parametrize("told", [False, True])
def test_offer_value_is_drawn_if_the_text_has_it(told):
    text = shown(talks(OFFER, show_offer_value=told).draw("player_1"))
    assert ("(worth 4)" in text) == told and "(worth 8)" not in text


def test_a_spectator_sees_both_values_and_the_deal():
    text = shown(talks(OFFER, "Deal").draw())
    assert "8 each" in text and "4 each" in text and "(worth 8)" in text and "(worth 4)" in text
    assert "Deal: player_1 accepts" in text


def test_talks_that_fail_are_said_to_have_failed():
    assert "without an agreement" in shown(talks(OFFER, OFFER, max_rounds=1).draw())
    assert "without an agreement" not in shown(talks(OFFER, OFFER).draw())


def test_standing_offer_can_be_accepted_by_the_side_to_move():
    env = talks(OFFER)
    (reply,) = replies(env.draw("player_1"))
    assert env.codec.parse(reply, env.view("player_1")) == Deal()
    assert not replies(env.draw("player_0")) and not replies(env.draw())
    assert not replies(talks().draw("player_0"))
    assert not replies(talks(OFFER, "Deal").draw("player_0"))


def test_long_and_hostile_messages_are_cut_and_stay_text():
    message = "<script>&\u202e" * 200
    env = talks(*[f"{message}\n1 hat"] * 40, max_rounds=50, language="zh")
    for seat in (None, "player_0"):
        picture = env.draw(seat)
        assert height(picture) <= 1200 and len(picture) < 100_000
        assert not texts_outside(picture)
        assert r"<script>&\u202e" in shown(picture) and "<script" not in picture


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("hats", [0, 2, 4])
def test_shares_of_both_sides_are_drawn_side_by_side_in_a_box(hats, language):
    lines = {}
    instance = [[4, 2, 1], [1, 2, 2], [2, 1, 0]]
    offers = [f"{hats} hats {balls} balls {apples} apples" for balls in (0, 2) for apples in (0, 1)]
    env = talks(*offers, instance=instance, source="lewis", language=language)
    for text in fromstring(env.draw()).iter("{http://www.w3.org/2000/svg}text"):
        start, size = float(text.attrib["x"]), float(text.attrib["font-size"])
        if text.get("text-anchor") is None:
            lines.setdefault(text.attrib["y"], []).append((start, start + text_width(text.text, size)))
    ends = [(before[1], after[0]) for line in lines.values() for before, after in pairwise(sorted(line))]
    assert len(ends) > 15
    assert all(end <= start for end, start in ends)
    assert all(end <= 744 for line in lines.values() for _, end in line)
