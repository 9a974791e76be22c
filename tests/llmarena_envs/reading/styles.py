"""Ways in which models write an answer."""

import json
from collections.abc import Callable

from tests.llmarena_envs.reading.cases import Case

Style = Callable[[Case], str]


def _wrapped(*forms: str) -> dict[str, Style]:
    """Returns styles from forms in which S stands for the published form, V for the value, L for the label, J for the object."""

    def fill(form: str) -> Style:
        def style(case: Case) -> str:
            pieces = {
                "§S": case.statement,
                "§V": case.value,
                "§L": case.label,
                "§J": case.json,
                "§C": case.considered,
                "§O": case.other,
            }
            text = form
            for mark, piece in pieces.items():
                text = text.replace(mark, piece)
            return text

        return style

    return {form: fill(form) for form in forms}


def _python(case: Case) -> str:
    return repr(case.fields)


def _fields(form: str, between: str = "\n") -> Style:
    """Returns a style that writes the fields one by one: K is the key, V the value, R the value as Python writes it."""

    def style(case: Case) -> str:
        pieces = []
        for key, value in case.fields.items():
            plain = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            pieces.append(form.replace("§K", key).replace("§V", plain).replace("§R", repr(value)))
        return between.join(pieces)

    return style


def _around(before: str, style: Style, after: str) -> Style:
    return lambda case: f"{before}{style(case)}{after}"


_PARAMETERS = _fields('<parameter name="§K">§V</parameter>')
_ARGUMENTS = _fields("§K=§R", ", ")


