"""Extraction of programs from replies, with or without fenced blocks."""

import ast
import builtins
import re
import warnings
from typing import NamedTuple

from llmarena_envs.core.failures import Failure, ParseError
from llmarena_envs.writer_editor.reading import FENCE, own_words, unquoted

_CODE_INDENT = 4
"""Number of leading blanks that make a line code, not a fence, in Markdown."""

_BUILTINS = frozenset(dir(builtins))
_PYTHON = ("python", "python3", "py", "py3")
_CODE_LINE = re.compile(
    r"(?:(?:async[ ]+)?def[ ]+\w+[ ]*\(|class[ ]+\w+[ ]*[(:]|import[ ]+\w|from[ ]+[\w.]+[ ]+import\b|@\w|#(?!#)|"
    r"[A-Za-z_][\w.]*+[ ]*(?::[^=\n]{1,80}+)?[-+*/]?=[^=]|"
    r"(?:if|elif|for|while|with|except)\b[^\n]*:\s*(?:#.*)?$|(?:else|try|finally):|print\(|[)\]}]+[,:]?\s*$|'''|\"\"\")"
)
_MAX_PARSED = 20_000
"""Maximum characters of a block for name analysis."""

_CHANGED = r"[+-](?:[ ]{2,}+|\t++)?(?:async[ ]+def|def|class|return|import|from|for|while|if|elif)\b"
_DIFF = re.compile(rf"^(?:@@ -\d|diff --git |--- [^\n]+\n\+\+\+ |<{{7}} |>{{7}} |{_CHANGED})", re.MULTILINE)
_DIFF_NAMES = ("diff", "patch", "udiff")
_DEFINITION = re.compile(r"^(?:(?:async[ ]+)?def|class)[ ]+\w", re.MULTILINE)


def read_program(reply: str, entry_point: str) -> str:
    """Returns the program in a reply.

    Prefers the last Python block that defines ``entry_point``, with the other blocks that define names it uses; else the last
    Python block, else the last one without a language, else the last one. A block that begins with an indented line continues
    the previous one. If no block defines ``entry_point``, or without a fence, takes the lines from the first to the last line
    of code.

    Raises:
        ParseError: if there is no program, or only a diff.
    """
    text = unquoted(own_words(reply))
    program = unquoted(_found(text, entry_point)).strip("\n").rstrip()
    if _DIFF.search(program) and _tree(program) is None:
        raise _change(entry_point)
    if not program.strip():
        raise ParseError(Failure.UNPARSABLE, "no_program", entry_point=entry_point)
    return program


def _change(entry_point: str) -> ParseError:
    return ParseError(Failure.UNPARSABLE, "diff", entry_point=entry_point)


def write_program(program: str) -> str:
    """Returns a program in a fenced block, with a fence longer than any in it."""
    longest = max((len(match[2]) for match in FENCE.finditer(program)), default=2)
    fence = "`" * max(3, longest + 1)
    return f"{fence}python\n{program}\n{fence}"


class Block(NamedTuple):
    """A fenced block: its language in lower case, and its content."""

    language: str
    content: str


def _found(text: str, entry_point: str) -> str:
    """Returns the program in a text, or its diff part; empty if there is neither."""
    blocks = _blocks(text)
    code = _continued([block for block in blocks if block.language in (*_PYTHON, "")])
    defining = [place for place, block in enumerate(code) if _defines(block.content, entry_point)]
    if defining:
        return _with_what_it_uses(code, defining[-1])
    program = _bare_program(text)
    if _defines(program, entry_point):
        return program
    if any(block.language in _DIFF_NAMES for block in blocks):
        raise _change(entry_point)
    for languages in (_PYTHON, ("",)):
        fitting = [block.content for block in code if block.language in languages]
        if fitting:
            return fitting[-1]
    if blocks:
        return blocks[-1].content
    return program or (text if _DIFF.search(text) and _tree(text) is None else "")


def _blocks(text: str) -> list[Block]:
    """Returns the non-empty fenced blocks; an unclosed one extends to the end.

    As in Markdown, a fence indented by at least four more than the opening one is part of the content.
    """
    fences = list(FENCE.finditer(text))
    if _DEFINITION.search(text) and all(_indent(fence) >= _CODE_INDENT for fence in fences):
        return []  # an unfenced program with fences in a docstring
    blocks: list[Block] = []
    opened: re.Match[str] | None = None
    for fence in fences:
        if opened is None:
            opened = fence
        elif (
            fence[2].startswith(opened[2]) and not fence[3].strip() and _indent(fence) < _indent(opened) + _CODE_INDENT
        ):
            blocks.append(_block(opened, text[opened.end() : fence.start()]))
            opened = None
    if opened is not None:
        blocks.append(_block(opened, text[opened.end() :]))
    return [block for block in blocks if block.content.strip()]


def _indent(fence: re.Match[str]) -> int:
    return len(fence[1].expandtabs(_CODE_INDENT))


def _block(opened: re.Match[str], content: str) -> Block:
    indent = len(opened[1])
    if indent:
        content = re.sub(rf"^[ \t]{{1,{indent}}}", "", content, flags=re.MULTILINE)
    return Block(opened[3].partition(" ")[0].strip("{}. \t").lower(), content)


def _continued(blocks: list[Block]) -> list[Block]:
    """Joins blocks that begin with an indented line to the previous block."""
    joined: list[Block] = []
    for block in blocks:
        if joined and block.content.strip("\n")[:1] in (" ", "\t"):
            joined[-1] = _joined([joined[-1], block])
        else:
            joined.append(block)
    return joined


def _joined(blocks: list[Block]) -> Block:
    return Block(blocks[0].language, "\n".join([block.content.strip("\n") for block in blocks]))


def _with_what_it_uses(blocks: list[Block], place: int) -> str:
    """Returns a block together with blocks that define names it uses, transitively."""
    names = [_names(block.content) for block in blocks]
    used = {place}
    missing = set(names[place].used)
    while missing:
        name = missing.pop()
        if any(name in names[each].defined for each in used):
            continue
        source = next((each for each in range(len(blocks) - 1, -1, -1) if name in names[each].defined), None)
        if source is not None:
            used.add(source)
            missing |= names[source].used
    return _joined([blocks[each] for each in sorted(used)]).content


class _Names(NamedTuple):
    """The names defined by a block, and its free names."""

    defined: frozenset[str]
    used: frozenset[str]


def _names(program: str) -> _Names:
    tree = _tree(program)
    if tree is None:
        return _Names(frozenset(), frozenset())
    defined = frozenset(name for statement in tree.body for name in _bound(statement))
    bound: set[str] = set()
    used: set[str] = set()
    for node in ast.walk(tree):
        bound.update(_bound(node))
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
    return _Names(defined, frozenset(used - bound - _BUILTINS))


def _tree(program: str) -> ast.Module | None:
    """Parses a program; ``None`` if invalid or too long."""
    if len(program) > _MAX_PARSED:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(program)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _bound(node: ast.AST) -> set[str]:
    """Returns the names bound by a statement."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    if isinstance(node, ast.ExceptHandler):
        return {node.name or ""}
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}
    return set()


def _defines(program: str, name: str) -> bool:
    pattern = rf"^(?:(?:async[ ]+)?def|class)[ ]+{re.escape(name)}\b|^{re.escape(name)}[ ]*="
    return bool(name) and re.search(pattern, program, re.MULTILINE) is not None


def _bare_program(text: str) -> str:
    """Returns the lines of an unfenced text from the first to the last line of code."""
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
