"""The documentation of the repository, as its tests read it."""

import importlib.util
import re
import textwrap
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
_FENCE = re.compile(r"( *)(`{3,}|~{3,})(.*)")
_INDENTED = re.compile(r" {4,}\S| *\t")
_QUOTED = re.compile(r"\s*(?:>\s*(?:`{3}|~{3})|<pre\b)")
"""Code without a fence of its own, which nothing would test; after an empty line an indented one is code."""

_HEAD = re.compile(r'(\w*)(?: +title="([^"]+)")?')


class CodeBlock(NamedTuple):
    """A fenced block of a page.

    Attributes:
        language: the first word behind the fence, or an empty string.
        title: the name of the file to write, or an empty string.
        text: content of the block, without the indentation of the fence.
        line: number of the line of its opening fence.
        follows: whether nothing but empty lines stands between the block before and this one.
    """

    language: str
    title: str
    text: str
    line: int
    follows: bool


def pages() -> list[str]:
    """Returns the paths of all pages in the repository, README first."""
    return ["README.md", *sorted(path.relative_to(ROOT).as_posix() for path in DOCS.rglob("*.md"))]


def code_blocks(page: str) -> list[CodeBlock]:
    """Returns the fenced code blocks of ``docs/<page>``."""
    return fenced_blocks((DOCS / page).read_text(encoding="utf-8"))


def fenced_blocks(text: str) -> list[CodeBlock]:
    """Returns the fenced code blocks of a page.

    Raises:
        ValueError: if the text behind a fence cannot be read, a block has no end, or code has no fence.
    """
    blocks: list[CodeBlock] = []
    lines = iter(enumerate(text.splitlines(), 1))
    follows, before = False, ""
    for number, line in lines:
        opening = _FENCE.fullmatch(line)
        if opening is None:
            if _QUOTED.match(line) or (not before and _INDENTED.match(line)):
                raise ValueError(f"line {number}: expected code between fences, got {line!r}")
            follows, before = follows and not line.strip(), line.strip()
            continue
        before = ""
        indentation, fence, behind = opening.groups()
        head = _HEAD.fullmatch(behind.strip())
        if head is None:
            raise ValueError(
                f'line {number}: expected a language and perhaps title="FILE" behind a fence, got {behind!r}'
            )
        inside = []
        for _, each in lines:
            if each.strip() == fence:
                break
            inside.append(each)
        else:
            raise ValueError(f"line {number}: expected {fence} at the end of the block, got the end of the page")
        text_inside = "".join(f"{each}\n" for each in inside)
        blocks.append(
            CodeBlock(
                head[1], head[2] or "", textwrap.dedent(text_inside) if indentation else text_inside, number, follows
            )
        )
        follows = True
    return blocks


def write_file(block: CodeBlock, folder: Path) -> None:
    """Writes a block into the file that its title names."""
    file = folder / block.title
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(block.text, encoding="utf-8")


def build_pages() -> ModuleType:
    """Returns the script ``docs/build_pages.py`` as a module."""
    spec = importlib.util.spec_from_file_location("build_pages", DOCS / "build_pages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
