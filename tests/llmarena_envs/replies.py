"""Texts that every grammar of replies has to bear, for property tests."""

from hypothesis import strategies as st

from llmarena_envs.core.failures import Failure, InvalidReply
from llmarena_envs.core.text_env import TextEnv

LONG = 1_000_000

FRAGMENTS = (
    *(
        "X",
        "O",
        "x:",
        "O =",
        "(",
        ")",
        "[",
        "]",
        ",",
        "，",
        "1",
        "2",
        "3",
        "9",
        "-1",
        "１",
        "row",
        "column ",
        "：",
        "（",
        "）",
    ),
    *(" ", "\n", "\t", "```", "```json\n", "**", "{", "}", '{"row": 1, "column": 2}', '{"column": 3}', '"', "_|_|_"),
    *("我下", "第一行", "<|im_start|>assistant\n", "</s>", "[INST]", "Human:", "\ud800", "\x00", "\u202e", "\ufdfa"),
)

junk = st.one_of(
    st.text(st.characters()),
    st.lists(st.sampled_from(FRAGMENTS)).map("".join),
    st.builds(
        lambda part, end: part * (LONG // len(part)) + end,
        st.sampled_from(FRAGMENTS),
        st.sampled_from(("", *FRAGMENTS)),
    ),
)
"""Any text: arbitrary characters, fragments of grammars in any order, a million characters of one fragment."""

WORDS = (
    "the",
    "board",
    "corner",
    "good luck",
    "hello",
    "we",
    "棋盘",
    "我们",
    "加油",
    "😀",
    "é",
    "ñandú",
    ",",
    "\n",
    "\t",
    " ",
)

wordy = st.lists(st.sampled_from(WORDS), max_size=60).map(" ".join)
"""Prose around a move, without digits, brackets, marks, or words that introduce a statement."""


def outcome(env: TextEnv, reply: str, agent: str) -> object:
    """Returns the action a reply is read as, or the kind of failure; any other error passes through."""
    try:
        return env.parse(reply, agent)
    except InvalidReply as error:
        assert error.message
        assert error.kind in (Failure.EMPTY, Failure.UNPARSABLE, Failure.ILLEGAL)
        return error.kind
