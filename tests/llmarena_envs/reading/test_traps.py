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
    ("tictactoe", "Turn 1: X: (1, 3)\nTurn 2: O: (2, 2)\nTurn 3: X: (3, 3)", None),
    ("tictactoe", "Answer: (1, 1)\n\nHmm, wait. (2, 2) is better.", None),
    ("tictactoe", "Answer: (1, 1)\nCorrection: (2, 2)", 4),
    ("tictactoe", "\\boxed{X: (1, 1)} or \\boxed{X: (2, 2)}", None),
    ("tictactoe", "不选 X: (1, 1)", None),
    ("tictactoe", "make_move(row=1, column=1) would lose.\nmake_move(row=3, column=3)", 8),
    ("tictactoe", "def make_move(row, column):\n    return (row, column)\n\nmake_move(row=3, column=3)", 8),
    ("tictactoe", "make_move(row=3, column=3)\nopponent_move(row=1, column=1)", 8),
    ("tictactoe", "check_cell(row=1, column=1)\nmake_move(row=3, column=3)", 8),
    ("tictactoe", "Row: 3\nColumn: 3\nOpponent row: 1\nOpponent column: 2", 8),
    (
        "tictactoe",
        "<opponent><row>1</row><column>1</column></opponent>\n<move><row>3</row><column>3</column></move>",
        8,
    ),
    ("tictactoe", "X: (2, 2)\n\nNext I plan:\n(1, 1)", 4),
    ("tictactoe", "X: (2, 2)\nO: (1, 1)\nX: (3, 3)\nO: (2, 1)", None),
    ("tictactoe", "For instance, X: (1, 3)\nX: (3, 3)", 8),
    ("tictactoe", "Avoid X: (1, 3)", None),
    ("tictactoe", "Candidates:\nX: (1, 3)\nX: (3, 3)", None),
    ("tictactoe", "The opponent's best move is (1, 3).", None),
    ("tictactoe", "My move: (3, 3)\nMy next move: (1, 3)", 8),
    ("tictactoe", "My last move: (1, 3)\nMy move: (3, 3)", 8),
    ("tictactoe", "X: (3, 3)\n2, 3 are open", 8),
    ("tictactoe", '{"opponent": {"row": 1, "column": 1}}', None),
    ("tictactoe", 'Format: {"row": 1, "column": 1}', None),
    ("tictactoe", '{"reasoning": "X: (1, 1)\nX: (2, 2)', None),
    ("tictactoe", "X: (3, 1)\n\nX|O|.\n.|X|.\nX|.|O", 6),
    ("tictactoe", "I would have played X: (1, 1), but it is taken", None),
    ("tictactoe", "Answer: anything but (1, 1)", None),
    ("tictactoe", "Answer: (1, 1)\nScratch that.\nAnswer: (2, 2)", 4),
    ("tictactoe", "<answer>X: (3, 3)</answer>\n<alternative>X: (1, 1)</alternative>", 8),
    ("tictactoe", "At first: \\boxed{(1, 1)}. On reflection: \\boxed{(2, 2)}", None),
    ("tictactoe", "对手可能下 X: (1, 1)\nX: (3, 3)", 8),
    ("tictactoe", "备选：X: (1, 1)\n答案：X: (3, 3)", 8),
    ("tictactoe", "not make_move(row=1, column=1)", None),
    ("connect_four", "Confidence level\n7", None),
    ("connect_four", "4\n7", None),
    ("connect_four", "X: 4 (full)", None),
    ("connect_four", "1.\n2.\n3.", None),
    ("connect_four", "X: 5\nBest response: 4", None),
    ("connect_four", "X: 5\n\nAnswer of the opponent: 4", 4),
    ("connect_four", "X: 5\n\nAfter that\nX: 4", 4),
    ("connect_four", "X: 5 is better than X: 4", None),
    ("connect_four", '[{"column": 3}, {"column": 4}]', None),
    ("connect_four", '{"column": 3} or {"column": 4}', None),
    ("connect_four", '{"column": 3, "column": 4}', None),
    ("connect_four", '{"answer": "X: 3", "column": 4}', None),
    ("connect_four", "is_full(column=4)", None),
    ("connect_four", "evaluate(column=4)\nplay(column=5)", 4),
    ("connect_four", "play(column=4) # or 5", None),
    ("connect_four", "play(4)", 3),
    ("connect_four", "~4", None),
    ("connect_four", "X: 4 pieces in a row", None),
    ("connect_four", "X: 3 in a row threatens a win", None),
    ("connect_four", "O: 3 in a row\nX: 2 in a row\nI play 5.", None),
    ("connect_four", "X: 2 wins\nO: 1 win", None),
    ("connect_four", "X: 4\n\nConfidence\n7", 3),
    ("connect_four", "4\n\nConfidence: 7", 3),
    ("connect_four", "not X: 4", None),
    ("connect_four", "Column: 4 is full, so\nX: 5", 4),
    ("connect_four", "X: 5\n1 2 3 4 5 6 7", 4),
    ("connect_four", "Date:\n4", None),
    ("connect_four", "Move 4:\n5", None),
    ("connect_four", "Legal moves: 3", None),
    ("connect_four", "X: 5\n\nThe opponent's answer: 4", 4),
    ("connect_four", "X: 5\n\n**Plan**\nX: 4", 4),
    ("connect_four", "X: 5\n\nCompared with X: 4, it is better.", 4),
    ("connect_four", "X: 5 beats X: 4.", None),
    ("connect_four", "O: 4 → X: 5", None),
    ("connect_four", "X = me, O = opponent. X: 5", 4),
    ("connect_four", '{"best_move": 5, "second_best_move": 4}', 4),
    ("connect_four", '{"column": null}', None),
    ("connect_four", '{"analysis": {"column": 4}, "move": {"column": 5}}', 4),
    ("connect_four", "drop_piece(column=4)", 3),
    ("connect_four", "Depth = 4", None),
    ("connect_four", "-4", None),
    ("connect_four", "X: 4th column", None),
    ("holdem", "Fold (EV 0)\nCall (EV +1)", None),
    ("holdem", "Action: Raise half of my stack", None),
    ("holdem", 'take_action("Fold")', 0),
    ("holdem", "If they bet: Action: Fold", None),
    ("holdem", "EV(Fold) = 0\nEV(Call) = 1\nAction: Check and Call", 1),
    ("holdem", "player_1's action: All-In\nplayer_0's action: Fold", 0),
    ("holdem", "Action: Fold?", None),
    ("holdem", "Action: Raise to 10", None),
    ("holdem", '{"probabilities": {"Fold": 0.2, "Call": 0.8}}', None),
    ("holdem", "Action: Call 80%", None),
    ("holdem", "Action: Fold\nAction: Check and Call", 1),
    ("holdem", "行动：不弃牌", None),
    ("hanabi_2", "play(card=2)", "Play card 2"),
    ("hanabi_2", "discard(card=1)", "Discard card 1"),
    ("hanabi_2", 'reveal(color="Yellow")', "Reveal Yellow"),
    ("hanabi_2", "hint(rank=1)", "Reveal rank 1"),
    ("hanabi_2", "My partner will then Play card 1\nAction: Play card 2", "Play card 2"),
    ("hanabi_2", "Play card 1 would be risky.", None),
    ("hanabi_2", "Option A: Play card 1\nOption B: Play card 2", None),
    ("hanabi_2", '{"action": "play", "card": "2 or 3"}', None),
    ("hanabi_3", 'hint(player="player_2", color="Red")', "Reveal Red to player_2"),
    ("bid", "Maximum bid: $4.00", None),
    ("bid", "bid(3.50)", 350),
    ("bid", "bid(amount=3.50)", 350),
    ("bid", "value(amount=3.50)", None),
    ("bid", "player_0: $1.00\n$2.00", 100),
    ("bid", "Optimal bid = 7.00 * 1/2 = 3.50", None),
    ("bid", "player_0: less than $3.50", None),
    ("bid", '{"bid": 3.5, "expected_profit": 2}', 350),
    ("bid", "I bid $3.50 because my value is $7.00", None),
    ("bid", "If I bid: $1.00, I lose.\nIf I bid: $3.50, I win.", None),
    ("public_goods", '{"reason": "I keep 8 coins", "coins": 2}', 2),
    ("public_goods", '{"reason": "coins: 9 would be foolish", "coins": 2}', 2),
    ("public_goods", '{"coins": 3, "remaining_coins": 7}', 3),
    ("public_goods", '{"remaining_coins": 7}', None),
    ("public_goods", '{"average_investment": 5, "investment": 3}', 3),
    ("public_goods", '{"coins": 3, "investment": 4}', None),
    ("public_goods", '{"player": "player_2", "coins": 5}', None),
    ("public_goods", "I invest 3.\nRemaining coins: 7", None),
    ("public_goods", "coins: 3\nRemaining coins: 7", 3),
    ("public_goods", "coins: 3\n\nKeep:\n7", 3),
    ("public_goods", "My coins: 10\nI invest 3", 3),
    ("public_goods", "My coins: 10", None),
    ("public_goods", "Coins left: 7", None),
    ("public_goods", "Total investment: 20", None),
    ("public_goods", "Average contribution: 5\ncoins: 4", 4),
    ("public_goods", "The others invest: 5", None),
    ("public_goods", "Others' coins: 5", None),
    ("public_goods", "Return on each coin: 0.3", None),
    ("public_goods", "Round 1 investment: 5", None),
    ("public_goods", "Equilibrium investment: 0", None),
    ("public_goods", "Invest: 3, keep: 7", 3),
    ("public_goods", "Keep: 7, invest: 3", 3),
    ("public_goods", "I invest 3 coins and keep 7.", None),
    ("public_goods", "I keep 3 coins.", None),
    ("public_goods", "If all invest: 10\nIf none invest: 0", None),
    ("public_goods", "invest(3)", 3),
    ("public_goods", "keep(coins=3)", None),
    ("public_goods", "Expected income:\n5", None),
    ("public_goods", "coins: 3\nIncome: 5\nTotal: 12", 3),
    ("public_goods", "player_0: 3", None),  # nobody is told a name
    ("public_goods", "大家的投资：5", None),
    ("public_goods", "剩余硬币：7\n投入：3", 3),
    ("public_goods", "平均投资：5", None),
    (
        "bargain",
        "player_0: 1 hat 0 balls 1 apple\n\nNext offer:\n0 hats 2 balls 1 apple",
        "player_0: 1 hat 0 balls 1 apple",
    ),
    ("bargain", "propose(hats=1, balls=0, apples=1)", "player_0: 1 hat 0 balls 1 apple"),
    ("bargain", "player_1 gets: 1 hat 0 balls 1 apple", None),
    ("bargain", "There are:\n3 hats 2 balls 1 apple", None),
    ("bargain_answer", "player_1: Deal (thanks!)", "player_1: Deal"),
    ("bargain_answer", "No Deal", None),
    ("bargain_answer", "If you give me a hat: Deal", None),
    ("clue", 'give_clue("red")', "player_0: red"),
    ("clue", 'give_clue(clue="it\'s red")', "player_0: it's red"),
    ("clue", "player_0: 'it's red'", "player_0: it's red"),
    ("clue", "player_0: red\n\nConfidence:\nhigh", "player_0: red"),
    ("clue", "For example, player_0: red", None),
    ("clue", 'player_0: "red" and "round"', 'player_0: "red" and "round"'),
    ("clue", "player_0: costs $5", "player_0: costs $5"),
    ("clue", "player_0: 50% water", "player_0: 50% water"),
    ("vote", "I won't vote: player_3", None),
    ("vote", "vote: player_3 (not player_4)", "vote: player_3"),
    ("vote", 'vote("player_3")', "vote: player_3"),
    ("vote", "vote(player=3)", "vote: player_3"),
    ("vote", "vote(player_3)", "vote: player_3"),
    ("vote", "vote: player_3\n\nPlan:\n1. vote: player_4\n2. vote: player_1", "vote: player_3"),
    ("vote", "Not player_3", None),
    ("vote", "If tied, vote: player_3", None),
    ("vote", 'cast_vote(target="player_3")', None),
    ("guess", "vote: player_3\nguess: **player_1=plum**", "vote: player_3\nguess: player_1=plum"),
    (
        "guess",
        "vote: player_3\nguess: player_1=plum\n\nPlan:\n1. watch player_1\n2. vote player_4",
        "vote: player_3\nguess: player_1=plum",
    ),
    ("guess", "guess: player_1=plum\nvote: player_3", "vote: player_3\nguess: player_1=plum"),
    ("vote", "vote: player_3\n\nPlan:\n\n1. vote: player_4\n\n2. vote: player_1", None),
    ("vote", "vote: player_3\n\nPlan:\n1. vote: player_4\n2. vote: player_1", "vote: player_3"),
    ("vote", "vote: player_3\nNext steps:\n1. vote: player_4", "vote: player_3"),
    ("guess", "vote: player_3\nguess: player_1=plum\n\n1. vote: player_4\n2. watch player_1", None),
    ("clue", "player_0: your clue", None),
    ("idiom", "意气风发。", "意气风发"),
    ("idiom", "「意氣風發」", "意氣風發"),
    ("idiom", "《意气风发》！", "意气风发"),
    ("idiom", "意 气 风 发", "意气风发"),
    ("idiom", "意气风发（yì qì fēng fā）", "意气风发"),
    ("idiom", "我接：意气风发", "意气风发"),
    ("idiom", "我选意气风发", "意气风发"),
    ("idiom", "一心一意→意气风发", "意气风发"),
    ("idiom", "接龙：一心一意 -> 意气风发", "意气风发"),
    ("idiom", "意氣風發\n<|im_end|>\n<|im_start|>user\n意味深长", "意氣風發"),
    ("idiom", "我选这个：\n意气风发<|im_end|>\n<|im_start|>user\n意味深长", "意气风发"),
    ("idiom", "让我想一想。<|im_end|>\n<|im_start|>user\n我选这个：\n意味深长", None),
    ("idiom", "<think>接意味深长？</think>\n一心一意⇒意氣風發", "意氣風發"),
    ("idiom", "意气风发→发扬光大", None),
    ("idiom", "上一个成语的最后一个字是“意”，所以我接意字开头的。\n\n意气风发\n\n这个成语形容精神振奋。", "意气风发"),
    ("idiom", "意气风发：形容精神振奋，气概豪迈。", None),
    ("idiom", "意气风发、意味深长", None),
    ("idiom", "意气风发或意味深长", None),
    ("idiom", "成语：意气风发或意味深长", None),
    ("idiom", "可以接意气风发", None),
    ("idiom", "我选这个：\n意气风发", "意气风发"),
    ("idiom", "我接的成语是：\n\n**意气风发**", "意气风发"),
    ("idiom", "我接的成语是“意气风发”。", "意气风发"),
    ("idiom", "备选：\n意气风发", None),
    ("idiom", "<think>\n意味深长\n", None),
    ("idiom", "好的，谢谢", None),
    ("idiom", "成语：意气，风发", "意气风发"),
    ("idiom", "意气风", None),
    ("idiom", "意气风发吧", None),
    ("idiom", "成语：意气风", None),
    ("idiom", "意料之外\n不对，换一个。\n意气风发", "意气风发"),
    ("idiom", "我认输。", "I give up"),
    ("idiom", "I give up", "I give up"),
    ("idiom", "裁决：是", None),
    ("ruling", "裁决：是", "verdict: yes"),
    ("ruling", "裁决：不是。", "verdict: no"),
    ("ruling", "它见于《史记》，是成语。\n裁决：是", "verdict: yes"),
    ("ruling", "这是成语吗？我不确定。\n\n裁决：否", "verdict: no"),
    ("ruling", "是成语", "verdict: yes"),
    ("ruling", "不是成语", "verdict: no"),
    ("ruling", "Verdict: **No**", "verdict: no"),
    ("ruling", "裁决：是或否", None),
    ("ruling", "意在画外", None),
    ("ruling", "它不像成语", None),
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
    *(
        "</",
        "< ",
        "<a",
        "[a",
        "a(",
        "a(1)",
        "play(a=1)\n",
        "<parameter=a>1</parameter>",
        "<arg_key>a</arg_key>",
        "/*",
        "{/*",
    ),
    *("一心一意→", "意", "意 ", "成语：意气，", "\n意料之外：\n"),
    *("是", "=>", "row: 1\ncolumn: 2\n", "wait\nX: 4\n", "Plan:\nX: 4\n\n", "_", "\\boxed{4}", "|", "don't "),
]


