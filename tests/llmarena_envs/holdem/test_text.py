"""What players read."""

import re
from importlib import resources
from typing import Any

import numpy as np
import pytest

from llmarena_envs import holdem_v0
from llmarena_envs.core.ending import Ending
from llmarena_envs.core.failures import Failure, InvalidReply
from llmarena_envs.core.prompts import Prompts
from llmarena_envs.holdem.cards import card_names
from llmarena_envs.holdem.game import Holdem
from llmarena_envs.holdem.replies import ACTION_NAMES
from llmarena_envs.holdem.text import HoldemCodec
from tests.llmarena_envs.holdem.table import everybody_folds_to_the_end, table

DECK = "AhAd KhKd 2c 7d 9h 4s Jc"


def text(actions: str, agent: str, hint: bool = True, cot: bool = True, language: str = "en", **options: Any) -> str:
    game = table(actions, **options)
    return told(HoldemCodec(game, language, hint, cot), game, agent)


def told(codec: HoldemCodec, game: Holdem, agent: str) -> str:
    view = game.view(agent)
    return codec.observation(view) if game.to_move else codec.ending(view, Ending(game.rewards[view.seat]))


def rules(language: str = "en", **options: Any) -> str:
    return HoldemCodec(table("", **options), language, True, True).rules("player_0")


def test_the_text_of_a_turn() -> None:
    expected = """You are player_0.
Your hole cards: Ah Ad
Your position: button and small blind
Betting:
player_0 posts the small blind: 1
player_1 posts the big blind: 2
player_0 calls: 1
player_1 raises half the pot: puts in 2, now 4 in this round
player_0 calls: 2
Flop: 2c 7d 9h
player_1 checks
player_0 raises the full pot: puts in 8, now 8 in this round
player_1 goes all-in: puts in 96, now 96 in this round
Street: flop
Community cards: 2c 7d 9h
Pot: 112
Chips left: player_0 88, player_1 0
Chips put in during this hand: player_0 12, player_1 100
To call: 88
Legal actions: Fold, Check and Call (a call, puts in 88)
It is your turn."""
    assert text("chc cpa", "player_0", deck=DECK).startswith(expected)


def test_text_out_of_turn_has_no_legal_actions() -> None:
    waiting = text("", "player_1", deck=DECK)
    assert "Your hole cards: Kh Kd" in waiting
    assert "Your position: big blind" in waiting
    assert "Legal actions" not in waiting
    assert waiting.endswith("To call: 0\nIt is not your turn.")


def test_hint_and_cot() -> None:
    assert "Legal actions: Fold, Check and Call (a call, puts in 1), Raise Half Pot (puts in 3)" in text("", "player_0")
    assert "Legal actions: Check and Call (a check, costs nothing), Raise Half Pot (puts in 2)" in text("c", "player_1")
    assert "Legal actions" not in text("", "player_0", hint=False)
    assert "step by step" in text("", "player_0")
    assert "step by step" not in text("", "player_0", cot=False)
    assert "one line only" in text("", "player_0", cot=False)


def test_positions() -> None:
    def position(agent: str, **options: Any) -> str:
        found = re.search("Your position: (.*)", text("", agent, **options))
        assert found is not None
        return found[1]

    assert [position(f"player_{seat}") for seat in (0, 1)] == ["button and small blind", "big blind"]
    assert [position(f"player_{seat}", rules="rlcard") for seat in (0, 1)] == ["button and big blind", "small blind"]
    assert [position(f"player_{seat}", players=4) for seat in range(4)] == [
        "button",
        "small blind",
        "big blind",
        "3 seats after the button",
    ]


def test_the_betting_only_grows_during_a_hand() -> None:
    """The text is append-only up to the state, to keep a provider's prompt cache useful."""
    for seed in range(30):
        env = holdem_v0.raw_env(players=3, hands=2)
        env.reset(seed=seed)
        rng = np.random.default_rng(seed)
        read: dict[tuple[str, int], str] = {}
        while not any(env.terminations.values()):
            agent = env.agent_selection
            head = env.observe(agent)["text"].partition("\nStreet:")[0]
            before = read.get((agent, env.game.hand), head)
            assert head.startswith(before)
            read[agent, env.game.hand] = head
            env.step(int(rng.choice(env.view(agent).legal)))


def test_board_is_in_the_history_and_in_the_state() -> None:
    seen = text("cc cc cc", "player_1", deck=DECK)
    assert "Flop: 2c 7d 9h\nplayer_1 checks\nplayer_0 checks\nTurn: 4s\n" in seen
    assert "River: Jc\nStreet: river\nCommunity cards: 2c 7d 9h 4s Jc\n" in seen
    assert "Street: before the flop\nCommunity cards: none\n" in text("", "player_0")


def test_board_of_called_all_in_is_in_the_final_text() -> None:
    for agent, gain in (("player_0", "won"), ("player_1", "lost")):
        assert text("ac", agent, deck=DECK).endswith(
            "player_1 calls: 98\nFlop: 2c 7d 9h\nTurn: 4s\nRiver: Jc\n"
            "Result of hand 1: player_0 +100, player_1 -100. Board: 2c 7d 9h 4s Jc. Shown: player_0 Ah Ad, player_1 Kh Kd.\n"
            f"The match is over. It came to a showdown. You have {gain} 100 chips."
        )


