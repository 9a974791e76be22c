"""Pictures of debates."""

import pytest

from tests.llmarena_envs.debate.matches import debated, say, started
from tests.support.pictures import height, shown, texts_outside


def begun(**options):
    """Plays two turns with thoughts."""
    env = started(n_judges=2, **options)
    say(env, "<think>secret A</think><respond>answer A</respond>")
    return say(env, "<think>secret B</think><criticize>critique B</criticize><raise>request B</raise>")


def test_thoughts_of_an_opponent_are_not_in_the_picture():
    env = begun()
    a, b = env.game.sides
    for agent, own, other in ((a, "secret A", "secret B"), (b, "secret B", "secret A")):
        text = shown(env.draw(agent))
        assert own in text and other not in text and "request B" in text
    assert "secret A" in shown(env.draw("judge_0")) and "secret A" in shown(env.draw())


def test_drawings_omit_text_hidden_from_their_readers():
    env = begun(visibility="restricted", judge_sees_think=False)
    assert "critique B" not in shown(env.draw(env.game.sides[0]))
    judge = shown(env.draw("judge_0"))
    assert "critique B" in judge and "secret" not in judge
    assert f"hidden from {env.game.sides[0]}" in shown(env.draw())


def test_the_first_answer_is_given_without_the_opponent_s():
    env = say(begun(), "<respond>more of A</respond>")
    assert "answer A" not in shown(env.draw(env.game.sides[1]))


def test_drawings_hide_identities_from_judges():
    env = debated(begun())
    text = shown(env.draw("judge_0"))
    assert "assistant A responded" in text and "debater" not in text


def test_second_order_judge_sees_swapped_names():
    env = debated(begun(both_orders=True, discussion=False))
    first = shown(env.draw("judge_0"))
    say(env, "Good. [[A]]", "Bad. [[B]]")
    second = shown(env.draw("judge_0"))
    assert "assistant A thought: secret A" in first and "assistant B thought: secret A" in second


def test_verdicts_are_for_spectators_until_they_are_discussed():
    env = debated(begun())
    say(env, "I prefer it. [[A]]", "Neither. [[Tie]]")
    assert "Neither. [[Tie]]" in shown(env.draw("judge_0"))
    assert all("I prefer it." not in shown(env.draw(debater)) for debater in env.game.sides)
    text = shown(env.draw())
    assert "judge_0 verdict: A" in text and "judge_1 verdict: tie" in text


@pytest.mark.slow
def test_most_judges_and_orders_find_room():
    env = debated(started(n_judges=9, both_orders=True, discussion_rounds=3, language="zh"), "<&> " * 100)
    for turn in range(9 * 8):
        env.step("&<b> " * 200 + ("[[A]]", "[[B]]", "[[Tie]]")[turn % 3])
    for seat in (None, "judge_0", "debater_0"):
        picture = env.draw(seat)
        assert height(picture) <= 1200 and len(picture) < 150_000
        assert not texts_outside(picture)
