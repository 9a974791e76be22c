import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmarena_envs.core.failures import Failure, ParseError
from llmarena_envs.core.quoting import quote
from llmarena_envs.writer_editor.game import MAX_TEXT
from llmarena_envs.writer_editor.programs import read_program, write_program
from llmarena_envs.writer_editor.reading import read_polished, read_review, read_translation
from tests.llmarena_envs.replies import LONG, junk

PROGRAM = "def add(a, b):\n    return a + b"
OTHER = "def add(a, b):\n    return a - b"
USE = "print(add(1, 2))"


def fenced(text, language="python"):
    return f"```{language}\n{text}\n```"


@pytest.mark.parametrize(
    "reply",
    [
        PROGRAM,
        f"\n\n{PROGRAM}\n\n",
        PROGRAM.replace("\n", "\r\n"),
        fenced(PROGRAM),
        fenced(PROGRAM, ""),
        fenced(PROGRAM, "Python3"),
        fenced(PROGRAM, "py title=add.py"),
        fenced(PROGRAM).replace("`", "~"),
        f"~~~~python\n{PROGRAM}\n~~~~",
        f"```python\n{PROGRAM}",
        f"Here is the solution:\n\n{fenced(PROGRAM)}\n\nIt runs in constant time.",
        f"{fenced(OTHER)}\nThat was wrong. Better:\n{fenced(PROGRAM)}",
        f"{fenced(PROGRAM)}\nFor instance:\n{fenced(USE)}",
        f"{fenced(PROGRAM)}\nIt prints\n{fenced('3', '')}",
        f"{fenced(PROGRAM)}\nRun it:\n{fenced('python add.py', 'bash')}",
        f"{fenced(PROGRAM)}\n\n| step | cost |\n|---|---|\n| add | O(1) |",
        f"The program:\n\n{PROGRAM}\n\nIt adds two numbers.",
        f"{PROGRAM}\n\n| step | cost |\n|---|---|\n| add | O(1) |",
        f"<think>```python\n{OTHER}\n```</think>\n{fenced(PROGRAM)}",
        f"<|im_start|>assistant\n{fenced(PROGRAM)}<|im_end|>\n<|im_start|>user\n{fenced(OTHER)}",
        f"<answer>{fenced(PROGRAM)}</answer>",
        f"<code>\n{PROGRAM}\n</code>",
        '{"code": "def add(a, b):\\n    return a + b"}',
        "1. First the program:\n   ```python\n   def add(a, b):\n       return a + b\n   ```",
        f"{PROGRAM}</s>",
        quote(PROGRAM),
        fenced(quote(PROGRAM)),
        quote(fenced(PROGRAM)),
        ">>> def add(a, b):\n>>>     return a + b",
    ],
)
def test_a_program_is_read_as_a_person_would(reply):
    assert read_program(reply, "add") == PROGRAM


@pytest.mark.parametrize(
    ("reply", "program"),
    [
        (fenced("add = lambda a, b: a + b"), "add = lambda a, b: a + b"),
        (fenced(f"import math\n\n\n{PROGRAM}"), f"import math\n\n\n{PROGRAM}"),
        (f"{fenced('x = 1')}\n{fenced('y = 2')}", "y = 2"),
        (f"{fenced('x = 1')}\n{fenced('y = 2', 'json')}", "x = 1"),
        (fenced("x = 1", "javascript"), "x = 1"),
        (f"````python\n{fenced(PROGRAM)}\n````", fenced(PROGRAM)),
        (f"from math import pi\nTAU = 2 * pi\n\n{PROGRAM}\n\nDone.", f"from math import pi\nTAU = 2 * pi\n\n{PROGRAM}"),
    ],
)
def test_which_block_is_the_program(reply, program):
    assert read_program(reply, "add") == program


@pytest.mark.parametrize(
    "reply",
    [
        "I would add the two numbers.",
        "",
        "   \n",
        fenced(""),
        "```python\n```",
        "x = 5",
        "<think>def add(a, b): ...",
        "| a | b |\n|---|---|\n| 1 | 2 |",
    ],
)
def test_missing_program_reason_states_the_expected_form(reply):
    with pytest.raises(ParseError) as error:
        read_program(reply, "add")
    assert error.value.kind is Failure.UNPARSABLE
    assert error.value.reason.fields == {"entry_point": "add"}


@pytest.mark.parametrize("inner", ["```", "````python", "~~~", "  ```", "'''", "`", "x = '```'"])
def test_program_with_fences_round_trips(inner):
    program = f'"""\n{inner}\ndef add(): ...\n{inner}\n"""\n{PROGRAM}'
    assert read_program(write_program(program), "add") == program