def test_folded_cards_stay_secret_at_the_end() -> None:
    for agent, other, gain in (("player_0", "Kh Kd", "lost"), ("player_1", "Ah Ad", "won")):
        seen = text("f", agent, deck=DECK)
        assert seen.endswith(
            "player_0 folds\nResult of hand 1: player_0 -1, player_1 +1.\n"
            f"The match is over. All others folded to player_1. You have {gain} 1 chip."
        )
        assert other not in seen
    three = "AhAd KhKd QhQd 2c 7d 9h 4s Jc"
    for agent in ("player_0", "player_1", "player_2"):
        seen = text("f cc cc cc cc", agent, deck=three, players=3)
        assert "Shown: player_1 Kh Kd, player_2 Qh Qd." in seen
        assert ("Ah Ad" in seen) == (agent == "player_0")


def test_the_end_of_several_hands() -> None:
    assert text("f f", "player_0", hands=2).endswith(
        "The match is over. All 2 hands have been played. You have neither won nor lost chips."
    )
    assert re.search(
        r"player_\d has all the chips\. You have (won|lost)\.$", text("ac", "player_1", hands=9, reward="win")
    )


def test_earlier_hands_are_reported_with_shown_cards() -> None:
    game = table("cc cc cc cc f", hands=3)
    seen = HoldemCodec(game, "en", True, True).observation(game.view("player_0"))
    lines = seen.splitlines()
    first, second = game.results
    holes = [card_names(cards) for cards in first.shown]
    assert lines[1] == (
        f"Result of hand 1: player_0 {first.net[0]:+d}, player_1 {first.net[1]:+d}. "
        f"Board: {card_names(first.board)}. Shown: player_0 {holes[0]}, player_1 {holes[1]}."
    )
    assert lines[2] == f"Result of hand 2: player_0 {second.net[0]:+d}, player_1 {second.net[1]:+d}."
    assert lines[3] == "Hand 3 of 3."


def test_player_without_chips_is_informed() -> None:
    game = table("", players=3, hands=4, stack=20)
    game.betting = game.betting._replace(stacks=(20, 0, 18), live=(True, True, True))
    codec = HoldemCodec(game, "en", True, True)
    view = game.view("player_1")._replace(hole=())
    assert codec.observation(view).startswith("You are player_1.\nHand 1 of 4.\nYou are out of the match.\nBetting:\n")


def test_reused_codec_writes_the_same_texts_as_a_new_one() -> None:
    """State that the codec caches for one text never leaks into another."""
    kept = HoldemCodec(table("", players=3, hands=3), "en", True, True)
    for deck_seed in range(12):
        game = table("", players=3, hands=3, deck_seed=deck_seed % 4, button=deck_seed % 3)
        rng = np.random.default_rng(deck_seed // 2)
        while game.to_move:
            game.apply((int(rng.choice(game.choices.legal)),))
            for agent in game.agents:
                assert told(kept, game, agent) == told(HoldemCodec(game, "en", True, True), game, agent)


def test_rules_state_the_specified_facts() -> None:
    told = rules()
    for part in ("one hand", "100 chips", "small blind is 1", "big blind 2", "split the pot", "Suits never decide"):
        assert part in told
    assert "lowest straight" in told
    ranked = [
        told.index(name) for name in ("Straight flush", "Four of a", "Full house", "Flush:", "Straight:", "Two pair")
    ]
    assert ranked == sorted(ranked)
    assert all(name in told for name in ACTION_NAMES)


def test_rules_fit_the_options() -> None:
    assert "The button posts the small blind and the other player the big blind" in rules()
    assert "The button posts the big blind" in rules(rules="rlcard")
    assert "The two players after the button" in rules(players=3)
    assert "cannot raise again" in rules(players=3)
    assert "cannot raise again" not in rules()
    assert "half of the pot as it is after that" in rules()
    assert "put in half of the pot" in rules(rules="rlcard")
    assert "if there is a bet to match" in rules()
    assert "if there is a bet to match" not in rules(rules="rlcard")
    assert "at most 7 hands" in rules(hands=7)
    assert "how many does not matter" in rules(reward="win")
    assert "player_0, player_1, player_2, player_3" in rules(players=4)


def test_every_language_has_the_same_texts_and_placeholders() -> None:
    folder = resources.files("llmarena_envs.holdem") / "prompts"
    languages = [entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml")]
    assert set(languages) >= {"en", "zh"}
    english = Prompts("llmarena_envs.holdem", "en")
    for language in languages:
        other = Prompts("llmarena_envs.holdem", language)
        assert other._templates.keys() == english._templates.keys()
        for name in english._templates:
            assert other[name].placeholders == english[name].placeholders, (language, name)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_text_is_read_as_an_answer_unless_it_is_one(language: str) -> None:
    """A model that repeats its prompt or the list of legal actions has not answered."""
    game = table()
    codec = HoldemCodec(game, language, True, True)
    seen = codec.observation(game.view("player_0"))
    view = game.view("player_0")
    before_the_example = seen[: seen.rindex("Action:")]
    for part in (codec.rules("player_0"), before_the_example):
        with pytest.raises(InvalidReply) as error:
            codec.parse(part, view)
        assert error.value.kind is Failure.UNPARSABLE


def test_the_picture_shows_all_cards() -> None:
    game = table("c", deck=DECK)
    codec = HoldemCodec(game, "en", True, True)
    picture = codec.picture(game)
    assert picture.startswith("player_0 (button): Ah Ad, 98 left, 2 in\nplayer_1: Kh Kd, 98 left, 2 in *\n")
    assert "player_0 calls: 1" in picture
    assert "Result of hand 1" in codec.picture(everybody_folds_to_the_end(game))


def test_no_text_names_a_model() -> None:
    for language in ("en", "zh"):
        told = rules(language) + text("", "player_0", language=language)
        assert not re.search(r"GPT|Claude|LLM|language model|模型", told)
