"""Every command of ``llmarena`` says what its arguments are."""

import argparse
import runpy
import sys
from collections.abc import Iterator

import pytest

from rating.cli.app import build_parser


def parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for subparser in dict.fromkeys(action.choices.values()):
                yield from parsers(subparser)


def test_help_of_every_command_is_formatted():
    found = list(parsers(build_parser()))
    assert len(found) > 12
    for parser in found:
        assert parser.format_help().startswith(f"usage: {parser.prog} ")


def test_help_of_the_sandbox_is_printed(capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["sandbox", "--help"])
    monkeypatch.delitem(sys.modules, "llmarena_envs.sandbox.__main__", raising=False)
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("llmarena_envs.sandbox", run_name="__main__")
    assert not ended.value.code and "usage: " in capsys.readouterr().out