@pytest.mark.parametrize(
    "reply",
    [
        *(
            "over",
            "Over",
            "OVER.",
            "over!",
            " over \n",
            "**over**",
            '"over"',
            "`over`",
            "over。",
            "“over”",
            "_over_",
            "[over]",
        ),
        *(
            "over</s>",
            "<|im_start|>assistant\nover<|im_end|>",
            "<think>it is good</think>over",
            "<answer>over</answer>",
        ),
        *(
            "```\nover\n```",
            "Reviewer: over",
            "**Reviewer:** over.",
            "editor_0: over",
            "评审：over",
            '{"review": "over"}',
            "ｏｖｅｒ",
        ),
    ],
)
def test_consensus_is_the_token_alone(reply):
    assert read_review(reply, "over") == "over"
    assert read_polished(reply, "over") == "over"


@pytest.mark.parametrize(
    "reply",
    [
        "It is over",
        "over and out",
        "over over",
        "overs",
        "not over",
        "The token is over.",
        "over?\nNo.",
        "over 1",
        "it's over!",
    ],
)
def test_token_with_more_text_is_a_review(reply):
    assert read_review(reply, "over") == reply


def test_another_token():
    assert read_review("通过。", "通过") == "通过"
    assert read_review("All Good!", "all good") == "all good"
    assert read_review("over", "done") == "over"


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("Es regnet.\n\nBleib hier.", "Es regnet.\n\nBleib hier."),
        ("Translation: It rains.", "It rains."),
        ("**Translation:**\n\nIt rains.", "It rains."),
        ("Polished translation:\nIt rains.", "It rains."),
        ("译文：下雨了。", "下雨了。"),
        ("润色后的译文：\n下雨了。", "下雨了。"),
        ("Here is the polished translation:\n\nIt rains.", "It rains."),
        ("Sure! Here's my revised version:\nIt rains.", "It rains."),
        ("以下是润色后的译文：\n下雨了。", "下雨了。"),
        ("Translator: It rains.", "It rains."),
        ("```\nIt rains.\n```", "It rains."),
        ("<translation>It rains.</translation>", "It rains."),
        ('{"translation": "It rains."}', "It rains."),
        ("> It rains.\n>\n> Stay here.", "It rains.\n\nStay here."),
        # What belongs to the text stays.
        ("> It rains.\nStay here.", "> It rains.\nStay here."),
        ("Here are the rules:\nNo noise.", "Here are the rules:\nNo noise."),
        ("Editor: Why?\nWriter: Because.", "Editor: Why?\nWriter: Because."),
        ("Version: 2.1 is out.", "Version: 2.1 is out."),
        ("“It rains,” she said.", "“It rains,” she said."),
        ('"It rains."', '"It rains."'),
        ("*It* rains: always.", "*It* rains: always."),
        ("Use `over` and\n```\ncode\n```\nhere.", "Use `over` and\n```\ncode\n```\nhere."),
        ('{"a": "x", "b": "y"}', '{"a": "x", "b": "y"}'),
    ],
)
def test_translation_is_read_without_its_wrapping(reply, text):
    assert read_translation(reply) == text


@pytest.mark.parametrize("reply", ["<think>so far", "```\n```", "<|im_end|>", "<translation></translation>", "\x00"])
def test_empty_reply_is_no_text(reply):
    with pytest.raises(ParseError):
        read_translation(reply)
    with pytest.raises(ParseError):
        read_review(reply, "over")


WRAPPERS = (
    *(
        "```",
        "```python",
        "\n",
        " ",
        "~~~",
        "<think>",
        "</think>",
        "<answer>",
        "</answer>",
        "{",
        "}",
        '{"text": "',
        '"}',
    ),
    *(
        "Translation:",
        "Reviewer:",
        "over",
        "def add(a, b):",
        "    return 1",
        "<|im_end|>",
        "</s>",
        "**",
        "> ",
        "\\n",
        "\u2028",
    ),
    *("analysis", "assistantfinal", "<|channel|>final<|message|>", "[think]", "[/think]", "\\u003cthink>"),
)
replies = st.one_of(st.lists(st.sampled_from(WRAPPERS), max_size=12).map("".join), junk)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(replies)
def test_parsed_text_round_trips(reply):
    for read, write in (
        (lambda text: read_program(text, "add"), write_program),
        (lambda text: read_review(text, "over"), str),
        (lambda text: read_polished(text, "over"), str),
        (read_translation, str),
    ):
        try:
            text = read(reply)
        except ParseError:
            continue
        assert text.strip()
        assert len(text) > MAX_TEXT or read(write(text)) == text


@pytest.mark.slow_except(2)
@pytest.mark.parametrize(
    "part", ["```\n", "<answer>", "x: :#", " ", "(" * 99 + ":", "Translation:", "def f(\n", "``` `", "here "]
)
def test_a_very_long_reply_is_read_or_refused(part):
    reply = part * (LONG // len(part))
    for read in (
        lambda: read_program(reply, "add"),
        lambda: read_review(reply, "over"),
        lambda: read_translation(reply),
    ):
        try:
            assert len(read()) <= 100_000
        except ParseError as refusal:
            assert refusal.kind is Failure.UNPARSABLE
