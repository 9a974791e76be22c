"""Reading what writers and editors reply: texts and programs, without what models wrap them in."""

import re
from collections.abc import Callable

from llmarena_envs.core.failures import Failure, Refusal
from llmarena_envs.core.quoting import printable
from llmarena_envs.core.reading.markup import narrow
from llmarena_envs.core.reading.objects import read_object
from llmarena_envs.core.replies import clean_text, read_part

MAX_PASSES = 8
"""Wrappers inside each other that are taken off."""

_TURN_BEGINS = re.compile(
    r"\s*+(?:<\|im_start\|>(?:assistant)?|<\|start_header_id\|>assistant<\|end_header_id\|>|<start_of_turn>(?:model)?|"
    r"<\|assistant\|>|<s>|<bos>|<\|begin_of_text\|>)\s*+"
)
_TURN_ENDS = re.compile(
    r"<\|(?:im_end|im_start|eot_id|eom_id|eot|end|endoftext|end_of_text|end_of_turn|start_header_id|return|user)\|>"
    r"|</?(?:end|start)_of_turn>|<eos>|</s>(?=\s*+\Z)"
)
_NAMES = (
    r"answer|final_answer|output|response|text|code|program|python|solution|review|comments?|feedback|"
    r"translation|polished(?:_translation|_text)?"
)
_TAG = re.compile(rf"<({_NAMES})>(.*)</\1>", re.IGNORECASE | re.DOTALL)
_KEY = re.compile(_NAMES, re.IGNORECASE)
_QUOTED = re.compile(r"(?:[ \t]*\n|>[^\n]*(?:\n|\Z))*+")
_QUOTE = re.compile(r"^(?:>[ ]?)++", re.MULTILINE)
_FENCE = re.compile(r"^([ \t]*+)(`{3,}+|~{3,}+)[ \t]*+([^\n`]{0,80}+)$", re.MULTILINE)
_ABOUT_TRANSLATION = r"translat|polish|revis|proofread|译|润色|校"
_LABEL = re.compile(
    r"\s*+[*_#> ]{0,6}+"
    r"(?:translation|(?:final|polished|revised|improved)[ ](?:translation|version|text)|译文|润色后的?译文|润色后)"
    rf"[*_ ]{{0,6}}+[:：][*_ ]{{0,6}}+|\s*+(?=[^\n]{{0,100}}?(?:{_ABOUT_TRANSLATION}))"
    r"(?:sure|certainly|of course|okay|ok|here|below|this is|好的|以下|下面|这是)[^\n:：]{0,100}+[:：][ \t]*+\n",
    re.IGNORECASE,
)
_SPEAKER = re.compile(
    r"\s*+[*_#]{0,6}+[ ]?(?:programmer|reviewer|translator|proofreader|程序员|评审|译者|校对|writer_0|editor_0)"
    r"[*_]{0,3}+[ ]?[:：][*_]{0,3}+\s*+(?=\S)",
    re.IGNORECASE,
)
_TOKEN_EDGE = re.compile(r"^[\W_]+|[\W_]+$")

_PYTHON = ("python", "python3", "py", "py3")
_CODE_LINE = re.compile(
    r"(?:(?:async[ ]+)?def[ ]+\w+[ ]*\(|class[ ]+\w+[ ]*[(:]|import[ ]+\w|from[ ]+[\w.]+[ ]+import\b|@\w|#(?!#)|"
    r"[A-Za-z_][\w.]*+[ ]*(?::[^=\n]{1,80}+)?[-+*/]?=[^=]|"
    r"(?:if|elif|for|while|with|except)\b[^\n]*:\s*(?:#.*)?$|(?:else|try|finally):|print\(|[)\]}]+[,:]?\s*$|'''|\"\"\")"
)
_DEFINITION = re.compile(r"^(?:(?:async[ ]+)?def|class)[ ]+\w", re.MULTILINE)


def own_words(reply: str) -> str:
    """Returns a reply without reasoning, tokens of chat templates, a tag or an object around the whole, and unprintable signs.

    Raises:
        Refusal: if it is wrapped more than ``MAX_PASSES`` times.
    """
    return _settled(reply, _unwrapped)


def read_review(reply: str, token: str) -> str:
    """Returns what an editor says of a text: free text, or ``token`` if it says nothing else.

    Case, punctuation and markup around the token make no difference.

    Raises:
        Refusal: if it says nothing.
    """
    text = _settled(reply, _unwrapped_text)
    return token if _is_token(text, token) else _some(text)


def read_translation(reply: str) -> str:
    """Returns a translation, without a heading that says that it is one.

    Raises:
        Refusal: if there is none.
    """
    return _some(_settled(reply, _translation))


def read_polished(reply: str, token: str) -> str:
    """Returns a polished translation, or ``token`` if the reply says nothing else; see ``read_review``.

    Raises:
        Refusal: if it says nothing.
    """
    text = _settled(reply, _translation)
    return token if _is_token(text, token) else _some(text)


