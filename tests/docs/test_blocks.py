"""Runs every block of every page, or checks it as thoroughly as possible; a block is untested only if listed as such.

A block with a title is a file, and written before anything is run. Python is executed, in one namespace a page; a file of
Python at the top of the folder is a script, and executed for itself. Of a shell, every line of ``llmarena`` is run, in one
directory per page: later lines find the files of earlier ones. A block of text directly behind one of these is its
output, and any other one an extract of the page's output up to there; ``...`` matches anything. Blocks that are not
run are listed in ``untested``.
"""

import ast
import contextlib
import csv
import importlib
import importlib.util
import io
import itertools
import json
import re
import shlex
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import tomlkit

from agents.providers import Provider
from llmarena_envs.catalogue import CATALOGUE
from llmarena_envs.core.options import OptionError
from rating.cli.app import build_parser
from rating.config.run_file import parse_run_file
from rating.errors import RunError
from tests.docs import shell, untested
from tests.docs.pages import ROOT, CodeBlock, fenced_blocks, pages, write_file

BLOCKS = {page: fenced_blocks((ROOT / page).read_text(encoding="utf-8")) for page in pages()}
OUR_PACKAGES = ("llmarena_envs", "agents", "rating")
SHELL = ("bash", "sh", "console")
FILES = ("csv", "json", "toml")
OF_SYSTEMS = ("ini", "sql")
"""Languages that stand only on a page with a test of its own."""
POLICIES = [{"name": "one", "spec": "random"}, {"name": "another", "spec": "random"}]
"""Policies for parts of run files that name none."""


MODULES = {
    "text": ["sacrebleu"],
    "tokens": ["tiktoken"],
    "data": ["datasets"],
    "web": ["starlette", "uvicorn"],
    "pictures": ["resvg_py"],
    "telemetry": ["opentelemetry"],
    "rl": ["stable_baselines3", "sb3_contrib"],
    "parquet": ["pyarrow"],
    "ray": ["ray"],
    "postgres": ["psycopg"],
    "classic": ["rlcard"],
    "textarena": ["textarena"],
    "openspiel": ["pyspiel"],
    "benchmarks": ["pyspiel", "rlcard", "choix", "evalica", "trueskill"],
}
"""Modules of the extras, without those that cannot be taken away from a process that has imported them (PyTorch, Matplotlib)."""


def missing_modules(page: str) -> set[str]:
    """Returns the modules of the extras that a page does not name: its readers need not have them."""
    named = {
        extra
        for group in re.findall(r"(?:llmarena-envs|\.)\[([\w, -]+)\]", page)
        for extra in re.split(r"[, ]+", group)
    }
    named |= {"ray", "postgres"} if "scale" in named else set()
    named |= {extra for extra in MODULES if f"extra `{extra}`" in page or (f"`{extra}`" in page and "extras" in page)}
    there = {module for extra in named for module in MODULES.get(extra, [])}
    return {module for modules in MODULES.values() for module in modules} - there


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
                assert not self.complete or is_output(expected, self.outputs[-1]), difference(
                    expected, self.outputs[-1]
                )
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
        elif self._is_told(expected):
            return
        elif block.follows:
            assert not self.complete or is_output(expected, self.outputs[-1]), difference(expected, self.outputs[-1])
        else:
            printed = "\n".join(self.outputs)
            assert is_output(f"...\n{expected}\n...", printed), difference(expected, printed)

    def _is_told(self, text: str) -> bool:
        """Returns whether a block of text is no output of a command."""
        return any(self.name == page and text.startswith(beginning) for page, beginning in untested.TEXTS)

    def reason_not_to_run(self, text: str) -> str | None:
        """Returns the reason not to run a command or a block of Python, or ``None`` to run it."""
        reasons = untested.NOT_RUN.items()
        return next((reason for pattern, reason in reasons if re.search(pattern, f"{self.name}: {text}")), None)

    @contextlib.contextmanager
    def _captured(self) -> Iterator[None]:
        """Captures output."""
        with contextlib.redirect_stderr(io.StringIO()) as errors, contextlib.redirect_stdout(io.StringIO()) as out:
            yield
        self.outputs.append(errors.getvalue() + out.getvalue())


def quick(block: CodeBlock) -> CodeBlock:
    """Returns a run file as one that is played in this process, and any other block as it is."""
    if block.language == "toml" and {"environment", "policy"} <= set(tomllib.loads(block.text)):
        return block._replace(text=f"workers = 1\n{block.text}")
    return block


def check_imports(code: str) -> None:
    """Checks that every name that a block imports from the packages of the project exists."""
    for node in ast.walk(ast.parse(code)):
        if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith(OUR_PACKAGES):
            continue
        if not node.module.startswith("agents.integrations"):  # these need the library that they integrate
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
            tables = tomllib.loads(block.text)
            if all(isinstance(each, dict) and "base_url" in each for each in tables.values()):  # a file of providers
                for each in tables.values():
                    Provider.model_validate(each)
            else:
                check_run_file(tables)
        case other:
            raise AssertionError(
                f"expected python, {', '.join((*SHELL, *FILES))} or text behind a fence, got {other!r}"
            )


