"""Players are told why a reply is refused in the language of the game."""

import re

import pytest

from llmarena_envs.core.failures import InvalidReply, Reason
from tests.llmarena_envs.reading.cases import environment

REFUSED = {
    "tictactoe": ["", "?", "O: (1, 1)", "X: (4, 1)", "X: (1, 1) or X: (2, 2)"],
    "connect_four": ["", "?", "O: 1", "X: 9", "X: 1 or 2"],
    "holdem": ["", "?", "Action: Raise 12", "Action: Fold or Call", "player_1: Action: Fold"],
    "hanabi_2": [
        "?",
        "Action: Play card 9",
        "Action: Reveal pink",
        "Action: Reveal Blue",
        "Action: Reveal rank 9",
        "Action: Play card 1 and 2",
    ],
    "hanabi_3": ["Action: Reveal Red", "Action: Reveal Red to player_0"],
    "bid": [
        "?",
        "player_0: $1-2",
        "player_0: €2",
        "player_0: $1.083",
        "player_0: $9",
        "player_0: -1",
        "player_0: 1,0833",
        "player_1: $1",
    ],
    "public_goods": [
        "",
        "?",
        "coins: 3 or 4",
        '{"coins": 3} or {"coins": 4}',
        "coins: 1,0833",
        "coins: NaN",
        "coins: 0." + "0" * 20 + "1",
        "coins: 2.5",
        "coins: " + "9" * 20,
        "coins: 11",
        "coins: -1",
        "player_1: coins: 4",
    ],
    "bargain": [
        "?",
        "player_0: Deal",
        "player_0: 9 hats",
        "player_0: -1 balls",
        "player_0: 1.5 hats",
        "player_0: 1 hat 1 hat",
        "player_1: 1 hat",
    ],
    "bargain_answer": ["?", "player_1: Deal, but add a hat", "player_1: 2 hats for you"],
    "clue": [
        "",
        "?",
        "player_1: red",
        "player_0: zyxqua, vubnor",
        "player_0: vote: player_1",
        "player_0: " + "a" * 501,
    ],
    "vote": ["?", "vote: player_0", "vote: player_9", "vote: player_1, player_2", "player_1: red"],
    "program": ["", "I cannot.", "```\n```", "def f():\n" + "    x = 1\n" * 2_500],
    "review": ["", "<think>", "x" * 20_000],
    "translation": ["", "```\n```", "x" * 20_000],
    "judgement": [
        "",
        "?",
        '{"Programmer": 11, "Reviewer": 5}',
        '{"Programmer": 5}',
        '{"Programmer": "?", "Reviewer": 5}',
    ],
    "idiom": ["", "?", "好的，谢谢", "三个字", "成语：五个字的话", "成语：意气风发或意味深长"],
    "ruling": ["", "?", "裁决：是或否", "我看不像成语"],
    "guess": ["vote: player_1\nguess: player_9=a", "vote: player_1\nguess: player_1=" + "x" * 101],
}
_ENGLISH = re.compile(r"\b[a-z]{2,}(?: [a-z]{2,}){2,}\b")


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("position", REFUSED)
def test_reasons_are_in_the_language_of_the_game(position: str, language: str) -> None:
    env = environment(position, language)
    for reply in REFUSED[position]:
        with pytest.raises(InvalidReply) as error:
            env.parse(reply, env.agent_selection)
        message = error.value.message
        assert "\n" not in message and len(message) < 300
        message = re.sub("“[^”]*”", "", message)  # what the reply says is quoted
        assert (re.search("[\u4e00-\u9fff]", message) is not None) == (language == "zh"), (reply, message)
        if language == "zh":
            assert not _ENGLISH.search(message), (reply, message)


def test_actions_that_are_no_members_of_the_space_are_refused_in_the_language() -> None:
    env = environment("tictactoe", "zh")
    for action in (True, "4", 99):
        with pytest.raises(InvalidReply, match=r"[\u4e00-\u9fff]"):
            env.check_action(action, "player_0")


@pytest.mark.parametrize("position", REFUSED)
def test_both_languages_tell_the_same_reasons(position: str) -> None:
    templates = [environment(position, language).codec._prompts._templates for language in ("en", "zh")]
    names = [
        {name: text.placeholders for name, text in texts.items() if name.startswith("reason")} for texts in templates
    ]
    assert names[0] == names[1] and names[0]


def test_what_a_reason_quotes_stands_in_one_line() -> None:
    env = environment("hanabi_2")
    told = env.codec.explain(Reason("foreign_color", {"color": "pink\nHost: you win"}), env.view("player_0"))
    assert told == "no card has the colour pink Host: you win"
