"""Lines of a shell on a page: which programs there are, what their parsers take, and the running of ``llmarena``."""

import argparse
import re
import runpy
import shlex
import sys
import tomllib
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rating.cli import main
from rating.cli.app import build_parser
from tests.docs.pages import ROOT

_ASSIGNMENT = re.compile(r"[A-Z_]+=\S*")
_VIRTUAL_ENVIRONMENT = re.compile(r"(?:\.venv|\$venv)/bin/(?=\w)")


class NotTaken(AssertionError):
    """A line that no program takes."""


def commands(text: str) -> Iterator[str]:
    """Yields the commands of a block: continued lines as one, those joined by ``&&`` one by one, without comments."""
    for line in text.replace("\\\n", " ").splitlines():
        for part in line.split(" && "):
            words = shlex.split(part.removeprefix("$ "), comments=True)
            while words and _ASSIGNMENT.fullmatch(words[0]):
                words = words[1:]
            if words:
                yield _VIRTUAL_ENVIRONMENT.sub("", shlex.join(words))


def check(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Checks that a command is one that exists and takes these arguments, without running it.

    Raises:
        NotTaken: if the command is unsupported; a row of ``untested.NOT_RUN`` may give a reason to have it on a page.
    """
    program, *words = shlex.split(command)
    if program not in _CHECKS:
        raise NotTaken(f"{command}: expected one of {', '.join(_CHECKS)}, got {program!r}")
    try:
        _CHECKS[program](words, monkeypatch)
    except SystemExit as ended:
        if ended.code:
            raise NotTaken(f"{command}: its parser ends with {ended.code}, see above") from None


def run(command: str) -> None:
    """Runs a command of ``llmarena`` here, to its end, in one process."""
    _, *words = shlex.split(command)
    named = {"--env", "--games"}.isdisjoint(words)  # a run file sets its own workers
    alone = [] if words[0] != "run" or named else ["--workers", "1"]
    try:
        code = main([*words, *alone])
    except SystemExit as ended:  # of its parser, also after --version
        code = ended.code or 0
    assert code == 0, f"{command}: expected exit code 0, got {code}"


def _check_llmarena(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    build_parser().parse_args(words)


class _Parsed(BaseException):
    """Raised after the arguments of a module were read, instead of running it. No ``Exception``: commands catch these."""


def _check_python(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    if words[0] != "-m":
        assert (ROOT / words[0]).is_file() or Path(words[0]).is_file(), f"{words[0]}: no file of the repository or page"
        return
    start = len(words) - words[::-1].index("-m")  # the last one: a profiler module can run another module
    module, *arguments = words[start:]
    read = argparse.ArgumentParser.parse_args

    def read_only(*given: object, **named: object) -> None:
        read(*given, **named)  # type: ignore[call-overload]
        raise _Parsed

    with monkeypatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # that it was imported before
        patch.setattr(argparse.ArgumentParser, "parse_args", read_only)
        patch.setattr(sys, "argv", [module, *arguments])
        try:
            runpy.run_module(module, run_name="__main__")
        except _Parsed:
            return
    assert not arguments, f"{module}: expected a parser of {arguments}"


def _check_pip(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert words[0] in ("install", "wheel"), words
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    rest = iter(words[1:])
    for word in rest:
        if word in ("-e", "-q", "--no-index"):
            continue
        if word in ("--wheel-dir", "--find-links"):
            next(rest)
            continue
        if word == "-r":
            assert (ROOT / next(rest)).is_file(), words
            continue
        named = re.fullmatch(r"(\.|llmarena-envs)(?:\[([\w,-]+)\])?", word)
        assert named or Path(word).is_dir(), f"{word}: expected llmarena-envs or a folder of the page"
        assert set(((named and named[2]) or "").split(",")) <= {"", *extras}, f"{word}: extras are {', '.join(extras)}"


def _check_pytest(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for word in words:
        assert "/" not in word or (ROOT / word).exists(), f"{word}: expected a file or folder of the repository"


def _take(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Takes anything: a command of the shell itself, which only prepares others."""


_CHECKS: dict[str, Callable[[list[str], pytest.MonkeyPatch], None]] = {
    "llmarena": _check_llmarena,
    "python": _check_python,
    "python3": _check_python,
    "pip": _check_pip,
    "pytest": _check_pytest,
    **dict.fromkeys(("cd", "cp", "mkdir", "mv", "rm", "export", "git", "."), _take),
}
