"""How replies are read."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmarena_envs import holdem_v0
from llmarena_envs.core.failures import Failure, InvalidReply, ParseError
from llmarena_envs.core.replies import find
from llmarena_envs.holdem.betting import Action
from llmarena_envs.holdem.replies import ACTION_NAMES, GRAMMAR
from tests.llmarena_envs.replies import outcome, wordy

FOLD, CALL, HALF, FULL, ALL_IN = Action


def read_action(reply: str) -> Action:
    return find(reply, GRAMMAR, "player_0").value


READ = [
    # The published form.
    ("Action: Fold", FOLD),
    ("Action: Check and Call", CALL),
    ("Action: Raise Half Pot", HALF),
    ("Action: Raise Full Pot", FULL),
    ("Action: All-In", ALL_IN),
    # Case, synonyms, blanks.
    ("ACTION: CHECK AND CALL", CALL),
    ("action : check & call", CALL),
    ("Action: Check", CALL),
    ("Action: call.", CALL),
    ("Action: Check/Call", CALL),
    ("Action: check or call", CALL),
    ("Action: CHECK_AND_CALL", CALL),
    ("Action: CheckAndCall", CALL),
    ("Action: Raise Pot", FULL),
    ("Action: Raise Half", HALF),
    ("Action: raise the pot", FULL),
    ("Action: Raise by half of the pot", HALF),
    ("Action: raise ½ pot", HALF),
    ("Action: Raise 50% pot", HALF),
    ("Action: bet half pot", HALF),
    ("Action: Half pot", HALF),
    ("Action: Pot", FULL),
    ("Action: All in", ALL_IN),
    ("Action: Allin", ALL_IN),
    ("Action: all‑in!", ALL_IN),  # with a non-breaking hyphen
    ("Action: go all in", ALL_IN),
    ("Action = Fold", FOLD),
    ("Action:\nFold", FOLD),
    # Quotes, brackets, Markdown, fences, full-width characters.
    ('Action: "Fold"', FOLD),
    ("Action: [Call]", CALL),
    ("Action: <Raise Half Pot>", HALF),
    ("### Action: Call", CALL),
    ("Action: 【Raise Half Pot】", HALF),
    ("Final action: Fold", FOLD),
    ("My action: Call", CALL),
    # JSON.
    ('{"action": "Fold"}', FOLD),
    ('{"Action": "all-in", "why": "I would never fold"}', ALL_IN),
    ("{'action': 'Call'}", CALL),
    ('{"action": "Fold"}\nno, {"action": "Call"}', CALL),
    ('{"action": "Fold"}\nAction: Call', CALL),
    ('Action: Call\n{"action": "Fold"}', FOLD),
    # The last statement counts, regardless of the prose before it.
    ("Action: Fold\nOn second thoughts:\nAction: Call", CALL),
    ("The opponent may go all-in. I should not fold. Raising half the pot is bad.\nAction: Call", CALL),
    ("I could Fold.\nFold\nBut\nAction: Raise Pot", FULL),
    ("Folding is best here. Action: Fold", FOLD),
    ("Action: Fold\nThat is because a call would cost 98.", FOLD),
    # Amounts and reasons after the name.
    ("Action: Call 2", CALL),
    ("Action: call2", CALL),
    ("Action: Call $2.", CALL),
    ("Action: Check and Call (a call, puts in 1)", CALL),
    ("Action: Raise Half Pot (puts in 6)", HALF),
    ("Action: Raise Half Pot, 6 chips", HALF),
    ("Action: All-In for 98", ALL_IN),
    ("Action: All-In: 98", ALL_IN),
    ("Action: Call, because folding would be weak", CALL),
    ("Action: Call - raising is risky", CALL),
    ("Action: Call the all-in", CALL),
    ("Action: I will call", CALL),
    ("Action: Fold. I do not want to call or raise.", FOLD),
    # A name alone on a line.
    ("Fold", FOLD),
    ("all-in", ALL_IN),
    ("I have nothing.\n\nFold\n\nThe board is bad.", FOLD),
    ("'Raise Half Pot'", HALF),
    ("[Call]", CALL),
    ("Check and Call (a check, costs nothing)", CALL),
    ("Call 2.", CALL),
    # Chinese.
    ("行动：跟注", CALL),
    ("思考之后，我认为应当弃牌。\nAction: Fold（弃牌）", FOLD),
    ("最终行动：全下", ALL_IN),
    ("动作: 加注半池", HALF),
    ("加注满池", FULL),
    ("Action: 过牌", CALL),
    # Role tags and other noise around it.
    ("</think>\n\nAction: Call\n\n\n", CALL),
]

NOT_READ = [
    "I fold.",
    "I would rather call than fold here.",
    "The last action: All-In by the opponent, so the pot is large.",
    "opponent's action: Fold",
    "My opponent's last action was a raise of half the pot.",
    "reaction: fold",
    "Action:",
    "Action: <name of the action>",
    "Action: ...",
    "Action: 3",
    "3",
    "Action: not fold",
    "Action: Fold or Call",
    "Action: Fold / Call",
    "Action: Fold, Check and Call, Raise Half Pot, Raise Full Pot, All-In",
    "Action: Check and fold",
    "Action: Check-Raise",
    "Action: Fold? No, Call",
    "Action: Fold is wrong here, so Call",
    "Action: folding",
    "Action: caller",
    "Fold\nCall",
    "- Fold\n- Call",
    "1. Fold\n2. Call",
    "Legal actions: Fold, Check and Call (a call, puts in 1), All-In (puts in 99)",
    "Fold or call",
    "Fold: it loses 1 chip.",
    "Pot",
    "Half pot",
    "pot: 12",
    "行动：我不知道",
    "我认为应当弃牌。",
    "forfeit",
    "Action: Fold\nAction: maybe",
]

AMOUNTS = [
    "Action: Raise to 12",
    "Action: Raise 12",
    "Action: raise",
    "Action: Raise $50 more",
    "Action: bet 6",
    "Action: Raise 2x",
    "Action: Raise 12 (half pot)",
    "Action: raise 75% of the pot",
    "Action: Raise the pot by half",
    '{"action": "raise", "amount": 12}',
    "Action: 加注 12",
]


@pytest.mark.parametrize(("reply", "action"), READ)
def test_replies_that_state_an_action(reply: str, action: Action) -> None:
    assert read_action(reply) is action


@pytest.mark.parametrize("reply", NOT_READ)
def test_replies_that_state_none(reply: str) -> None:
    with pytest.raises(ParseError) as error:
        read_action(reply)
    assert error.value.kind is Failure.UNPARSABLE


@pytest.mark.parametrize("reply", AMOUNTS)
def test_free_amounts_are_refused_with_the_reason(reply: str) -> None:
    with pytest.raises(ParseError) as error:
        read_action(reply)
    assert error.value.kind is Failure.UNPARSABLE
    assert error.value.reason.name in ("free_amount", "unclear")


def test_the_reason_names_the_sizes() -> None:
    env = holdem_v0.raw_env()
    env.reset(seed=0)
    with pytest.raises(InvalidReply, match="Raise Half Pot, Raise Full Pot or All-In"):
        env.parse("Action: Raise to 12", env.agent_selection)


@pytest.mark.slow
@given(wordy, st.sampled_from(list(Action)), wordy)
def test_a_marked_line_is_found_in_any_prose(before: str, action: Action, after: str) -> None:
    after = re.sub("[:=<>]", "", after)  # a label, or the mark of another turn, might begin with one of them
    assert read_action(f"{before}\nAction: {ACTION_NAMES[action]}\n\n{after}") is action


@pytest.mark.slow
@given(st.sampled_from(["Action: ", "Action:\n", "{", "fold ", "raise ", "a ", ". ", "-", "(", "我", " \n", "Call\n"]))
def test_a_million_characters_are_read_at_once(part: str) -> None:
    env = holdem_v0.raw_env()
    env.reset(seed=0)
    text = part * (1_000_000 // len(part))
    outcome(env, text, env.agent_selection)
    assert env.parse(f"{text}\nAction: Check and Call", env.agent_selection) == Action.CHECK_CALL


def facing_all_in(**options: object) -> holdem_v0.raw_env:
    env = holdem_v0.raw_env(button=0, deck_seed=0, **options)
    env.reset(seed=0)
    env.step(int(Action.ALL_IN))
    return env


def test_all_in_is_a_call_where_no_raise_is_left() -> None:
    env = facing_all_in()
    assert env.observe("player_1")["action_mask"].tolist() == [1, 1, 0, 0, 0]
    assert env.parse("Action: All-In", "player_1") == Action.CHECK_CALL
    env = facing_all_in(players=3)
    assert env.parse("Action: All-In", "player_1") == Action.CHECK_CALL


def test_all_in_is_a_call_where_the_opponent_is_all_in_for_less() -> None:
    env = holdem_v0.raw_env(button=0, hands=2, stack=50)
    env.reset(seed=0)
    for action in (Action.FOLD, Action.CHECK_CALL, Action.ALL_IN):
        env.step(int(action))
    view = env.view("player_1")
    assert (view.table.stacks, view.to_call) == ((0, 49), 47)
    assert view.legal == (Action.FOLD, Action.CHECK_CALL)
    assert env.parse("Action: All-In", "player_1") == Action.CHECK_CALL


def test_all_in_stays_all_in_if_betting_is_not_reopened() -> None:
    env = holdem_v0.raw_env(players=3, button=0)
    env.reset(seed=0)
    view = env.view("player_0")._replace(legal=(Action.FOLD, Action.CHECK_CALL), to_call=7)
    for stacks, action in [
        ((50, 60, 0), Action.ALL_IN),
        ((50, 0, 0), Action.CHECK_CALL),
        ((7, 60, 0), Action.CHECK_CALL),
    ]:
        assert env.codec.parse("Action: All-In", view._replace(table=view.table._replace(stacks=stacks))) == action


def test_illegal_actions_are_refused_with_the_reason_of_the_rules() -> None:
    env = holdem_v0.raw_env(button=0)
    env.reset(seed=0)
    env.step(int(Action.CHECK_CALL))
    with pytest.raises(InvalidReply, match="no bet to fold to") as error:
        env.parse("Action: Fold", "player_1")
    assert error.value.kind is Failure.ILLEGAL
    with pytest.raises(InvalidReply, match="not your turn"):
        env.parse("Action: Call", "player_0")


@pytest.mark.parametrize(
    "reply",
    [
        "Action: Check",
        "**Check**",
        "Action: I check.",
        "行动：过牌",
        '{"action": "check"}',
        "\\boxed{Check}",
        'take_action("check")',
        "Action: Fold\nOn reflection:\nAction: Check",
    ],
)
def test_check_facing_a_bet_is_illegal_and_never_a_call(reply: str) -> None:
    env = holdem_v0.raw_env(button=0)
    env.reset(seed=0)
    with pytest.raises(InvalidReply, match=r"a bet to match.*would put in 1") as error:
        env.parse(reply, "player_0")
    assert error.value.kind is Failure.ILLEGAL
    env.step(int(Action.CHECK_CALL))
    assert env.parse("Action: Check", "player_1") == Action.CHECK_CALL


@pytest.mark.parametrize(
    ("reply", "action"),
    [
        ("Action: Check and Call", CALL),
        ("Action: check/call", CALL),
        ("Action: Call", CALL),
        ("Check the pot odds first.\nFold", FOLD),
        ("Fold\nCheck that I am right about the odds.", FOLD),
        ("I cannot check here.\nAction: Fold", FOLD),
        ("Action: Call\nPlan: Check", CALL),
    ],
)
def test_other_words_about_checks_facing_a_bet(reply: str, action: Action) -> None:
    env = holdem_v0.raw_env(button=0)
    env.reset(seed=0)
    assert env.parse(reply, "player_0") == action
