"""The documentation of the repository, as its tests read it."""

import importlib.util
import re
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


def build_pages() -> ModuleType:
    """Returns the script ``docs/build_pages.py`` as a module."""
    spec = importlib.util.spec_from_file_location("build_pages", DOCS / "build_pages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
