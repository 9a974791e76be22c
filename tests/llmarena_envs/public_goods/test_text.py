"""Texts for a player of the public goods game, and parsing of replies."""

import pytest

from llmarena_envs import public_goods_v0
from llmarena_envs.core.failures import Failure, InvalidReply


def player(**options):
    env = public_goods_v0.raw_env(**options)
    env.reset(seed=0)
    return env


ENV = player()

UNDERSTOOD = [
    ('{"reason": "half is fair", "coins": 5}', 5),
    ("{'reason': 'half', 'coins': 5}", 5),
    ('{"reason": "I think "fair" is good", "coins": 5}', 5),
    ('{"reason": "x", "coins": 5枚}', 5),
    ('{"coins": {"invest": 5, "keep": 5}}', 5),
    ('{"coins": "5"}', 5),
    ('{"coins": "5 coins"}', 5),
    ('{"coins": "five"}', 5),
    ('{"coins": 5.0}', 5),
    ('{"coins": [5]}', 5),
    ('{"Coins": 5, "Reason": "half"}', 5),
    ('{"reason": "the others gave 8 coins", "coins": 0}', 0),
    ("coins: 5", 5),
    ("Coins = 5", 5),
    ("coins: 5 coins", 5),
    ("coins: 5 of 10", 5),
    ("coins: 5 (50% of what I have)", 5),
    ("coins: all 10", 10),
    ("coins: five", 5),
    ("coins: ten coins", 10),
    ("coins: zero", 0),
    ("coins: -0", 0),
    ("coins: +5", 5),
    ("coins: 05", 5),
    ("coins: 5.00", 5),
    ("coins: 3\ncoins: 5", 5),
    ('{"coins": 3}\n\n{"coins": 5}', 5),
    ('coins: 3\n{"coins": 5}', 5),
    ("My investment: 5", 5),
    ("Coins to invest: 5", 5),
    ("I thought about it.\n\nI invest 5 coins.", 5),
    ("I will contribute five coins", 5),
    ("Let me think.\n5", 5),
    ("硬币：5", 5),
    ("投入：五枚硬币", 5),
    ("投资额：两枚", 2),
    ("我决定投入 5 枚硬币。", 5),
    ('{"理由": "公平", "硬币": 5}', 5),
]


@pytest.mark.parametrize(("reply", "coins"), UNDERSTOOD)
def test_investments_are_read_as_a_person_would(reply, coins):
    assert ENV.parse(reply, "player_0") == coins


REFUSED = [
    ("coins: -3", Failure.ILLEGAL, "cannot be below 0"),
    ('{"coins": -3}', Failure.ILLEGAL, "cannot be below 0"),
    ("coins: −0.5", Failure.ILLEGAL, "cannot be below 0"),
    ("coins: 2.5", Failure.ILLEGAL, "only whole coins can be invested, not 2.5"),
    ('{"coins": 2.5}', Failure.ILLEGAL, "only whole coins can be invested, not 2.5"),
    ("coins: 2,5", Failure.ILLEGAL, "only whole coins can be invested, not 2.5"),
    ("coins: 0.00000000000000000001", Failure.ILLEGAL, "too precise"),
    ("coins: 11", Failure.ILLEGAL, "most you can invest in this round is 10"),
    ("coins: 1,000", Failure.ILLEGAL, "most you can invest in this round is 10"),
    (f"coins: {'9' * 5000}", Failure.ILLEGAL, "nobody owns that many"),
    ('{"coins": NaN}', Failure.ILLEGAL, "'NaN' is not a number of coins"),
    ('{"coins": "nan"}', Failure.ILLEGAL, "'nan' is not a number of coins"),
    ('{"coins": Infinity}', Failure.ILLEGAL, "'Infinity' is not a number of coins"),
    ("coins: -inf", Failure.ILLEGAL, "'inf' is not a number of coins"),
    ("coins: ∞", Failure.UNPARSABLE, "no number of coins was found"),
    ("硬币：无穷", Failure.ILLEGAL, "'无穷' is not a number of coins"),
    ('{"coins": 1e999}', Failure.UNPARSABLE, "one number of coins"),
    ("coins: 3 or 4", Failure.UNPARSABLE, "one number of coins"),
    ("coins: 3-4", Failure.UNPARSABLE, "one number of coins"),
    ("coins: 3 到 4", Failure.UNPARSABLE, "one number of coins"),
    ("coins: 3, 4", Failure.UNPARSABLE, "several amounts"),
    ('{"coins": 3} {"coins": 4}', Failure.UNPARSABLE, "several amounts"),
    ('{"coins": [3, 4]}', Failure.UNPARSABLE, "several amounts"),
    ('{"coins": 3, "coins": 4}', Failure.UNPARSABLE, "no number of coins was found"),
    ('{"coins": 3, "investment": 4}', Failure.UNPARSABLE, "several amounts"),
    ("coins: 1/2", Failure.UNPARSABLE, "one number of coins"),
    ("coins: 5/10", Failure.UNPARSABLE, "one number of coins"),
    ("coins: 2½", Failure.UNPARSABLE, "one number of coins"),
    ("coins: two and a half", Failure.UNPARSABLE, "one number of coins"),
    ("coins: 两枚半", Failure.UNPARSABLE, "one number of coins"),
    ("coins: nine hundred", Failure.UNPARSABLE, "one number of coins"),
    ("硬币：十二", Failure.UNPARSABLE, "one number of coins"),
    ("coins: 50%", Failure.UNPARSABLE, "one number of coins"),
    ("coins: 10 - 3 = 7", Failure.UNPARSABLE, "one number of coins"),
    ("coins: 1,0833", Failure.UNPARSABLE, "1,0833 is not a number of coins"),
    ("coins: half of them", Failure.UNPARSABLE, "no number of coins was found"),
    ("coins: about 5", Failure.UNPARSABLE, "no number of coins was found"),
    ("coins: at least 5", Failure.UNPARSABLE, "no number of coins was found"),
    ("coins: twenty-five", Failure.UNPARSABLE, "no number of coins was found"),
    ("coins: <amount>", Failure.UNPARSABLE, "no number of coins was found"),
    ('{"reason": "<text>", "coins": <amount>}', Failure.UNPARSABLE, "no number of coins was found"),
    ('{"coins": null}', Failure.UNPARSABLE, "no number of coins was found"),
    ('{"coins": true}', Failure.UNPARSABLE, "no number of coins was found"),
    ('{"reason": "half", "coins": 5', Failure.UNPARSABLE, "no number of coins was found"),
    ("I will invest 5 coins if the others do.", Failure.UNPARSABLE, "no number of coins was found"),
    ("player_0: coins: 5", Failure.ILLEGAL, "you decide only for yourself"),
    ("Player 2: 5", Failure.ILLEGAL, "you decide only for yourself"),
    ("", Failure.EMPTY, "empty"),
    (" \n\t", Failure.EMPTY, "empty"),
]


