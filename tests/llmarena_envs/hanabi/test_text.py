import itertools

import numpy as np
import pytest

from llmarena_envs import hanabi_v0
from llmarena_envs.core.options import OptionError
from llmarena_envs.hanabi.text import HanabiCodec
from llmarena_envs.hanabi.variant import Variant
from tests.llmarena_envs.hanabi.positions import (
    DISCARD_1,
    FULL,
    PLAY_1,
    PLAY_2,
    RANK_2,
    RED,
    play,
    random_game,
    small_game,
)


def codec(language="en", hint=True, cot=False, **options):
    return HanabiCodec(Variant(**options), language, hint, cot)


def test_the_observation():
    game = small_game(RANK_2, RED, PLAY_1, DISCARD_1)
    assert codec().observation(game.view("player_0")) == "\n".join(
        [
            "You are player_0.",
            "Actions so far:",
            "player_0: Reveal rank 2 (marks card 2)",
            "player_1: Reveal Red (marks cards 1, 2)",
            "player_0: Play card 1 (Red 1, added to its firework)",
            "player_1: Discard card 1 (Yellow 1)",
            "Fireworks: Red 1, Yellow 0",
            "Information tokens: 2 of 3",
            "Life tokens: 1 of 1",
            "Cards in the deck: 14",
            "Turns left once the deck is empty: 2",
            "Discarded cards: Yellow 1",
            "Cards of player_1, and what player_1 knows of them:",
            "1: Yellow 2 - colour Red/Yellow, rank 2 (told)",
            "2: Red 1 - colour Red/Yellow, rank 1/2/3/4/5",
            "Your own cards, as far as you know:",
            "1: colour Red (told), rank 1/2/3/4/5",
            "2: colour Red/Yellow, rank 1/2/3/4/5",
            "Last action: player_1: Discard card 1 (Yellow 1)",
            "Last card played or discarded: Yellow 1",
            "Actions you can take: Discard card 1, Discard card 2, Play card 1, Play card 2, Reveal Red, Reveal Yellow, "
            "Reveal rank 1, Reveal rank 2",
            "It is your turn. Reply with one line and nothing else, in this form:",
            "Action: <action>",
            "For instance: Action: Discard card 1",
        ]
    )


def test_text_after_a_misplay_and_out_of_turn():
    game = small_game(PLAY_2, life_tokens=2)
    text = codec(life_tokens=2).observation(game.view("player_0"))
    assert "player_0: Play card 2 (Red 2, does not fit, a life token is lost)\n" in text
    assert "Life tokens: 1 of 2\n" in text
    assert text.endswith("\nLast card played or discarded: Red 2\nIt is not your turn.")
    assert "Actions you can take" not in text


def test_options_change_the_end_of_the_observation_only():
    view = small_game().view("player_0")
    texts = [codec(hint=hint, cot=cot).observation(view) for hint, cot in itertools.product((True, False), repeat=2)]
    state = texts[3].split("It is your turn.")[0]
    assert all(text.startswith(state) for text in texts)
    assert ["Actions you can take: Play card 1" in text for text in texts] == [True, True, False, False]
    assert ["Explain first" in text for text in texts] == [True, False, True, False]


def test_more_players_are_named():
    game = next(random_game(Variant(**FULL, players=3), np.random.default_rng(0)))
    text = codec(**FULL, players=3).observation(game.view("player_0"))
    assert text.index("Cards of player_1") < text.index("Cards of player_2") < text.index("Your own cards")
    assert " to player_1" in text
    assert " to player_2" in text
    play(game, 10)
    text = codec(**FULL, players=3).observation(game.view("player_1"))
    assert text.index("Cards of player_2") < text.index("Cards of player_0")
    assert "player_0: Reveal Red to player_1 (marks card " in text


