"""Replies in which something that looks like a move is none, or not the one that is meant."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmarena_envs.core.failures import Failure, InvalidReply
from llmarena_envs.core.replies import clean_text
from tests.llmarena_envs.reading.cases import CASES, environment, expected, parse
from tests.llmarena_envs.reading.styles import STYLES

# Position, reply, and the action it states: a number, a line of the published form, or None if it is refused.
TRAPS = [
    ("connect_four", "X: 4\n\nConfidence:\n7", 3),
    ("tictactoe", "X: (2, 2) because it then threatens X: (1, 1), X: (3, 3)", 4),
    ("tictactoe", "X: (2, 2)\n\nIt threatens X: (1, 1) and X: (3, 3).", 4),
    ("hanabi_2", "Action: Play card 2\n\nNext turn:\nDiscard card 1", "Play card 2"),
    ("tictactoe", "X: (2, 2)\nExpected reply: O: (1, 1)", 4),
    ("bid", "player_0: $3.50\nplayer_1: $3.00 (expected)", 350),
    (
        "bargain",
        "player_0: 1 hats 0 balls 1 apples\nplayer_1: 0 hats 2 balls 0 apples",
        "player_0: 1 hat 0 balls 1 apple",
    ),
    ("vote", '{"vote": "player_3", "reason": "vote: player_1 would be wrong"}', "vote: player_3"),
    ("holdem", "I could just call.\nCall\n<answer>Fold</answer>", 0),
    ("holdem", "Action: Fold\nThe answer is \\boxed{Raise Half Pot}", 2),
    ("holdem", "Action: \\boxed{Fold}", 0),
    ("connect_four", "X: 3 or 4", None),
    ("connect_four", "X: 3, 4", None),
    ("connect_four", "X: 3 and 4", None),
    ("connect_four", "X: 3? X: 4?", None),
    ("tictactoe", "X: (1, 1) or X: (2, 2)", None),
    ("tictactoe", "I would play X: (1, 1) if it were free.", None),
    ("tictactoe", "O: (1, 1)", None),
    ("tictactoe", "Opponent: O: (1, 1)", None),
    ("tictactoe", "X: (1, 1)\nO: (2, 2)\nX: (3, 3)", None),
    ("tictactoe", "X: (1, 1)\n\nI also considered: X: (2, 2)", 0),
    ("tictactoe", "X: (1, 1)\n7", 0),
    ("connect_four", "X: 1\n7", 0),
    ("connect_four", "Confidence:\n7", None),
    ("connect_four", "Confidence: 7", None),
    ("connect_four", "My move is 4 or 5", None),
    ("connect_four", "The best column is 4.", 3),
    ("connect_four", "- 3\n- 4", None),
    ("connect_four", "1. X: 3\n2. X: 4", None),
    ("connect_four", "<think>X: 3", None),
    ("connect_four", "<think>X: 3</think>", None),
    ("connect_four", "X: 3</think>", None),
    ("holdem", "Fold\nAction: I am not sure", None),
    ("holdem", "Action: Fold is what I would do with a worse hand", None),
    ("holdem", "My opponent's last action: Fold", None),
    ("holdem", '{"action": "fold", "alternative": "call"}', 0),
    ("holdem", '{"action": "fold", "answer": "call"}', None),
    ("holdem", '{"thought": "Action: All-In"}', None),
    ("holdem", 'Action: {"x": "Action: Fold"}', None),
    ("holdem", '{"action": "raise", "amount": 12}', None),
    ("holdem", '{"comment": "{\\"action\\": \\"fold\\"}"}', None),
    ("bid", '{"bid": 1.5, "value": 7}', 150),
    ("bid", "I value it at $7.00", None),
    ("bid", "$1.00 to $2.00", None),
    ("bid", "Expected profit:\n$3.50", None),
    ("bid", "My valuation: $7.00", None),
    ("bid", "player_0: $1.00\n\nExpected profit: $6.00", 100),
    ("bid", "player_0: $1.00\n\nProfit:\n$6.00", 100),
    ("bid", "<answer>$3.50</answer>", 350),
    ("bid", "$3.50$", 350),
    ("vote", "player_1 is odd. I vote for player_3.", None),
    ("vote", "vote: player_3\nplayer_1: vote: player_4", "vote: player_3"),
    ("vote", "Do not vote: player_3", None),
    ("clue", "player_0: it is red\nplayer_1: it is round\nplayer_2: sweet", "player_0: it is red"),
    ("clue", "player_1: it is round", None),
    ("clue", "It is red.", None),
    ("clue", "player_0: red\nExplanation: player_0: blue was too much", "player_0: red"),
    ("hanabi_2", "Action: Play card 1 or Discard card 2", None),
    ("hanabi_3", "Action: Reveal Red for player_2", "Reveal Red to player_2"),
    ("hanabi_2", "Action: Reveal Yellow for another player", "Reveal Yellow"),
    ("hanabi_2", "Action: Reveal Yellow to my partner because it helps", "Reveal Yellow"),
    ("hanabi_2", "Action: Reveal Yellow since it helps", "Reveal Yellow"),
    ("hanabi_2", "Action: Play card 1 because Discard card 1 is worse", "Play card 1"),
    ("hanabi_2", '{"action": "play", "card": 1}', "Play card 1"),
    ("hanabi_3", '{"action": "reveal", "color": "Red", "player": "player_2"}', "Reveal Red to player_2"),
    ("hanabi_3", '{"name": "hint", "arguments": {"rank": 1, "target": "player_1"}}', "Reveal rank 1 to player_1"),
    (
        "bargain",
        '{"message": "Take it!", "hats": 1, "balls": 0, "apples": 1, "reasoning": "secret 5"}',
        "Take it!\nplayer_0: 1 hat 0 balls 1 apple",
    ),
    (
        "bargain",
        "<think>worth 5</think>**Take it!**\nplayer_0: 1 hats 0 balls 1 apples",
        "Take it!\nplayer_0: 1 hat 0 balls 1 apple",
    ),
    (
        "bargain",
        '<|im_start|>assistant\n"I need hats."\n\nFinal answer: player_0: 1 hats 0 balls 1 apples<|im_end|>',
        "I need hats.\nplayer_0: 1 hat 0 balls 1 apple",
    ),
    ("bargain", "player_0: 1 hat, 1 ball or 1 apple", None),
    ("bargain_answer", "player_1: Deal, if you add a hat", None),
    ("bargain_answer", "No Deal.", None),
]


@pytest.mark.parametrize(
    ("position", "reply", "stated"), TRAPS, ids=[f"{position} {reply[:40]!r}" for position, reply, _ in TRAPS]
)
def test_traps(position: str, reply: str, stated: object) -> None:
    env = environment(position)
    agent = env.agent_selection
    if stated is None:
        with pytest.raises(InvalidReply):
            env.parse(reply, agent)
        return
    if isinstance(stated, str) and position.startswith("hanabi"):
        stated = env.parse(f"Action: {stated}", agent)
    assert env.parse(reply, agent) == stated


HOSTILE = [
    *(
        "Action: ",
        "X: ",
        "player_0: ",
        "vote: ",
        "{",
        "[",
        "(1, ",
        "<",
        "<|",
        "<think>",
        "</think>",
        "<answer>",
        "**",
        "`",
    ),
    *(
        "\\boxed{",
        "{}",
        '{"a":',
        '{"a": "',
        "{'a': 1} ",
        "- 4\n",
        "\n\n1",
        "my ",
        "final ",
        "我",
        "a ",
        " ",
        "\n",
        "~~a",
    ),
    *(
        "not X: 1 ",
        "1, ",
        "$ ",
        "Final answer: ",
        "x: y\n",
        "<|im_end|>",
        "<|im_start|>user\n",
        "player_1=a;",
        "\ue000",
    ),
]


@pytest.mark.parametrize("part", HOSTILE)
@pytest.mark.parametrize("position", ["connect_four", "holdem", "hanabi_3", "bid", "bargain", "clue", "guess"])
def test_a_hundred_thousand_hostile_characters_are_read_or_refused(position: str, part: str) -> None:
    env = environment(position)
    try:
        action = env.parse(part * (100_000 // len(part)) + "end", env.agent_selection)
    except InvalidReply as error:
        assert error.message
    else:
        assert env.action_space(env.agent_selection).contains(action)


FRAGMENTS = [
    *(
        "§S",
        "X: ",
        "player_0: ",
        "player_1: ",
        "Action: ",
        "vote: ",
        "Final answer: ",
        "\n",
        "\n\n",
        " ",
        "{",
        "}",
        '"',
        "[",
        "]",
    ),
    *(
        "<think>",
        "</think>",
        "<answer>",
        "</answer>",
        "\\boxed{",
        "$",
        "**",
        "```",
        "<|im_end|>",
        "<|im_start|>user\n",
        "，",
        "１",
    ),
    *("1", "2", "Fold", "Deal", "1 hats", "not ", "or ", "?", ".", "- ", "# ", "\ud800", "\x00", "\u202e"),
]


@settings(deadline=None)
@given(st.sampled_from(CASES), st.one_of(st.text(), st.lists(st.sampled_from(FRAGMENTS)).map("".join)))
def test_any_text_is_an_action_or_an_invalid_reply(case, text):
    env = environment(case.position)
    try:
        action = parse(case, text.replace("§S", case.statement))
    except InvalidReply as error:
        assert error.kind in (Failure.EMPTY, Failure.UNPARSABLE, Failure.ILLEGAL) and error.message
    else:
        assert env.action_space(env.agent_selection).contains(action)


@settings(deadline=None)
@given(st.sampled_from(range(len(CASES))), st.sampled_from(list(STYLES)))
def test_what_was_read_is_written_and_read_again(number, style):
    case = CASES[number]
    env = environment(case.position)
    agent = env.agent_selection
    action = expected(number)
    assert env.parse(env.format(action, agent), agent) == action
    try:
        read = parse(case, STYLES[style](case))
    except InvalidReply:
        return
    assert env.parse(env.format(read, agent), agent) == read


@given(st.text(max_size=300))
def test_cleaning_a_clean_text_changes_nothing(text):
    cleaned = clean_text(text)
    assert clean_text(cleaned) == cleaned


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("red", "red"),
        ('"red"', "red"),
        ("“red”", "red"),
        ("**red**", "red"),
        ("*red*", "red"),
        ("a **very** red one", "a very red one"),
        ("red</s>", "red"),
        ("red<|im_end|>", "red"),
        ("assistant: red", "red"),
        ("`red`", "red"),
        ("\\text{red}", "red"),
        ("2 * 3 * 4", "2 * 3 * 4"),
        ("it's a player's", "it's a player's"),
        ("'a' and 'b'", "'a' and 'b'"),
        ("snake_case_name", "snake_case_name"),
    ],
)
def test_clean_text(text, cleaned):
    assert clean_text(text) == cleaned
