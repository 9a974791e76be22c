"""Mutation testing: a seeded sample of mutants of the packages, made and run by mutmut.

    pip install -e '.[test,mutation]'
    python -m research.mutation --sample 200 --seed 1

Run it by hand or overnight, in a checkout: mutmut copies it to ``mutants/``, records in one run of the tests which tests
reach which function (about ten minutes), and then runs those tests for each mutant. Mutants that change only a text are not
drawn: the tests need not check every word of an error message. Survivors are written with their diffs, to be read: either the
mutant is equivalent to the original, or a test is missing.
"""

import io
import json
import os
import re
import subprocess
import sys
import tokenize
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.options import option, parse

MUTANTS = Path("mutants")
_ANY = "llmarena_envs.core.declaration.x_role_of__mutmut_1"
_KILLED = {1, 3, -24, 24, 36, 152, 255}  # failed tests, and mutmut's exit codes for a mutant that never ends
_UNREACHED = 33


@dataclass(frozen=True)
class Options:
    """Options of the script."""

    sample: int = option(200, "number of mutants")
    seed: int = option(0, "of the draw")
    package: str = option("", "draw only from modules whose name begins with this")
    out: str = option("mutants/survivors.md", "file for the survivors and their differences")


def main(options: Options) -> dict[str, int]:
    """Draws and runs a sample; returns the number of mutants by result."""
    _mutmut("run", _ANY)
    names = sorted(name for name in _codes() if name.startswith(options.package))
    drawn = _draw(names, options.sample, np.random.default_rng(options.seed))
    _mutmut("run", *drawn)
    codes = _codes()
    results = {name: _result(codes[name]) for name in drawn}
    left = [f"{name}: {results[name]}\n{_difference(name)}" for name in drawn if results[name] != "killed"]
    Path(options.out).write_text("\n\n".join(left) + "\n", encoding="utf-8")
    counts = Counter(results.values())
    told = ", ".join(f"{count} {result}" for result, count in sorted(counts.items()))
    print(f"{len(drawn)} mutants of {len(names)}: {told}; what is left: {options.out}")
    return dict(counts)


def _result(code: int | None) -> str:
    return "killed" if code in _KILLED else "unreached" if code == _UNREACHED else "survived"


def _draw(names: list[str], size: int, rng: np.random.Generator) -> list[str]:
    """Returns mutants in a random order, without those that change only a text."""
    drawn: list[str] = []
    for index in rng.permutation(len(names)):
        if len(drawn) == size:
            break
        if not _changes_only_texts(_difference(names[index])):
            drawn.append(names[index])
    return drawn


def _changes_only_texts(difference: str) -> bool:
    """Whether the removed and the added lines differ in string literals only."""
    removed, added = (
        "\n".join(re.findall(rf"^{re.escape(sign)}(?!{re.escape(sign * 2)})(.*)$", difference, re.MULTILINE))
        for sign in "-+"
    )
    return _without_texts(removed) == _without_texts(added)


def _without_texts(code: str) -> list[str]:
    tokens: list[str] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(code.strip()).readline):
            if token.type not in (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT):
                tokens.append("text" if token.type == tokenize.STRING else token.string)
    except (tokenize.TokenError, IndentationError):
        tokens.append("end")
    return tokens


def _codes() -> dict[str, int | None]:
    """Returns mutmut's exit code for every mutant, ``None`` for a mutant without a run."""
    results: dict[str, int | None] = {}
    for path in sorted(MUTANTS.rglob("*.meta")):
        results |= json.loads(path.read_text(encoding="utf-8"))["exit_code_by_key"]
    return results


def _difference(name: str) -> str:
    return _mutmut("show", name)


def _mutmut(*arguments: str) -> str:
    command = [sys.executable, "-m", "mutmut", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(MUTANTS.absolute())}  # for subprocesses of the tests
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout


if __name__ == "__main__":
    main(parse(Options, __doc__))
