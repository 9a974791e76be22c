"""Every block of every page is run, or checked as far as it can be; nothing stands on a page untested by oversight.

A block with a title is a file, and written before anything is run. Python is executed, in one namespace a page; a file of
Python at the top of the folder is a script, and executed for itself. Of a shell, every line of ``llmarena`` is run, in one
folder a page, so that later lines find what earlier ones made. A block of text directly behind one of these is what that
prints, and any other one an extract of what the page has printed so far; ``...`` stands for whatever is left out. What is not
run is named in ``untested``.
"""

import ast
import contextlib
import csv
import importlib
import io
import itertools
import json
import re
import shlex
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import tomlkit

from rating.running.run_file import parse_run_file
from tests.docs import shell, untested
from tests.docs.pages import ROOT, CodeBlock, fenced_blocks, pages, write_file

BLOCKS = {page: fenced_blocks((ROOT / page).read_text(encoding="utf-8")) for page in pages()}
SHELL = ("bash", "sh", "console")
FILES = ("csv", "json", "toml")
PARTS = {"environment": [{"name": "tictactoe_v0"}], "policy": [{"spec": "random"}, {"spec": "first_legal"}]}
"""What makes a whole run file of a part of one."""


class Page:
    """A page that is read from top to bottom in a folder of its own."""

    def __init__(self, name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.name = name
        self.folder = folder
        self.monkeypatch = monkeypatch
        self.names: dict[str, object] = {"__name__": "__main__"}
        self.printed: dict[str, str] = {}
        """What each script has printed, by its title."""
        self.outputs: list[str] = []
        """What each block has printed so far, on both streams; an empty text for those that were not run."""
        self.complete = False
        """Whether all of the last block was run."""
        self.missing: set[str] = set()
        """Folders that commands would have made that were not run."""

    def read(self, block: CodeBlock) -> None:
        """Does with a block what its language says."""
        match block.language:
            case "python":
                self._python(block)
            case "bash" | "sh":
                self._shell(block.text)
            case "console":
                command, _, expected = block.text.partition("\n")
                self._shell(command)
                assert not self.complete or is_output(expected, self.outputs[-1]), difference(expected, self.outputs[-1])
            case "text":
                self._text(block)
            case _:
                check_data(block)
                self.complete = False

    def _python(self, block: CodeBlock) -> None:
        compiled = compile(block.text, block.title or self.name, "exec")
        self.complete = not self.reason_not_to_run(block.text) and "/" not in block.title
        if not self.complete:
            check_imports(block.text)
            return
        with self._captured():
            exec(compiled, {"__name__": "__main__"} if block.title else self.names)
        self.printed[block.title] = self.outputs[-1]

    def _shell(self, text: str) -> None:
        self.complete = True
        with self._captured():
            for command in shell.commands(text):
                if not any(re.search(pattern, command) for pattern in untested.UNKNOWN):
                    shell.check(command, self.monkeypatch)
                words = shlex.split(command)
                if words[0] == "llmarena" and not self.reason_not_to_run(command) and not self._misses(words):
                    shell.run(command)
                else:
                    self.complete = False
                    self.missing |= {folder for option, folder in itertools.pairwise(words) if option == "--out"}

    def _misses(self, words: list[str]) -> bool:
        """Says whether a command reads what one would have made that was not run."""
        return any(f"{word}/".startswith(f"{folder}/") for word in words for folder in self.missing)

    def _text(self, block: CodeBlock) -> None:
        expected = block.text
        if block.title:
            printed = self.printed[block.title.removeprefix("output of ")]
            assert is_output(expected, printed), difference(expected, printed)
        elif block.follows and self.outputs:
            assert not self.complete or is_output(expected, self.outputs[-1]), difference(expected, self.outputs[-1])
        else:
            printed = "\n".join(self.outputs)
            assert self._is_told(expected) or is_output(f"...\n{expected}\n...", printed), difference(expected, printed)

    def _is_told(self, text: str) -> bool:
        """Says whether a block of text is none that anything prints."""
        return (self.name, text.partition("\n")[0]) in untested.TEXTS

    def reason_not_to_run(self, text: str) -> str | None:
        """Returns why a command or a block of Python is not run, or ``None`` if it is to be run."""
        reasons = untested.NOT_RUN.items()
        return next((reason for pattern, reason in reasons if re.search(pattern, f"{self.name}: {text}")), None)

    @contextlib.contextmanager
    def _captured(self) -> Iterator[None]:
        """Keeps what is printed within."""
        with contextlib.redirect_stderr(io.StringIO()) as errors, contextlib.redirect_stdout(io.StringIO()) as out:
            yield
        self.outputs.append(errors.getvalue() + out.getvalue())


def quick(block: CodeBlock) -> CodeBlock:
    """Returns a run file as one that is played in this process, and any other block as it is."""
    if block.language == "toml" and {"environment", "policy"} <= set(tomllib.loads(block.text)):
        return block._replace(text=f"workers = 1\n{block.text}")
    return block


def check_imports(code: str) -> None:
    """Checks that what a block imports from the packages of the project is there."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(("llmarena_envs", "agents", "rating")):
            if not node.module.startswith("agents.integrations"):  # these need what they are for
                module = importlib.import_module(node.module)
                assert all(hasattr(module, each.name) for each in node.names), ast.unparse(node)


def check_data(block: CodeBlock) -> None:
    """Checks a block that is neither code nor text."""
    match block.language:
        case "json":
            try:
                json.loads(block.text)
            except ValueError:
                assert [json.loads(line) for line in block.text.splitlines()]
        case "csv":
            assert len({len(row) for row in csv.reader(io.StringIO(block.text))}) == 1
        case "toml":
            parse_run_file(tomlkit.dumps({"seed": 1, **PARTS, **tomllib.loads(block.text)}), "the page")
        case other:
            raise AssertionError(f"expected python, {', '.join((*SHELL, *FILES))} or text behind a fence, got {other!r}")


def is_output(expected: str, printed: str) -> bool:
    """Says whether a text is what was printed, spaces at the ends of lines apart; ``...`` stands for anything."""
    first, *others = (part.strip("\n") for part in tidy(expected).split("..."))
    rest = tidy(printed)
    if not others:
        return first == rest
    *between, last = others
    if not rest.startswith(first) or not rest.removeprefix(first).endswith(last):
        return False
    rest = rest.removeprefix(first).removesuffix(last)
    for part in between:
        _, found, rest = rest.partition(part) if part else ("", "...", rest)
        if not found:
            return False
    return True


def difference(expected: str, printed: str) -> str:
    return f"expected\n{expected}\nprinted\n{printed}"


def tidy(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder that is the present one, and whose modules can be imported and are forgotten at the end."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.mark.parametrize("name", [page for page, blocks in BLOCKS.items() if blocks and page not in untested.COVERED])
def test_every_block_is_run_or_checked(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = Page(name, folder, monkeypatch)
    for block in BLOCKS[name]:
        if block.title and not block.title.startswith("output of "):
            write_file(quick(block), folder)
    for block in BLOCKS[name]:
        try:
            page.read(block)
        except Exception as error:
            error.add_note(f"{name}, line {block.line}")
            raise
