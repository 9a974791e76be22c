import asyncio
import io
import json
import os
import re
import signal

import numpy as np
import pytest

from agents.baselines.general import FirstLegal, Random
from agents.errors import Quit
from agents.human import HELP, HumanPolicy, numbered
from agents.play import play
from agents.turn import TurnSettings
from llmarena_envs import connect_four_v0, tictactoe_v0
from llmarena_envs.catalogue import make_environment
from llmarena_envs.core.codec import ReplyPart

OBSERVATION = {"rules": "The rules.", "text": "The text.", "legal": ["X: (1, 1)", "X: (1, 2)"]}


COT = [
    ("holdem_v0", {"cot": True}),
    ("bid_v0", {"cot": True}),
    ("hanabi_v0", {"cot": True}),
    ("public_goods_v0", {"cot": True}),
    ("undercover_v0", {"cot": True}),
    ("undercover_v0", {"ask_guess": True}),
    ("simulation_v0", {}),
]


def ask(policy, observation=OBSERVATION):
    return asyncio.run(policy(observation))


def person(*lines):
    screen = io.StringIO()
    return HumanPolicy(io.StringIO("".join(f"{line}\n" for line in lines)), screen), screen


def test_person_reads_rules_once_then_the_models_text():
    policy, screen = person("X: (1, 1)", "X: (1, 2)", "X: (1, 1)")
    policy.reset("player_0", 0)
    assert ask(policy) == "X: (1, 1)"
    moves = "Moves: [1]\u00a0(1,\u00a01)  [2]\u00a0(1,\u00a02)"
    assert screen.getvalue() == f"The rules.\n\n{HELP}\n\nThe text.\n{moves}\nYou> "
    assert ask(policy) == "X: (1, 2)"
    assert screen.getvalue().count("The rules.") == 1
    assert screen.getvalue().endswith(f"> \nThe text.\n{moves}\nYou> ")
    policy.reset("player_1", 0)
    ask(policy)
    assert screen.getvalue().count("The rules.") == 2


def test_question_mark_lists_the_legal_moves_and_asks_again():
    policy, screen = person("?", " ? ", "X: (1, 2)")
    assert ask(policy) == "X: (1, 2)"
    assert screen.getvalue().count("Legal moves:\n[1] X: (1, 1)\n[2] X: (1, 2)\n") == 2


def test_a_number_chooses_a_listed_move_or_is_the_reply():
    policy, _ = person("2", "3")
    assert ask(policy) == "X: (1, 2)" and ask(policy) == "3"


@pytest.mark.parametrize(
    ("legal", "numbers"),
    [
        (["Action: Fold", "Action: Call"], "1 2"),
        (["X: (1, 1)", "X: (1, 2)"], "1 2"),
        (["X: 2", "X: 5"], "2 5"),
        (['{"coins": 0}', '{"coins": 7}'], "0 7"),
        (["vote: player_1", "vote: player_3"], "1 3"),
        (["take: pass", "take: 2"], ""),  # 2 would be the move and a place in the list
        (["bid: 0.05", "bid: 0.10"], "0.05 0.10"),
        ([f"X: ({place}, {place})" for place in range(200)], ""),  # may be truncated
        ([], ""),
    ],
)
def test_numbers_of_moves_are_never_ambiguous(legal, numbers):
    assert " ".join(numbered(legal)) == numbers


def test_enter_asks_for_the_parts_one_by_one():
    parts = (ReplyPart("text", "Text"), ReplyPart("verdict", "Verdict", ("A", "B")))
    policy, screen = person("", "one\\", "two", "c", "b")
    joined = ask(policy, {"rules": "", "text": "", "parts": parts, "join_parts": json.dumps})
    assert joined == '{"text": "one\\ntwo", "verdict": "B"}'
    assert screen.getvalue().count("Verdict (A, B)> ") == 2


def test_a_block_between_fences_is_one_reply():
    policy, _ = person("```python", "x = 1", "", "```", "later")
    assert ask(policy) == "```python\nx = 1\n\n```"


def test_a_long_beginning_is_shown_once_and_again_on_request():
    policy, screen = person("a", "??", "b")
    lines = [f"line {number}" for number in range(20)]
    ask(policy, {"rules": "r", "text": "\n".join(lines[:10])})
    before = len(screen.getvalue())
    ask(policy, {"rules": "r", "text": "\n".join(lines)})
    first, again = screen.getvalue()[before:].split("You> ")[:2]
    assert first == "\n(10 lines as before)\n" + "\n".join(lines[10:]) + "\n"
    assert again == "r\n\n" + "\n".join(lines) + "\n"


def test_question_mark_without_enumerable_moves():
    policy, screen = person("?", "anything")
    assert ask(policy, {"rules": "", "text": "", "legal": []}) == "anything"
    assert "cannot be listed" in screen.getvalue()


def test_an_empty_line_is_no_reply():
    policy, screen = person("", "   ", "X: (1, 2)")
    assert ask(policy) == "X: (1, 2)"
    assert screen.getvalue().count("> ") == 3


@pytest.mark.parametrize("lines", [("q",), (" Q ",), (), ("?", "q"), ("",)])
def test_leaving(lines):
    policy, _ = person(*lines)
    with pytest.raises(Quit):
        ask(policy)


def test_backslash_continues_on_the_next_line():
    policy, _ = person("def f():\\", "    return 1")
    assert ask(policy) == "def f():\n    return 1"
    policy, _ = person("begun\\")
    with pytest.raises(Quit):
        ask(policy)