@pytest.mark.parametrize(("reply", "kind", "reason"), REFUSED)
def test_other_replies_are_refused_with_a_reason(reply, kind, reason):
    with pytest.raises(InvalidReply, match=reason) as error:
        ENV.parse(reply, "player_0")
    assert error.value.kind is kind


def test_steps_of_a_quarter():
    env = player(coin_step=0.25, endowment=2)
    assert env.parse("coins: 1.75", "player_0") == 7
    assert env.parse('{"coins": "1,5"}', "player_0") == 6
    assert env.parse("coins: two", "player_0") == 8
    assert env.format(7, "player_0") == '{"coins": 1.75}'
    with pytest.raises(InvalidReply, match=r"steps of 0.25, and 1.8 is none of them") as error:
        env.parse("coins: 1.8", "player_0")
    assert error.value.kind is Failure.ILLEGAL


@pytest.mark.slow_except(2)
@pytest.mark.parametrize(
    "reply",
    [
        "coins: " + "1," * 400_000,
        "coins: all" + " " * 1_000_000 + "x",
        "coins: " * 140_000,
        '{"coins": ' * 100_000,
        "my total coins " * 66_000,
        "player_1: coins: 5\n" * 50_000,
        "我投入" * 330_000,
    ],
)
def test_a_megabyte_is_refused_at_once(reply):
    with pytest.raises(InvalidReply):
        ENV.parse(reply, "player_0")


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("options", [{}, {"mode": 2}, {"endowment_mode": "initial"}, {"cot": False}])
def test_texts_name_no_seat_and_are_equal_for_all(language, options):
    env = player(language=language, **options)
    assert len({env.observe(agent)["rules"] for agent in env.agents}) == 1
    for investments in ((4, 0, 4, 2), (1, 0, 1, 7)):
        for investment in investments:
            for agent in env.agents:
                read = env.observe(agent)
                assert "player" not in read["text"].lower() and "player_" not in read["rules"]
                assert "玩家 " not in read["text"]
            env.step(investment)
        # Players with equal investments read the same text on any seat.
        assert env.observe("player_0")["text"] == env.observe("player_2")["text"]


@pytest.mark.parametrize("mode", [1, 2])
def test_the_history_grows_at_its_end(mode):
    env = player(mode=mode)
    before = ""
    for number in range(1, 6):
        text = env.observe("player_1")["text"]
        history = "".join(f"{line}\n" for line in text.splitlines() if line.startswith("Round") and " of " not in line)
        assert text.startswith(history) and history.startswith(before) and history.count("Round") == number - 1
        before = history
        for investment in (number, 0, 10, 3):
            env.step(investment)
    assert env.observe("player_1")["text"].startswith(before)