STYLES: dict[str, Style] = {
    **_wrapped(
        # plain
        "§S",
        "§S\n",
        "  §S  ",
        "I have thought about it.\n\n§S",
        "I have thought about it.\n§S\n",
        "Sure! Here is my answer:\n\n§S",
        # emphasis, headings, quotes, lists
        "**§S**",
        "**§L:** §V",
        "**§L**: §V",
        "*§S*",
        "***§S***",
        "__§S__",
        "# §S",
        "### §S",
        "> §S",
        "- §S",
        "* §S",
        "`§S`",
        "**`§S`**",
        '"§S"',
        "'§S'",
        "“§S”",
        "「§S」",
        "§L: **§V**",
        "§L: `§V`",
        '§L: "§V"',
        "<b>§S</b>",
        "<p>§S</p>",
        "<u><strong>§S</strong></u>",
        # fences
        "```\n§S\n```",
        "```text\n§S\n```",
        "My answer is below.\n\n```\n§S\n```\n",
        "~~~\n§S\n~~~",
        # tags
        "<answer>§S</answer>",
        "<answer>§V</answer>",
        "<answer>\n§S\n</answer>",
        "<final_answer>§S</final_answer>",
        "<Answer> §S </Answer>",
        "<output>§S</output>",
        "<response>\n§S\n</response>",
        "<move>§S</move>",
        "<action>§V</action>",
        "[ANSWER]§S[/ANSWER]",
        "§S</answer>",
        "I prefer it.\n<answer>§S</answer>\n",
        "<answer>**§S**</answer>",
        # boxes
        "\\boxed{§S}",
        "\\boxed{§V}",
        "$\\boxed{§S}$",
        "$$\\boxed{§S}$$",
        "\\[\\boxed{§S}\\]",
        "\\(\\boxed{§S}\\)",
        "\\boxed{\\text{§S}}",
        "$\\boxed{\\text{§V}}$",
        "§L: \\boxed{§V}",
        "Final Answer: \\boxed{§S}",
        "The final answer is $\\boxed{§S}$.",
        "<|begin_of_box|>§S<|end_of_box|>",
        # announcements
        "Final Answer: §S",
        "**Final Answer:** §S",
        "**Final Answer: §S**",
        "### Final Answer\n§S",
        "## Final Answer:\n\n**§S**",
        "Answer: §S",
        "Answer: §V",
        "Final answer: **§V**",
        "FINAL ANSWER: §S",
        "My final answer is: §S",
        "The answer is: §V",
        "So the answer is:\n§S",
        "答案：§S",
        "最终答案：§S",
        "**答案：** §S",
        "我的答案是：§S",
        # roles and tokens
        "assistant: §S",
        "Assistant: §S",
        "<|im_start|>assistant\n§S<|im_end|>",
        "<|start_header_id|>assistant<|end_header_id|>\n\n§S<|eot_id|>",
        "<start_of_turn>model\n§S<end_of_turn>",
        "[/INST] §S</s>",
        "§S</s>",
        "§S<|im_end|>",
        "§S<|eot_id|>",
        "§S<|endoftext|>",
        "§S<｜end▁of▁sentence｜>",
        "§S<|im_end|>\n<|im_start|>user\n§O",
        "§S\n\nUser: thanks\nAssistant: §C",
        # reasoning
        "<think>§C? No.</think>§S",
        "<think>\n§C\n</think>\n\n§S",
        "§C is what I thought first.</think>\n§S",
        "<thinking>\n§C\n</thinking>\n§S",
        "<reasoning>§C</reasoning>\n§S",
        "<scratchpad>§C</scratchpad><answer>§S</answer>",
        "[THINK]§C[/THINK]§S",
        "＜think＞§C＜/think＞§S",
        "<|begin_of_thought|>§C<|end_of_thought|><|begin_of_solution|>§S<|end_of_solution|>",
        "<|channel|>analysis<|message|>§C<|end|><|start|>assistant<|channel|>final<|message|>§S<|return|>",
        "◁think▷§C◁/think▷§S",
        # what follows
        "§S\n\nThis is the best there is, I believe.",
        "§S\n\nConfidence: 70%",
        "§S\nConfidence:\n7",
        "§S\n\nExpected reply: §O",
        "§S\n§O",
        "§S\n\n§O",
        "§S\n\nNext turn:\n§C",
        "§S\n\nI also considered: §C",
        "§S\n\nAlternative: §C",
        "§S\n\nAlternatives considered:\n- §C",
        "§S\n<explanation>§C would have been worse.</explanation>",
        # what stands before
        "Option 1: §C\n\n§S",
        "Example:\n§C\n\n§S",
        "If I chose §C, I would regret it.\n\n§S",
        "Possible moves:\n§C\n\nFinal answer: §S",
        # objects
        "§J",
        "```json\n§J\n```",
        "Here you are: §J",
        "<answer>§J</answer>",
        "<tool_call>\n§J\n</tool_call>",
        "Final answer: §J",
    ),
    "python": _python,
    "python fenced": lambda case: f"```python\n{case.fields!r}\n```",
    "trailing comma": lambda case: case.json[:-1] + ",}",
    "upper keys": lambda case: json.dumps({key.upper(): value for key, value in case.fields.items()}),
    "title keys": lambda case: json.dumps({key.title(): value for key, value in case.fields.items()}),
    "with reason": lambda case: json.dumps({**case.fields, "reason": f"{case.considered} would be wrong"}),
    "reason first": lambda case: json.dumps({"thought": case.considered, **case.fields}, indent=2),
    "tool call": lambda case: json.dumps({"name": "move", "arguments": case.fields}),
    "tool call of text": lambda case: json.dumps({"name": "move", "arguments": case.json}),
    "tool and parameters": lambda case: json.dumps({"tool": "play", "parameters": case.fields}),
    "function call": lambda case: json.dumps({"function_call": {"name": "move", "arguments": case.fields}}),
    "tool calls": lambda case: json.dumps({"tool_calls": [{"function": {"name": "move", "arguments": case.json}}]}),
    "tagged tool call": lambda case: f"<tool_call>{json.dumps({'name': 'move', 'arguments': case.fields})}</tool_call>",
    "nested action": lambda case: json.dumps({"action": case.fields}),
    "nested move": lambda case: json.dumps({"move": case.fields}),
    "answer of statement": lambda case: json.dumps({"answer": case.statement}),
    "final_answer of value": lambda case: json.dumps({"final_answer": case.value}),
    "reasoning and answer": lambda case: json.dumps({"reasoning": f"not {case.considered}", "answer": case.statement}),
    "full width colon": lambda case: case.statement.replace(":", "："),
    "full width": lambda case: (
        "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in case.statement)
        if not case.free
        else case.statement
    ),
    "brackets": lambda case: f"{case.label}: [{case.value}]",
    "Chinese brackets": lambda case: f"{case.label}：【{case.value}】",
    "emphasised brackets": lambda case: f"{case.label}: **[{case.value}]**",
    "upper case": lambda case: (
        case.statement.upper() if not case.free and "guess" not in case.statement else case.statement
    ),
    "full stop": lambda case: (
        f"{case.statement}." if not case.free and "guess" not in case.statement else case.statement
    ),
    # calls
    "invoke": _around('<function_calls>\n<invoke name="make_move">\n', _PARAMETERS, "\n</invoke>\n</function_calls>"),
    "parameters": _PARAMETERS,
    "function with parameters": _around(
        "<tool_call>\n<function=make_move>\n",
        _fields("<parameter=§K>\n§V\n</parameter>"),
        "\n</function>\n</tool_call>",
    ),
    "keys and values": _around(
        "<tool_call>make_move\n", _fields("<arg_key>§K</arg_key>\n<arg_value>§V</arg_value>"), "\n</tool_call>"
    ),
    "elements": _around("<move>", _fields("<§K>§V</§K>", ""), "</move>"),
    "call": _around("make_move(", _ARGUMENTS, ")"),
    "call of play": _around("play(", _ARGUMENTS, ")"),
    "call fenced": _around("```python\nmove(", _ARGUMENTS, ")\n```"),
    "call in brackets": _around("[make_move(", _ARGUMENTS, ")]"),
    "call of a method": _around("env.step(", _ARGUMENTS, ")"),
    "call printed": _around("```tool_code\nprint(default_api.make_move(", _ARGUMENTS, "))\n```"),
    "call announced": _around("Action: make_move(", _ARGUMENTS, ")"),
    "call of a statement": lambda case: f"make_move({case.statement!r})",
    "call of a named statement": lambda case: f"submit(move={case.statement!r})",
    # fields
    "YAML": _fields("§K: §V"),
    "YAML fenced": _around("```yaml\n", _fields("§K: §V"), "\n```"),
    "bold keys": _fields("**§K:** §V"),
    "TOML": _fields("§K = §V"),
    "comments": lambda case: "{\n  // mine\n  " + case.json[1:-1] + "  // strong\n}",
    "array of one": lambda case: f"[{case.json}]",
    **_wrapped(
        "_§S_",
        "«§S»",
        "| §S |",
        "``§S``",
        "< answer >§S</ answer >",
        "§S[EOS]",
        "§S<turn|>",
        "§S</assistant>",
        "§S<unk>",
        "§S ---",
        "最終答案：§S",
        "Considering everything, here is what I do: §S",
        "§S\n\nPlan:\n1. §C",
        "§S\n\nPlan:\n\n1. something\n",
        "§C\n\nWait, that is wrong.\n\n§S",
        "Hmm.\n\n§S",
    ),
}