def test_standard_streams_are_the_default(monkeypatch, capsys):
    policy = HumanPolicy()
    monkeypatch.setattr("sys.stdin", io.StringIO("４\n"))
    assert ask(policy) == "４"
    assert "The text." in capsys.readouterr().out


def test_person_is_reasked_without_limit_in_any_notation():
    bad = ["hello", "(9, 9)", "O: (1, 1)", "X: (0, 1)"] * 5
    policy, screen = person(*bad, "Ｘ：（2，2）", '{"row": 3, "column": 3}', "[1, 3]", "3 1")
    env = tictactoe_v0.env()
    episode = play(env, {"player_0": policy, "player_1": FirstLegal()}, 0, TurnSettings(reasks=1))
    mine = [turn for turn in episode.turns if turn.agent == "player_0"]
    assert len(mine[0].attempts) == 21
    assert [turn.action for turn in mine] == [4, 8, 2, 6]
    assert not any(turn.fallback for turn in mine)
    assert "the mark to play is X" in screen.getvalue()


def test_a_person_sees_the_texts_of_a_model_and_what_was_wrong():
    seen = []

    def model(observation):
        seen.append(observation["text"])
        return "X: (1, 1)" if len(seen) == 2 else "X: (3, 3)" if len(seen) > 2 else "?!"

    settings = TurnSettings(unparsable="forfeit")
    play(tictactoe_v0.env(), {"player_0": model, "player_1": FirstLegal()}, 0, settings)
    policy, screen = person("?!", "X: (1, 1)", *["X: (3, 3)"] * 10)
    with pytest.raises(Quit):
        play(tictactoe_v0.env(), {"player_0": policy, "player_1": FirstLegal()}, 0, settings)
    assert f"\n{seen[0]}\nMoves: " in screen.getvalue() and f"\n{seen[2]}\nMoves: " in screen.getvalue()
    assert seen[1].endswith(reason := screen.getvalue().split("You> ")[1].partition("\nMoves: ")[0])
    assert "in the form X: (1, 1)" in reason and screen.getvalue().count(seen[0]) == 1


def test_the_play_loop_supplies_the_legal_moves():
    policy, screen = person("?", "q")
    with pytest.raises(Quit):
        play(connect_four_v0.env(), {"player_0": policy, "player_1": FirstLegal()}, 0)
    assert "Legal moves:\n" + "\n".join(f"[{column}] X: {column}" for column in range(1, 8)) in screen.getvalue()


def test_an_interruption_ends_the_match_at_once():
    class Interrupted(io.StringIO):
        def readline(self, *_):
            signal.raise_signal(signal.SIGINT)
            return "X: (1, 1)\n"

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(Quit, match="interrupted"):
        play(
            tictactoe_v0.env(),
            {"player_0": HumanPolicy(Interrupted(), io.StringIO()), "player_1": FirstLegal()},
            seed=0,
        )
    assert signal.getsignal(signal.SIGINT) is before


def test_others_continue_while_a_person_thinks():
    keyboard, terminal = os.openpty()
    ticks = []

    async def others():
        for tick in range(3):
            await asyncio.sleep(0.01)
            ticks.append(tick)
        os.write(keyboard, b"?\nX: (1, 1)\nX: (1, 2)\n")  # pasted at once

    async def everybody(policy):
        reply, _ = await asyncio.gather(policy(OBSERVATION), others())
        return reply, await policy(OBSERVATION)

    with os.fdopen(terminal) as source:
        replies = asyncio.run(asyncio.wait_for(everybody(HumanPolicy(source, io.StringIO())), 10))
    os.close(keyboard)
    assert replies == ("X: (1, 1)", "X: (1, 2)")
    assert ticks == [0, 1, 2]


def test_a_person_is_not_asked_to_think_in_writing_or_for_json():
    asked = re.compile(r"step by step|Explain first|[Rr]eason|JSON|\{|strategy|逐步|一步一步|策略的编号")
    positions = [(name, options, language) for name, options in COT for language in ("en", "zh")]
    for name, options, language in positions:
        env = make_environment(name, {**options, "language": language})
        for seed in range(3):
            env.reset(seed=seed)
            while not any(env.terminations.values()):
                agent = env.agent_selection
                read = env.unwrapped.codec.for_person(env.unwrapped.view(agent)).split("\n")[-6:]
                if agent.partition("_")[0] in ("player", "user"):
                    assert not asked.search("\n".join(read)), (name, read)
                env.step(env.unwrapped.random_action(agent, np.random.default_rng(seed)))


def test_a_person_plays_by_the_number_alone():
    policy, screen = person(*["7"] * 40)
    env = make_environment("public_goods_v0", {})
    opponents = {agent: Random() for agent in env.possible_agents}
    episode = play(env, {**opponents, "player_0": policy}, 0)
    assert {turn.action for turn in episode.turns if turn.agent == "player_0"} == {7}
    assert "JSON" not in screen.getvalue()


def test_a_terminal_shows_lines_that_end_between_words(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setenv("COLUMNS", "20")
    screen = Terminal()
    policy = HumanPolicy(io.StringIO("1\n"), screen)
    ask(
        policy,
        {
            "rules": "_|_|X",
            "text": "  one two three four five six\n轮到你了，请接一个四字成语，不能重复。\n" + "x" * 30,
        },
    )
    shown = screen.getvalue().split("\n")
    assert "  one two three four" in shown and "five six" in shown and "x" * 30 in shown and "_|_|X" in shown
    assert "轮到你了，请接一个四" in shown and "字成语，不能重复。" in shown
