"""How actions are read out of replies."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmarena_envs import hanabi_v0
from llmarena_envs.core.failures import Failure, InvalidReply
from tests.llmarena_envs.hanabi.positions import DECK, DISCARD_1, DISCARD_2, PLAY_1, PLAY_2, RANK_1, RANK_2, RED, YELLOW
from tests.llmarena_envs.replies import LONG, outcome

EMPTY, UNPARSABLE, ILLEGAL = Failure.EMPTY, Failure.UNPARSABLE, Failure.ILLEGAL


def small_env(**options):
    """Returns the small game with player_0 to move, one information token, and Yellow 1, Yellow 2 in player_1's hand."""
    env = hanabi_v0.raw_env(deck=DECK, **options)
    env.reset(seed=0)
    env.step(YELLOW)
    env.step(RED)
    return env


CORPUS = [
    # the published form, and how it may vary
    ("Action: Play card 1", PLAY_1),
    ("Action: Play card 2", PLAY_2),
    ("Action: Discard card 1", DISCARD_1),
    ("Action: Discard card 2", DISCARD_2),
    ("Action: Reveal Yellow", YELLOW),
    ("Action: Reveal rank 1", RANK_1),
    ("Action: Reveal rank 2", RANK_2),
    ("The first card is Red 1, which fits.\nAction: Play card 1\n", PLAY_1),
    ("action: play card 1", PLAY_1),
    ("ACTION: PLAY CARD 1", PLAY_1),
    ("Action:Play card 1.", PLAY_1),
    ("Action = play 1", PLAY_1),
    ("Action: play my card 1", PLAY_1),
    ("Action: Play the card 1!", PLAY_1),
    ("Action: Play card #1", PLAY_1),
    ("Action: Play card at position 1", PLAY_1),
    ("Action: discard position 2", DISCARD_2),
    ("Action: reveal 2", RANK_2),
    ("Action: reveal the rank 2", RANK_2),
    ("Action: reveal number 2", RANK_2),
    ("Action: reveal color yellow", YELLOW),
    ("Action: reveal colour: Yellow", YELLOW),
    ("Action: reveal Y", YELLOW),
    ("Action: reveal yellow cards", YELLOW),
    ("Action: Reveal Yellow to player_1", YELLOW),
    ("Action: Reveal Yellow to player 1", YELLOW),
    (r"Action: Reveal Yellow to player\_1", YELLOW),
    ("Action: Reveal rank 2 to my partner", RANK_2),
    ("Final action: Play card 1", PLAY_1),
    ("My action: Play card 1", PLAY_1),
    ("I know it is Red 1. Action: Play card 1", PLAY_1),
    ("*Action*: *Play card 1*", PLAY_1),
    ("### Action: Play card 1", PLAY_1),
    ("- Action: Play card 1", PLAY_1),
    ("> Action: Play card 1", PLAY_1),
    ('Action: "Play card 1"', PLAY_1),
    ("Action: [Play card 1]", PLAY_1),
    ("Action: <Play card 1>", PLAY_1),
    ("Action: (Play card 1)", PLAY_1),
    ("行动：Play card 1。", PLAY_1),
    ("动作：【Play card 1】", PLAY_1),
    ("我打第一张牌。\nAction: Play card 1，因为它是 Red 1。", PLAY_1),
    ("Action: Play card 1, since it is Red 1.", PLAY_1),
    ("Action: Play card 1 (it fits)", PLAY_1),
    ("Action: Play card 1 - it fits", PLAY_1),
    ("Action: Reveal rank 1 (so that player_1 plays it)", RANK_1),
    ("Action: Play card 1\r\n", PLAY_1),
    ("Action:\nPlay card 1", PLAY_1),
    # an action alone on a line
    ("Play card 1", PLAY_1),
    ("play 1", PLAY_1),
    ("I have thought about it.\n\nReveal Yellow\n", YELLOW),
    ("[Discard card 2]", DISCARD_2),
    # JSON
    ('{"action": "Play card 1"}', PLAY_1),
    ('{"Action": "reveal yellow"}', YELLOW),
    ('{\n  "action": "Play card 1",\n  "why": "Discard card 1 loses it"\n}', PLAY_1),
    ('{"action": "Action: Play card 1"}', PLAY_1),
    # the last statement counts
    ("Action: Discard card 1\nNo.\nAction: Play card 1", PLAY_1),
    ('Action: {"action": "Play card 1"}', PLAY_1),
    ("; action:" * (LONG // 9) + " Play card 1", PLAY_1),
    ("Action: Discard card 1\nPlay card 1", DISCARD_1),
    ("Discard card 1\nAction: Play card 1", PLAY_1),
    ('Action: Discard card 1\n{"action": "Play card 1"}', PLAY_1),
    ('{"action": "Discard card 1"}\nAction: Play card 1', PLAY_1),
    ("My options:\n- Play card 1\n- Discard card 1\nAction: Play card 1", PLAY_1),
    ("Action: Play card 1\nWhat else I thought of:\n- Discard card 1\n", PLAY_1),
    ("Action: Discard card 1" + " ." * LONG + "\nAction: Play card 1", PLAY_1),
    ("Action: Play card 1\nUser: Action: Discard card 1", PLAY_1),
    # an action that is stated but not allowed
    ("Action: Play card 0", ILLEGAL),
    ("Action: Play card 3", ILLEGAL),
    ("Action: Play card -1", ILLEGAL),
    ("Action: Discard card 99", ILLEGAL),
    ("Action: Play card " + "9" * 5000, ILLEGAL),
    ("Action: Reveal Red", ILLEGAL),
    ("Action: Reveal rank 3", ILLEGAL),
    ("Action: Reveal rank 6", ILLEGAL),
    ("Action: Reveal rank 0", ILLEGAL),
    ("Action: Reveal Green", ILLEGAL),
    ("Action: Reveal Purple", ILLEGAL),
    ("Action: Reveal purple to player_1", ILLEGAL),
    ("Action: Reveal Yellow to player_0", ILLEGAL),
    ("Action: Reveal Yellow to player_7", ILLEGAL),
    ('{"action": "Play card 3"}', ILLEGAL),
    # no action, or not a clear one
    ("", EMPTY),
    (" \n\t ", EMPTY),
    ("I resign.", UNPARSABLE),
    ("I would play card 1 here.", UNPARSABLE),
    ("I think Play card 1 is best", UNPARSABLE),
    ("Action:", UNPARSABLE),
    ("Action: Play", UNPARSABLE),
    ("Action: Play card", UNPARSABLE),
    ("Action: Play card one", UNPARSABLE),
    ("Action: Play Red 1", UNPARSABLE),
    ("Action: Reveal", UNPARSABLE),
    ("Action: Reveal rank", UNPARSABLE),
    ("Action: Reveal everything I know", UNPARSABLE),
    ("Action: Reveal Yellow 1", UNPARSABLE),
    ("Action: Reveal rank 1 and Yellow", UNPARSABLE),
    ("Action: Play card 1 or Discard card 2", UNPARSABLE),
    ("Action: Play card 1, or rather: Discard card 2", UNPARSABLE),
    ("Action: Play card 1 and 2", UNPARSABLE),
    ("Action: Play cards 1, 2", UNPARSABLE),
    ("Action: Play card 1, 2", UNPARSABLE),
    ("Action: Play card 1/2", UNPARSABLE),
    ("Action: Play card 1-2", UNPARSABLE),
    ("Action: Play card 1.5", UNPARSABLE),
    ("Action: Play card 1st", UNPARSABLE),
    ("Action: Play card 1now", UNPARSABLE),
    ("Action: Reveal Yellowish", UNPARSABLE),
    ("Action: Reveal everything", UNPARSABLE),
    ("Action: Play card 1 would be a mistake", UNPARSABLE),
    ("Action: not Play card 1", UNPARSABLE),
    ("Action: <action>", UNPARSABLE),
    ("Action: Play card 1\nAction: none", UNPARSABLE),
    ("Action: 打出第1张牌", UNPARSABLE),
    ('{"action": 2}', UNPARSABLE),
    ('{"action": null}', UNPARSABLE),
    ('{"move": "x"}', UNPARSABLE),
    ("Last action: Play card 1", UNPARSABLE),
    ("3", UNPARSABLE),
    ("\ud800", UNPARSABLE),
    ("a" * LONG, UNPARSABLE),
    ("Action: " * (LONG // 8), UNPARSABLE),
    ("Action:" + " " * 90_000 + "b", UNPARSABLE),
    ("-" * LONG, UNPARSABLE),
    ("\n" * 90_000 + "x", UNPARSABLE),
    ("reveal " * (LONG // 7), UNPARSABLE),
    ("Action: reveal" + " " * 90_000 + "!", UNPARSABLE),
    *(
        (start + " " * 90_000 + "x", UNPARSABLE)
        for start in ("play", "play card", "reveal", "reveal colour", "reveal rank")
    ),
    ("\n".join(["reveal colour" + " " * 300] * 300), UNPARSABLE),
]


@pytest.mark.parametrize(("reply", "expected"), CORPUS, ids=[repr(reply)[:60] for reply, _ in CORPUS])
def test_corpus(reply, expected):
    assert outcome(small_env(), reply, "player_0") == expected


THREE_PLAYERS = [
    ("Action: Reveal Red to player_2", (2, "Red")),
    ("Action: reveal red to player 2", (2, "Red")),
    ("Action: Reveal Red to player_1", (1, "Red")),
    ("Action: Reveal rank 1 for player_1", (1, 1)),
    ("Action: Reveal rank 1 to player_2.", (2, 1)),
    ("Action: Reveal Red", UNPARSABLE),
    ("Action: Reveal rank 1 to my partner", UNPARSABLE),
    ("Action: Reveal Red to player_0", ILLEGAL),
    ("Action: Reveal Red to player_3", ILLEGAL),
    ("Action: Reveal Red to everybody", UNPARSABLE),
]


@pytest.mark.parametrize(("reply", "expected"), THREE_PLAYERS)
def test_a_hint_names_its_receiver_among_more_than_two_players(reply, expected):
    env = hanabi_v0.raw_env(players=3, deck="R2 R3 R1 Y1 Y1 R1 " + "R1 Y1 Y2 Y2 R2 R3 Y3 Y3 R4 R4 Y4 Y4 R5 Y5")
    env.reset(seed=0)
    read = outcome(env, reply, "player_0")
    if isinstance(expected, tuple):
        offset, what = expected
        kind, value, to = env.game.variant.actions[read]
        assert (to, value) == (offset, 0 if what == "Red" else what)
        assert kind.value == ("reveal colour" if what == "Red" else "reveal rank")
    else:
        assert read == expected


REASONS = [
    ("Action: Play card 3", "the cards of a hand are counted from 1 to 2"),
    ("Action: Reveal rank 6", "ranks go from 1 to 5"),
    ("Action: Reveal Blue", "the colours of this game are Red, Yellow"),
    ("Action: Reveal pink", "no card has the colour pink"),
    ("Action: Reveal Red", "player_1 holds no Red card, and a hint must mark at least one card"),
    ("Action: Reveal Red to player_0", "a hint goes to one of player_1, not to player_0"),
    ("nothing", "no move was found; end the reply with one in the form Action: Reveal Yellow"),
    ("Action: Play card 1 and 2", "'Play card 1 and 2' is not clear; write one action and nothing else on its line"),
    (" ", "the reply was empty"),
]


@pytest.mark.parametrize(("reply", "message"), REASONS)
def test_refusal_reason_gives_an_instruction(reply, message):
    with pytest.raises(InvalidReply) as caught:
        small_env().parse(reply, "player_0")
    assert caught.value.message.startswith(message)


ENV = small_env()


PROSE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="{}<>"), max_size=300)


@settings(deadline=None)
@given(PROSE, st.sampled_from(ENV.game.legal))
def test_action_line_counts_under_any_preceding_text(prose, action):
    line = ENV.format(action, "player_0")
    assert ENV.parse(f"{prose}\n{line}", "player_0") == action
    assert ENV.parse(f"{prose}\n{line.upper()} \n\n", "player_0") == action


PROSE_WORDS = ("I", "would", "rather", "play", "my", "first", "card", "than", "discard", "or", "reveal", "red", "now")
WORDS = st.lists(st.sampled_from(PROSE_WORDS)).map(" ".join)


@given(WORDS)
def test_prose_without_a_statement_is_never_made_into_an_action(words):
    assert outcome(ENV, "Well, " + words + "?", "player_0") is UNPARSABLE