@pytest.mark.parametrize("part", HOSTILE)
@pytest.mark.parametrize(
    "position",
    [
        *("connect_four", "bargain", "guess"),
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("holdem", "hanabi_3", "bid", "public_goods", "clue", "idiom", "ruling")
        ),
    ],
)
def test_a_hundred_thousand_hostile_characters_are_read_or_refused(position: str, part: str) -> None:
    env = environment(position)
    try:
        action = env.parse(part * (100_000 // len(part)) + "end", env.agent_selection)
    except InvalidReply as error:
        assert error.message
    else:
        agent = env.agent_selection
        assert env.action_space(agent).contains(action)
        assert env.parse(env.format(action, agent), agent) == action


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
        "意",
        "→",
    ),
    *("Example:", "For example:\n", "Possible moves:", "I could say ", "例如：", "Not this:", "Instead of "),
    *(
        "1",
        "2",
        "Fold",
        "Deal",
        "1 hats",
        "coins: ",
        '{"coins": ',
        "not ",
        "or ",
        "?",
        ".",
        "- ",
        "# ",
        "\ud800",
        "\x00",
        "\u202e",
    ),
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
        agent = env.agent_selection
        assert env.action_space(agent).contains(action)
        assert env.parse(env.format(action, agent), agent) == action


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
        ("_red_", "red"),
        ("'it's red'", "it's red"),
        ("red**", "red"),
        ("red[EOS]", "red"),
        ("red<turn|>", "red"),
        ("red ---", "red"),
        ("| red |", "red"),
        ("{red}", "red"),
        ("«red»", "red"),
        ("红色、圆的，夏天有", "红色、圆的，夏天有"),
        ("the ‘red’ one", "the ‘red’ one"),
        ("rock & roll, C#, #1, 50%, $5, a < b", "rock & roll, C#, #1, 50%, $5, a < b"),
        ("a - b", "a - b"),
    ],
)
def test_clean_text(text, cleaned):
    assert clean_text(text) == cleaned
