"""The documentation of the repository, as its tests read it.

``python -m tests.docs.pages PAGE FOLDER`` writes the files that a page consists of.
"""

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

DOCS = Path(__file__).parents[2] / "docs"
_BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)


class CodeBlock(NamedTuple):
    """A fenced block: its language, the file it is to stand in (or an empty string) and its text."""

    language: str
    title: str
    text: str


def code_blocks(page: str) -> list[CodeBlock]:
    """Returns the fenced code blocks of ``docs/<page>``."""
    return [
        CodeBlock(*match.groups(default="")) for match in _BLOCK.finditer((DOCS / page).read_text(encoding="utf-8"))
    ]


def write_files(page: str, folder: Path) -> None:
    """Writes the blocks of ``docs/<page>`` that are files where their titles say."""
    for block in code_blocks(page):
        if block.language in ("python", "toml"):
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


if __name__ == "__main__":
    write_files(sys.argv[1], Path(sys.argv[2]))