def check_run_file(part: dict[str, Any]) -> None:
    """Checks a run file, or a part of one in some environment; local models are left out."""
    if "policy" in part:
        loaded = [each for each in part["policy"] if each["spec"].startswith("hf:")]
        part["policy"] = [each for each in part["policy"] if each not in loaded] or POLICIES
    refusals = []
    for entry in CATALOGUE:
        whole = {"seed": 1, "environment": [{"name": entry.name}], "policy": POLICIES, **part}
        try:
            parse_run_file(tomlkit.dumps(whole), "the page").check()
        except (OptionError, RunError) as error:
            refusals.append(str(error))
        else:
            return
        if "environment" in part:
            break
    raise AssertionError(f"expected a part of a run file, got refusals:\n{chr(10).join(refusals)}")


def is_output(expected: str, printed: str) -> bool:
    """Returns whether a text equals the output, up to spaces at the ends of lines; ``...`` matches anything."""
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


RUN = [
    pytest.param(
        page,
        marks=[
            *([pytest.mark.slow] if page in untested.SLOW else []),
            *([pytest.mark.needs(*untested.NEEDS[page])] if page in untested.NEEDS else []),
        ],
    )
    for page, blocks in BLOCKS.items()
    if blocks and page not in untested.COVERED
]


@pytest.mark.parametrize("name", RUN)
def test_every_block_is_run_or_checked(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in missing_modules((ROOT / name).read_text(encoding="utf-8")):
        monkeypatch.setitem(sys.modules, module, None)
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


@cache
def help_of(command: str) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as printed, pytest.raises(SystemExit):
        build_parser().parse_args([command, "--help"])
    return printed.getvalue()


@pytest.mark.parametrize("name", BLOCKS)
def test_commands_in_the_text_are_there(name: str) -> None:
    text = " ".join((ROOT / name).read_text(encoding="utf-8").split())  # commands may span lines
    for command, rest in re.findall(r"`llmarena ([a-z-]+)([^`]*)`", text):
        assert [flag for flag in re.findall(r"--[a-z-]+", rest) if flag not in help_of(command)] == [], command
    modules = set(re.findall(r"`python -m ((?:benchmarks|research|llmarena_envs|tests|rating|agents)[\w.]*)", text))
    assert [module for module in sorted(modules) if importlib.util.find_spec(module) is None] == []


def _runnable(block: CodeBlock) -> list[str]:
    """Returns the runnable part of a block: its commands, or all of it."""
    match block.language:
        case "python":
            return [block.text]
        case "bash" | "sh":
            return list(shell.commands(block.text))
        case "console":
            return list(shell.commands(block.text.partition("\n")[0]))
    return []


def test_skipped_blocks_exist_on_the_pages() -> None:
    shown = [f"{page}: {text}" for page, blocks in BLOCKS.items() for block in blocks for text in _runnable(block)]
    commands = [text.partition(": ")[2] for text in shown]
    texts = [(page, block.text) for page, blocks in BLOCKS.items() for block in blocks if block.language == "text"]
    stale = [
        *(row for row in untested.NOT_RUN if not any(re.search(row, text) for text in shown)),
        *(row for row in untested.UNKNOWN if not any(re.search(row, text) for text in commands)),
        *(row for row in untested.TEXTS if not any(row[0] == page and text.startswith(row[1]) for page, text in texts)),
        *(page for page in (*untested.SLOW, *untested.COVERED) if not BLOCKS.get(page)),
    ]
    assert stale == []


@pytest.mark.parametrize(("page", "test"), untested.COVERED.items())
def test_what_covers_a_page_reads_it(page: str, test: str) -> None:
    assert Path(page).name in (ROOT / test).read_text(encoding="utf-8")
    assert {block.language for block in BLOCKS[page]} <= {"python", "text", *SHELL, *FILES, *OF_SYSTEMS}


@pytest.mark.parametrize(
    "text",
    [
        "```rust\nfn main() {}\n```",
        "```\nllmarena list\n```",
        "```python\n1 / 0\n```",
        "```python\nprint(1)\n```\n\n```text\n2\n```",
        "```bash\nllmarena list --nonsense\n```",
        "```bash\nllmarena rate runs/none\n```",
        "```bash\npython -m benchmarks.llmarena none\n```",
        "```bash\npip install 'llmarena-envs[nonsense]'\n```",
        "```bash\nfrobnicate\n```",
        "```console\n$ llmarena --version\nllmarena 0\n```",
        '```toml\n[[policy]]\nspec = "nobody"\n```',
        "```toml\nnonsense = 1\n```",
        '```json\n{"a": }\n```',
        "```csv\na,b\n1\n```",
        "```text\nnobody prints this\n```",
        "As in\n\n    frobnicate\n",
        "> ```bash\n> frobnicate\n> ```",
        "<pre>frobnicate</pre>",
        "```bash\nllmarena --version\n```\n\n```text\nllmarena 0 ...\n```",
    ],
)
def test_a_block_that_is_wrong_is_found(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = Page("docs/made_up.md", folder, monkeypatch)
    with pytest.raises((AssertionError, ValueError, ZeroDivisionError)):
        for block in fenced_blocks(text):
            page.read(block)


@pytest.mark.parametrize(
    ("expected", "same"),
    [
        ("one\ntwo", True),
        ("one", False),
        ("one\n...", True),
        ("...\ntwo", True),
        ("...one\n...\ntwo...", True),
        ("two\n...\none", False),
        ("one\ntwo\n...\ntwo", False),
    ],
)
def test_ellipsis_matches_anything_and_other_text_must_match(expected: str, same: bool) -> None:
    assert is_output(expected, "one\ntwo\n") == same
