"""End of a reply: some models continue with the other side's turn, or with their own next one."""

import re
from collections.abc import Iterator

_TURN = re.compile(
    r"<\|(?=[a-z])(?:im_end|eot_id|eom_id|eot|end|endoftext|end_of_text|end_of_turn|end_turn|end_of_message|return|call|end_response|"
    r"start_response|end_of_turn_token|begin_of_text|end.of.sentence|begin.of.sentence)\|>|</s>|<end_of_turn>|<eos>|<bos>|\[/INST\]|\[/?ASSISTANT\]"
    r"|(?:<\|im_start\|>|<\|start\|>|<\|start_header_id\|>\s{0,3}|<start_of_turn>)(?P<role>\w{1,20}+)?(?:\s{0,3}<\|end_header_id\|>)?(?:<\|channel\|>\w{1,20}+)?(?:<\|message\|>)?"
    r"|<\|(?=[a-z])(?P<token>user|human|system|tool|observation|assistant|model|bot|chatbot)\|>|(?P<instruction>\[INST\]|\[USER\])"
    r"|^[ \t#*]{0,6}(?P<name>human|user|system|assistant|ai|bot|model|用户|助手|系统)[ \t*]{0,4}:"
    r"|^#{1,4}[ ]?(?P<heading>instruction|input|question)\b[ \t]{0,4}:?",
    re.IGNORECASE | re.MULTILINE,
)
_FOREIGN = frozenset(
    (
        "user",
        "human",
        "system",
        "tool",
        "observation",
        "ipython",
        "function",
        "instruction",
        "input",
        "question",
        "用户",
        "系统",
    )
)
MAX_TURNS = 20


def own_turns(text: str) -> Iterator[tuple[int, int]]:
    """Yields the spans of turns in narrowed ``text`` that are not in the name of a user, a system or a tool."""
    start, foreign, turns = 0, False, 0
    for match in _TURN.finditer(text):
        if not foreign and text[start : match.start()].strip():
            yield start, match.start()
            turns += 1
            if turns == MAX_TURNS:
                return
        start = match.end()
        role = (
            match["role"]
            or match["token"]
            or match["name"]
            or match["heading"]
            or ("user" if match["instruction"] else "")
        )
        foreign = role.lower() in _FOREIGN
    if not foreign and text[start:].strip():
        yield start, len(text)
