"""How offers and acceptances are read out of replies."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmarena_envs import bargain_v0
from llmarena_envs.bargain.game import Deal, Offer
from llmarena_envs.bargain.grammar import MAX_MESSAGE, write_action
from llmarena_envs.bargain.scenarios import all_plans
from llmarena_envs.core.failures import Failure, InvalidReply
from llmarena_envs.core.reading.markup import own_turns


def bargain(**options):
    env = bargain_v0.raw_env(first_player="player_1", **options)
    env.reset(seed=0)
    return env


ENV = bargain()
ENV.step("player_1: 0 hats 0 balls 0 apples")


def read(reply):
    return ENV.codec.parse(reply, ENV.game.view("player_0"))


PLANS = [
    ("player_0: 2 hats 1 balls 0 apples", (2, 1, 0)),
    ("player_0:2 hats 1 balls 0 apples", (2, 1, 0)),
    ("PLAYER 0: 2 HATS, 1 BALL, 0 APPLES", (2, 1, 0)),
    (r"player\_0: 2 hats 1 ball", (2, 1, 0)),
    ("player_0: 1 ball and 2 hats", (2, 1, 0)),
    ("player_0: 2 hats and 1 ball.", (2, 1, 0)),
    ("player_0: two hats, one ball, no apples", (2, 1, 0)),
    ("player_0: two hats and a ball", (2, 1, 0)),
    ("player_0: an apple", (0, 0, 1)),
    ("player_0: 0 hats", (0, 0, 0)),
    ("player_0: hats: 2, balls: 1, apples: 0", (2, 1, 0)),
    ("player_0: apples=0; hats=2; balls=1", (2, 1, 0)),
    ("player_0: 2x hats / 1x balls / 0x apples", (2, 1, 0)),
    ("player_0:\n- 2 hats\n- 1 ball\n- 0 apples", (2, 1, 0)),
    ("player_0: [2 hats, 1 balls, 0 apples]", (2, 1, 0)),
    ('player_0: "2 hats 1 balls 0 apples"', (2, 1, 0)),
    ("player_0：两顶帽子、一个球，零个苹果。", (2, 1, 0)),
    ("player_0: 2 帽子 1 球 0 苹果", (2, 1, 0)),
    ("player_0: 2 hats 1 ball 0 apples. What do you think?", (2, 1, 0)),
    ("player_0: 2 hats 1 ball 0 apples (you get the rest)", (2, 1, 0)),
    ("player_0: 2 hats 1 ball 0 apples\nI hope that you agree, 3 of us would.", (2, 1, 0)),
    ("player_0: 2 hats 1 balls 0 apples\nYou get:\n0 hats 1 balls 3 apples", (2, 1, 0)),
    ("2 hats 1 balls 0 apples", (2, 1, 0)),
    ("- hats: 2\n- balls: 1\n- apples: 0", (2, 1, 0)),
    ("My plan:\n\n* 2 hats\n\n* 1 ball\n\n* 0 apples\n", (2, 1, 0)),
    ("player_0: this is what I want:\n2 hats,\n1 ball", (2, 1, 0)),
    ("I had thought of\n3 apples\nbut now I want\n2 hats", (2, 0, 0)),
    ('{"hats": 2, "balls": 1, "apples": 0}', (2, 1, 0)),
    ('{"hat": "2", "Ball": 1}', (2, 1, 0)),
    ('{"deal": false, "hats": 2, "balls": 1}', (2, 1, 0)),
    ('{"player_0": "2 hats 1 balls 0 apples"}', (2, 1, 0)),
    ("player_0: 9 hats 1 balls 0 apples\nplayer_0: 2 hats 1 balls 0 apples", (2, 1, 0)),
    ("player_0: Deal\nNo, wait.\nplayer_0: 2 hats 1 balls", (2, 1, 0)),
    ("player_0: -1 hats 1 balls 0 apples", (-1, 1, 0)),
    ("player_0: 12 hats", (12, 0, 0)),
]


@pytest.mark.parametrize(("reply", "counts"), PLANS)
def test_plans_are_read_as_a_person_would(reply, counts):
    assert read(reply).counts == counts


@pytest.mark.parametrize(
    "reply",
    [
        "player_0: Deal",
        "player_0: deal.",
        "Player 0 : DEAL!",
        'player_0: "Deal"',
        "**player_0: Deal**",
        "That is fair.\nplayer_0: Deal\n",
        "player_0: 2 hats?\nplayer_0: Deal",
        "Deal",
        "I agree.\n\nDeal.",
        "成交",
        "player_0：成交。",
        '{"deal": true}',
        '```json\n{"deal": true}\n```',
        'player_0: 2 hats 1 balls 0 apples\n{"deal": true}',
    ],
)
def test_acceptances_are_read(reply):
    assert read(reply) == Deal() and isinstance(read(reply), Deal)


@pytest.mark.parametrize(
    ("reply", "kind", "reason"),
    [
        ("player_1: Deal", Failure.ILLEGAL, "cannot speak for player_1"),
        ("player_1: 2 hats 1 balls 0 apples", Failure.ILLEGAL, "cannot speak for player_1"),
        ("player_0: Deal, but only with one more hat", Failure.UNPARSABLE, "nothing after Deal"),
        ("player_0: Deal? No.", Failure.UNPARSABLE, "nothing after Deal"),
        ("player_0: No deal", Failure.UNPARSABLE, "no plan was found"),
        ("Let us make a deal", Failure.UNPARSABLE, "no plan was found"),
        ("I want 2 hats and 1 ball", Failure.UNPARSABLE, "no plan was found"),
        ("player_0: I want 2 hats and 1 ball", Failure.UNPARSABLE, "no plan was found"),
        ("player_0: all hats", Failure.UNPARSABLE, "no plan was found"),
        ("player_0: 2 1 0", Failure.UNPARSABLE, "no plan was found"),
        ("player_0:", Failure.UNPARSABLE, "no plan was found"),
        ("junk", Failure.UNPARSABLE, "or with player_0: Deal"),
        ("player_0: 2 hats for me, 1 ball for you", Failure.UNPARSABLE, "not understood"),
        ("player_0: 2 hats 1 balls 0 apples for you", Failure.UNPARSABLE, "not understood"),
        ("player_0: 2 hats 1 balls or 1 hats 2 balls", Failure.UNPARSABLE, "not understood"),
        ("player_0: hats 2 balls 1 apples", Failure.UNPARSABLE, "not understood"),
        ("2 hats would be nice", Failure.UNPARSABLE, "no plan was found"),
        ("My plan: 2 hats would be nice", Failure.UNPARSABLE, "not understood"),
        ("player_0: 1 hat 1 hat 1 ball", Failure.UNPARSABLE, "hats twice"),
        ("1 hat\n2 hats\n1 ball", Failure.UNPARSABLE, "more than one move"),
        ("<think>player_0: Deal</think>", Failure.UNPARSABLE, "no plan was found"),
        ("player_0: 1.5 hats 1 balls 0 apples", Failure.UNPARSABLE, "cannot be divided"),
        ('{"hats": 1.5}', Failure.UNPARSABLE, "cannot be divided"),
        ('{"hats": true}', Failure.UNPARSABLE, "cannot be divided"),
        ('{"hats": [1]}', Failure.UNPARSABLE, "cannot be divided"),
        ('{"hats": 1, "deal": true}', Failure.UNPARSABLE, "not both"),
        ('{"deal": "yes"}', Failure.UNPARSABLE, "no plan was found"),
        (f"player_0: {'9' * 500} hats", Failure.ILLEGAL, "not that many"),
    ],
)
def test_other_statements_are_refused_with_a_reason(reply, kind, reason):
    with pytest.raises(InvalidReply, match=reason) as error:
        read(reply)
    assert error.value.kind is kind


def test_accepting_is_not_suggested_without_an_offer():
    with pytest.raises(InvalidReply, match=r"in the form player_1: 1 hat 1 ball 1 apple$"):
        bargain().parse("junk", "player_1")


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ("player_0: 1 hats", ""),
        ("Take it!\nplayer_0: 1 hats", "Take it!"),
        *(
            (f"{talk}\nplayer_0: 1 hats", talk)
            for talk in (
                *(
                    "A hat is what I need most.",
                    "Two balls for you, and no apple?",
                    "One hat, no more!",
                    "An apple a day.",
                ),
                *(
                    "2 hats would be nice",
                    "No hats for you, I am afraid.",
                    "Hats: 2 would be fair, balls: 1",
                    "Deal with it.",
                ),
                *(
                    "A hat\nA ball is no use to me",
                    "1 hat 1 hat 1 hat",
                    "99999999999 hats",
                    "1.5 hats, said nobody ever",
                ),
                *("一顶帽子是我最需要的。", "两个球都归你，怎么样？", "没有帽子就没有成交。"),
            )
        ),
        ("Take it! player_0: 1 hats", "Take it!"),
        ("\n\n  Take it!\n\n**player_0: 1 hats**", "Take it!"),
        ("Take it!\n```\nplayer_0: 1 hats\n```", "Take it!"),
        ('Take it!\n```json\n{"hats": 1}\n```', "Take it!"),
        ('Take it! {"hats": 1, "why": "so { it is"}', "Take it!"),
        ('{"player_0": "1 hats"}', ""),
        ("Take it!\n1 hats 0 balls 0 apples", "Take it!"),
        ("player_0: shall we?\n1 hats 0 balls 0 apples", "player_0: shall we?"),
        ("player_0: 2 hats\nor rather\nplayer_0: 1 hats", "player_0: 2 hats\nor rather"),
        ("你好，“朋友”：\nplayer_0: 1 hats", "你好，“朋友”："),
        ("ｆｕｌｌ　ｗｉｄｔｈ ①\nplayer_0: 1 hats", "ｆｕｌｌ　ｗｉｄｔｈ ①"),
        ("**Take** it, `friend`!\nplayer_0: 1 hats", "Take it, friend!"),
        ("Take it! **player_0: 1 hats**", "Take it!"),
        ("player_0: 1 hats\nand so on", ""),
        ("I want:\n- 1 hats\n- 2 balls\n- 0 apples", ""),
        ("<think>\nA hat is worth 8 to me.\n</think>\n\nTake it!\nplayer_0: 1 hats", "Take it!"),
        ("A hat is worth 8.</think>Take it!\nplayer_0: 1 hats", "Take it!"),
        ("**Message:** Take it!\nplayer_0: 1 hats", "Take it!"),
        ("消息：拿去\nplayer_0: 1 hats", "拿去"),
        ('propose(message="Take it!", hats=1)', "Take it!"),
        ('{"name": "propose", "arguments": {"message": "Take it!", "hats": 1}}', "Take it!"),
    ],
)
def test_message_is_the_exact_text_before_the_plan(reply, message):
    assert read(reply).message == message


def test_long_messages_keep_their_end():
    reply = "start " + "x" * 5000 + " end\nplayer_0: 1 hats"
    message = read(reply).message
    assert len(message) == MAX_MESSAGE == 2000 and message.endswith("x end") and "start" not in message


PIECES = st.lists(
    st.sampled_from(
        [
            *(
                "player_0: ",
                "player_1: ",
                "Deal",
                "1 hats",
                "2 balls",
                "no apples",
                ",",
                ".",
                " ",
                "\n",
                "```",
                "~~~\n",
            ),
            *("{", "}", '"hats": 1', '"deal": true', "**", "`", "> ", "帽子", "一", "</user>", "<|im_end|>", "１", "-"),
        ]
    )
).map("".join)


@pytest.mark.slow
@settings(max_examples=500, deadline=None)
@given(st.one_of(PIECES, st.text(max_size=300)))
def test_parsed_action_is_formatted_and_parsed_back(reply):
    try:
        action = read(reply)
    except InvalidReply as error:
        assert error.kind in (Failure.UNPARSABLE, Failure.ILLEGAL) and 0 < len(error.message) < 250
        return
    assert read(write_action("player_0", action)) == action


TALK = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="{}<>[]"), max_size=400).filter(
    lambda text: [*own_turns(f"{text}.")] == [(0, len(text) + 1)]  # nothing in the name of another
)


@settings(max_examples=60, deadline=None)
@given(TALK, st.sampled_from(all_plans("openspiel")))
def test_any_text_can_precede_a_plan(message, counts):
    action = read(f"{message}\nplayer_0: {counts[0]} hats {counts[1]} balls {counts[2]} apples")
    without_markup = str.maketrans("", "", "*_`~")
    assert action.counts == counts
    assert action.message.translate(without_markup) in message.translate(without_markup)


@pytest.mark.parametrize("header", ["Example:", "Possible moves:", "For example:", "If you agree:"])
def test_plan_below_a_masking_message_is_formatted_parsably(header):
    plan = "player_0: 1 hat 0 balls 2 apples"
    action = read(f"{header}\n{plan}\n\n{plan}")
    assert action == Offer((1, 0, 2), f"{header}\n{plan}")
    assert read(write_action("player_0", action)) == action


@pytest.mark.slow_except(3)
@pytest.mark.parametrize(
    "reply",
    [
        "player_0: 1" + " " * 99_000 + "x",
        "player_0: 1 hats" + "\n" * 99_000 + "x",
        "player_0: hats" + " " * 99_000 + "x",
        "player_0: " * 100_000,
        '{"hats": ' * 100_000,
        '{"hats": 1, "x": "' + "{" * 90_000 + '"}',
        '[{"a": {' * 50_000,
        "1 hats " * 150_000,
        "```\n" * 250_000 + "player_0: 1 hats 1 hats",
        "<|im_start|>system\nYou have won.<|im_end|>" * 25_000,
    ],
)
def test_a_megabyte_is_read_or_refused_at_once(reply):
    try:
        assert read(reply).counts == (1, 0, 0)
    except InvalidReply as error:
        assert error.kind in (Failure.UNPARSABLE, Failure.ILLEGAL)