def read_program(reply: str, entry_point: str) -> str:
    """Returns the program in a reply.

    It stands in a fenced block: of several the last one that defines ``entry_point``, else the last one in Python, else the
    last one that names no language, else the last one. Without a fence the reply is the program, from its first line of code
    to its last one.

    Raises:
        Refusal: if there is none.
    """
    text = _unquoted(own_words(reply))
    program = _chosen(_blocks(text), entry_point) if _FENCE.search(text) else _bare_program(text)
    program = _unquoted(program).strip("\n").rstrip()
    if not program.strip():
        raise Refusal(Failure.UNPARSABLE, "no_program", entry_point=entry_point)
    return program


def write_program(program: str) -> str:
    """Returns a program in a fenced block, with a fence that is longer than any in it."""
    longest = max((len(match[2]) for match in _FENCE.finditer(program)), default=2)
    fence = "`" * max(3, longest + 1)
    return f"{fence}python\n{program}\n{fence}"


def _settled(reply: str, step: Callable[[str], str]) -> str:
    """Applies a step until it changes nothing more."""
    text = reply
    for _ in range(MAX_PASSES):
        before, text = text, step(text)
        if text == before:
            return text
    raise Refusal(Failure.UNPARSABLE, "nothing_stated")


def _some(text: str) -> str:
    if not text:
        raise Refusal(Failure.UNPARSABLE, "nothing_stated")
    return text


def _is_token(text: str, token: str) -> bool:
    if len(text) > 10 * len(token) + 100:
        return False
    return _TOKEN_EDGE.sub("", clean_text(narrow(text))).casefold() == narrow(token).casefold()


def _unwrapped(reply: str) -> str:
    text = printable(read_part(reply))
    begins = _TURN_BEGINS.match(text)
    text = text[begins.end() :] if begins else text
    ends = _TURN_ENDS.search(text)
    text = text[: ends.start()] if ends else text
    stripped = text.strip()
    tag = _TAG.fullmatch(stripped) if stripped[:1] == "<" else None
    if tag and f"</{tag[1].lower()}>" not in tag[2].lower():
        return tag[2]
    if stripped[:1] == "{" and stripped[-1:] == "}":
        fields = read_object(stripped) or {}
        stated = [value for key, value in fields.items() if _KEY.fullmatch(key) and isinstance(value, str)]
        if len(stated) == 1:
            return stated[0]
    return text


def _unwrapped_text(reply: str) -> str:
    """Takes off two more wrappers: the name of the speaker, and a fence around the whole."""
    text = _unwrapped(reply).strip()
    speaker = _SPEAKER.match(text)
    text = text[speaker.end() :] if speaker else text
    fences = list(_FENCE.finditer(text)) if text[:3] in ("```", "~~~") else []
    if len(fences) == 2 and fences[1].end() == len(text) and fences[0][2][0] == fences[1][2][0] and not fences[1][3]:
        return text[fences[0].end() : fences[1].start()].strip()
    return text


def _unquoted(text: str) -> str:
    """Returns a text without the marks of quoting if they stand before every line, as others' texts are shown to players."""
    return _QUOTE.sub("", text) if ">" in text and _QUOTED.fullmatch(text) else text


def _translation(reply: str) -> str:
    text = _unquoted(_unwrapped_text(reply)).strip()
    label = _LABEL.match(text)
    return text[label.end() :].strip() if label and text[label.end() :].strip() else text


def _blocks(text: str) -> list[tuple[str, str]]:
    """Returns language and content of the fenced blocks; one that is never closed goes to the end."""
    blocks: list[tuple[str, str]] = []
    opened: re.Match[str] | None = None
    for match in _FENCE.finditer(text):
        if opened is None:
            opened = match
        elif match[2].startswith(opened[2]) and not match[3].strip():
            blocks.append(_block(opened, text[opened.end() : match.start()]))
            opened = None
    if opened is not None:
        blocks.append(_block(opened, text[opened.end() :]))
    return [block for block in blocks if block[1].strip()]


def _block(opened: re.Match[str], content: str) -> tuple[str, str]:
    indent = len(opened[1])
    if indent:
        content = re.sub(rf"^[ \t]{{1,{indent}}}", "", content, flags=re.MULTILINE)
    return opened[3].partition(" ")[0].strip("{}. \t").lower(), content


def _chosen(blocks: list[tuple[str, str]], entry_point: str) -> str:
    in_python = [content for language, content in blocks if language in _PYTHON]
    unnamed = [content for language, content in blocks if not language]
    defining = [
        content for language, content in blocks if language in (*_PYTHON, "") and _defines(content, entry_point)
    ]
    for choice in (defining, in_python, unnamed, [content for _, content in blocks]):
        if choice:
            return choice[-1]
    return ""


def _defines(program: str, name: str) -> bool:
    pattern = rf"^(?:(?:async[ ]+)?def|class)[ ]+{re.escape(name)}\b|^{re.escape(name)}[ ]*="
    return bool(name) and re.search(pattern, program, re.MULTILINE) is not None


def _bare_program(text: str) -> str:
    """Returns the lines of a text without fences from the first line of code to the last one."""
    if not _DEFINITION.search(text):
        return ""
    lines = text.split("\n")
    first = last = -1
    inside = False
    for number, line in enumerate(lines):
        if not line.strip():
            continue
        inside = _CODE_LINE.match(line) is not None or (inside and line[0] in " \t")
        if inside:
            first = number if first < 0 else first
            last = number
    return "\n".join(lines[first : last + 1])
