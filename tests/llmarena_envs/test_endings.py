"""Texts after the end: results and causes; the conformance suite checks that they state an end."""

import importlib
import inspect
import re

import numpy as np
import pytest

from llmarena_envs.core.text_env import TextEnv

OVER = {"en": "\nThe match is over. ", "zh": "\n对局结束。"}
INSTRUCTIONS = re.compile(r"your turn|nothing to do|in this form|Deal\b.*:|轮到你|你的回合|不需要做|格式")


def language_of(name, options):
    default = inspect.signature(importlib.import_module(f"llmarena_envs.{name}").raw_env).parameters["language"].default
    return options.get("language", default)


def played(name, options, seed):
    env: TextEnv = importlib.import_module(f"llmarena_envs.{name}").raw_env(**options)
    env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    while not any(env.terminations.values()):
        env.step(env.random_action(env.agent_selection, rng))
    return env


def last_lines(env, language):
    """Returns what each player reads of the end, after a check that nothing else but the history stands before it."""
    lines = {}
    for agent in env.possible_agents:
        history, over, told = env.observe(agent)["text"].partition(OVER[language])
        assert over and told
        own = [line for line in f"{history}{told}".split("\n") if not line.startswith(">")]  # not what players said
        assert not INSTRUCTIONS.search("\n".join(own)), (history, told)
        lines[agent] = told
    return lines


RESULTS = {
    "en": (r"You have won\.$", r"You have lost\.$", r"It is a draw\.$"),
    "zh": ("你赢了。$", "你输了。$", "平局。$"),
}


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("tictactoe_v0", {}),
        ("connect_four_v0", {}),
        ("holdem_v0", {"reward": "win"}),
        ("undercover_v0", {}),
        ("bargain_v0", {"reward": "win"}),
        ("idiom_solitaire_v0", {"max_turns": 7}),
    ],
)
def test_a_contest_is_won_lost_or_drawn(name, options, language):
    won, lost, drawn = RESULTS[language]
    seen = set()
    for seed in range(12):
        env = played(name, {**options, "language": language}, seed)
        for agent, told in last_lines(env, language).items():
            reward = env.ending(agent).reward
            assert re.search(won if reward > 0 else lost if reward < 0 else drawn, told), (told, reward)
            seen.add(reward)
    assert len(seen) > 1 or name == "bargain_v0"  # a bargain is never agreed on by random players