@pytest.mark.parametrize("language", ["en", "zh"])
def test_history_comes_first_for_a_common_prefix(language):
    writer = codec(language, **FULL)
    seen = {}
    for game in random_game(Variant(**FULL), np.random.default_rng(2)):
        for agent in game.agents:
            lines = writer.observation(game.view(agent)).splitlines()
            past = lines[: 2 + len(game.history)]
            if len(game.history) > 1:
                assert past[: len(seen[agent])] == seen[agent]
            if game.history:
                seen[agent] = past


def test_rules_describe_the_variant():
    rules = codec().rules("player_1")
    for fact in (
        "as player_1 with player_0.",
        "The deck has 20 cards. Its colours are Red, Yellow.",
        "ranks: 1, 1, 1, 2, 2, 3, 3, 4, 4, 5.",
        "up to rank 5.",
        "10 at most",
        "Each player holds 2 cards.",
        "player_0 first",
        "Information tokens at the start: 3. Life tokens at the start: 1.",
        "Reveal COLOUR: ",
        "Reveal rank R: ",
        "one more turn",
        "all points are lost too and the score is 0",
    ):
        assert fact in rules
    full = codec(**FULL, players=3, bomb_score="keep").rules("player_1")
    for fact in (
        "with player_0, player_2.",
        "50 cards. Its colours are Red, Yellow, Green, White, Blue.",
        "25 at most",
        "holds 5 cards",
        "Information tokens at the start: 8. Life tokens at the start: 3.",
        "Reveal COLOUR to PLAYER: ",
        "the points scored before are kept",
    ):
        assert fact in full
    assert "are kept" not in rules
    assert "score is 0" not in full


def test_chinese_texts_have_the_same_facts():
    game = small_game(RANK_2, RED, PLAY_1, DISCARD_1)
    text = codec("zh").observation(game.view("player_0"))
    for fact in (
        "你是 player_0。",
        "player_0：Reveal rank 2（指出 1 张牌：第 2 张）",
        "player_0：Play card 1（Red 1，已接到烟花上）",
        "烟花：Red 1, Yellow 0",
        "信息标记：2 / 3",
        "牌库剩余：14",
        "弃牌：Yellow 1",
        "1: Yellow 2 - 颜色 Red/Yellow，点数 2（已告知）",
        "1: 颜色 Red（已告知），点数 1/2/3/4/5",
        "最近打出或弃掉的牌：Yellow 1",
        "你可以采取的行动：Discard card 1, ",
        "Action: <行动>",
    ):
        assert fact in text
    rules = codec("zh").rules("player_1")
    for fact in (
        "共 20 张牌",
        "颜色有 2 种：Red 红, Yellow 黄。",
        "1, 1, 1, 2, 2, 3, 3, 4, 4, 5",
        "最高 10 分",
        "3 个信息标记",
        "1 个生命标记",
        "得分为 0",
    ):
        assert fact in rules
    assert "Green" not in rules


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_picture_shows_every_hand(language):
    picture = codec(language).picture(small_game(PLAY_1))
    for card in ("Red 2", "Red 3", "Yellow 1", "Yellow 2"):
        assert card in picture
    env = hanabi_v0.env(render_mode="ansi", language=language)
    env.reset(seed=0)
    assert isinstance(env.render(), str)


@pytest.mark.parametrize(
    "options", [{"hint": 1}, {"cot": "yes"}, {"language": "fr"}, {"players": 9}, {"obs_type": "x"}]
)
def test_options_are_checked(options):
    with pytest.raises(OptionError, match=next(iter(options))):
        hanabi_v0.env(**options)


def test_actions_are_written_as_reply_lines():
    game = small_game(RANK_2)
    assert codec().format(PLAY_1, game.view("player_1")) == "Action: Play card 1"
    assert codec().format(RED, game.view("player_1")) == "Action: Reveal Red"
    three = next(random_game(Variant(players=3), np.random.default_rng(0)))
    names = [codec(players=3).format(number, three.view("player_0")) for number in (4, 6, 8, 17)]
    assert names == [
        "Action: Reveal Red to player_1",
        "Action: Reveal Red to player_2",
        "Action: Reveal rank 1 to player_1",
        "Action: Reveal rank 5 to player_2",
    ]
