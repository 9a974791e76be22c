"""Imports point one way, and importing the environments is light."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LAYERS = ("llmarena_envs", "agents", "rating", "benchmarks")
"""From the bottom up: a package imports those before it only."""
HEAVY = (
    "openai",
    "torch",
    "transformers",
    "scipy",
    "matplotlib",
    "rich",
    "jinja2",
    "sqlalchemy",
    "ray",
    "agents",
)


def _imported(path: Path) -> Iterator[str]:
    """Yields the top-level packages that a file imports, wherever in the file it does."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno} imports relatively"
            yield (node.module or "").split(".")[0]


@pytest.mark.parametrize("package", LAYERS)
def test_imports_point_down(package: str) -> None:
    above = LAYERS[LAYERS.index(package) + 1 :]
    files = sorted((ROOT / package).rglob("*.py"))
    wrong = [
        (str(path.relative_to(ROOT)), name) for path in files for name in _imported(path) if name in {*above, "tests"}
    ]
    assert wrong == []
    assert len(files) > 0 or package == "benchmarks"


def test_importing_the_environments_loads_nothing_heavy() -> None:
    code = "import sys, llmarena_envs; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    loaded = result.stdout.split()
    assert "pettingzoo" in loaded
    assert [name for name in HEAVY if name in loaded] == []