@pytest.mark.parametrize(
    ("name", "options", "actions", "told"),
    [
        (
            "tictactoe_v0",
            {},
            [0, 3, 1, 4, 2],
            ["X has three in a line. You have won.", "X has three in a line. You have lost."],
        ),
        ("tictactoe_v0", {"language": "zh"}, [0, 1, 2, 4, 3, 5, 7, 6, 8], ["棋盘已满，无人连线。平局。"] * 2),
        (
            "connect_four_v0",
            {},
            [0, 1] * 3 + [0],
            ["X has four in a line. You have won.", "X has four in a line. You have lost."],
        ),
        (
            "bid_v0",
            {"values": [[5, 8]]},
            [250, 399],
            [
                "1 auction has been held. You have earned $0.00 in total.",
                "1 auction has been held. You have earned $4.01 in total.",
            ],
        ),
        (
            "bid_v0",
            {"values": [[5, 8]]},
            [500, 800],
            [
                "player_0, player_1 ended it with an illegal action. You have earned -$1.00 in total.",
                "player_0, player_1 ended it with an illegal action. You have earned -$1.00 in total.",
            ],
        ),
        (
            "public_goods_v0",
            {"n_players": 3, "rounds": 1, "mode": 2},
            [4, 0, 5],
            [
                "1 round has been played. Your result is 9.6 coins.",
                "1 round has been played. Your result is 13.6 coins.",
                "1 round has been played. Your result is 8.6 coins.",
            ],
        ),
        (
            "public_goods_v0",
            {"n_players": 3},
            [11, 0, -1],
            [
                "You and another player ended it with an illegal action. Your result is -1 coins.",
                "Other players ended it with an illegal action. Your result is 0 coins.",
                "You and another player ended it with an illegal action. Your result is -1 coins.",
            ],
        ),
        (
            "bargain_v0",
            {"instance": [[1, 2, 3], [2, 4, 0], [1, 3, 1]]},
            ["player_0: 1 hat 1 ball 0 apples", "player_1: Deal"],
            [
                "player_1 accepted your last offer. You get 1 hat, 1 ball, 0 apples, which is worth 6 to you. "
                "You receive 6 points in total.",
                "You accepted the last offer. You get 0 hats, 1 ball, 3 apples, which is worth 6 to you. "
                "You receive 6 points in total.",
            ],
        ),
        (
            "bargain_v0",
            {"max_rounds": 1, "reward": "win"},
            ["player_0: 1 hat 0 balls 0 apples", "player_1: 1 hat 0 balls 0 apples"],
            ["The talks are over without an agreement. Nobody gets anything. It is a draw."] * 2,
        ),
        (
            "undercover_v0",
            {"n_players": 3, "max_rounds": 1, "seat": 0, "first_player": 0},
            ["player_0:", "player_1:", "player_2:", "vote: player_1", "vote: player_0", "vote: player_0"],
            [
                "The ordinary players have won: nobody undercover is left in the game. You have lost.",
                *["The ordinary players have won: nobody undercover is left in the game. You have won."] * 2,
            ],
        ),
        (
            "undercover_v0",
            {"n_players": 3, "max_rounds": 1, "seat": 0, "first_player": 0},
            ["player_0:", "player_1:", "player_2:", "vote: player_1", "vote: player_2", "vote: player_1"],
            [
                "The undercover side has won: it has not been found out in time. You have won.",
                *["The undercover side has won: it has not been found out in time. You have lost."] * 2,
            ],
        ),
        (
            "undercover_v0",
            {"n_players": 3, "max_rounds": 1, "first_player": 0},
            ["player_0:", "vote: player_1"],
            [
                "player_1 ended it with an illegal action. Neither group has won.",
                "You ended it with an illegal action. Neither group has won.",
                "player_1 ended it with an illegal action. Neither group has won.",
            ],
        ),
        (
            "hanabi_v0",
            {"deck": "R1 R2 Y1 Y2 R3 R1 Y3 Y1 R4 Y4 R5 Y5 R1 Y1 R2 Y2 R3 Y3 R4 Y4"},
            [2, 3],
            ["The last life token is lost. You receive 0 points in total."] * 2,
        ),
        (
            "hanabi_v0",
            {"colors": 1, "ranks": 1, "hand_size": 1},
            [1],
            ["All fireworks are complete. You receive 1 point in total."] * 2,
        ),
        (
            "writer_editor_v0",
            {"max_rounds": 1, "objective": False},
            ["def f(): pass", "over", '{"Programmer": 2, "Reviewer": 7.5}'],
            [f"It was played to its end. Your reward is {reward}." for reward in ("2", "7.5", "0")],
        ),
        (
            "writer_editor_v0",
            {"max_rounds": 1, "objective": False},
            ["def f(): pass", "over", "abstain"],
            ["It was played to its end. No judge gave scores, so the match has no result."] * 3,
        ),
        (
            "writer_editor_v0",
            {"max_rounds": 1, "objective": False},
            ["def f(): pass", "over", "both are good"],
            [
                *["judge_0 ended it with an illegal action. No judge gave scores, so the match has no result."] * 2,
                "You ended it with an illegal action. No judge gave scores, so the match has no result.",
            ],
        ),
        (
            "idiom_solitaire_v0",
            {"start": "一心一意", "language": "en"},
            ["意气风发", "发呆走神"],
            [
                "player_1 gave “发呆走神”, which is not on the list of idioms. You have won.",
                "You gave “发呆走神”, which is not on the list of idioms. You have lost.",
            ],
        ),
        (
            "idiom_solitaire_v0",
            {"start": "一心一意", "accept_outside": True},
            ["意气风发", "发呆走神", "裁决：弃权"],
            [
                "player_1 接的“发呆走神”不在成语表上，评委没有作出裁定，因此不算成语。你赢了。",
                "你接的“发呆走神”不在成语表上，评委没有作出裁定，因此不算成语。你输了。",
                "player_1 接的“发呆走神”不在成语表上，评委没有作出裁定，因此不算成语。你的评判工作已经结束。",
            ],
        ),
    ],
)
def test_endings_are_named_by_their_cause(name, options, actions, told):
    env = importlib.import_module(f"llmarena_envs.{name}").raw_env(**options)
    env.reset(seed=1)
    for action in actions:
        env.step(action)
    assert list(last_lines(env, language_of(name, options)).values()) == told
