"""Imports point one way, between the packages and between the rooms of the harness, and importing the environments is light."""

import ast
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from llmarena_envs.core.errors import ArenaError

ROOT = Path(__file__).parents[2]
LAYERS = ("llmarena_envs", "agents", "rating", "benchmarks", "research")
"""From the bottom up: a package imports those before it only."""
ROOMS = (
    {"rating.errors", "rating.replacing", "rating.prices"},
    {"rating.store"},
    {"rating.schedules", "rating.stats", "rating.judgements"},
    {"rating.judge_biases", "rating.judge_errors"},
    {"rating.judges"},
    {"rating.schemes"},
    {"rating.config"},
    {"rating.play"},
    {"rating.blame", "rating.exploit", "rating.readers", "rating.training"},
    {"rating.viewer"},
    {"rating.api", "rating.cli"},
)
"""The rooms of the harness from the bottom up: a room imports itself and those on lower floors only."""
NEED_EXTRAS = ("rating.play.executors.ray_driver",)
HEAVY = (
    "openai",
    "torch",
    "transformers",
    "scipy",
    "networkx",
    "matplotlib",
    "rich",
    "jinja2",
    "sqlalchemy",
    "ray",
    "sandlock",
    "agents",
    "sacrebleu",
    "datasets",
    "pyarrow",
    "resvg_py",
    "PIL",
)


def _imported(path: Path, packages: Iterable[str]) -> Iterator[str]:
    """Yields the modules in some packages that a file imports, wherever in the file it does."""
    text = path.read_text(encoding="utf-8")
    if not re.search(rf"^\s*(from|import)\s+(\.|{'|'.join(packages)})", text, re.MULTILINE):
        return  # parsing all files would take seconds
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno} imports relatively"
            module = node.module or ""
            yield from (f"{module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("package", LAYERS)
def test_imports_point_down(package: str) -> None:
    above = {*LAYERS[LAYERS.index(package) + 1 :], "tests"}
    files = sorted((ROOT / package).rglob("*.py"))
    wrong = [
        (str(path.relative_to(ROOT)), name)
        for path in files
        for name in _imported(path, above)
        if name.split(".")[0] in above
    ]
    assert wrong == []
    assert len(files) > 0 or package == "benchmarks"


def test_rating_rooms_import_down() -> None:
    wrong = []
    for floor, rooms in enumerate(ROOMS):
        below = set().union(*ROOMS[:floor])
        for room in rooms:
            path = ROOT / room.replace(".", "/")
            files = sorted(path.rglob("*.py")) or [path.with_suffix(".py")]
            others = set().union(*ROOMS) - {room, *below}
            wrong += [
                (str(file.relative_to(ROOT)), name)
                for file in files
                for name in _imported(file, {*others, "rating "})
                if any(name == other or name.startswith(f"{other}.") for other in others)
            ]
    assert wrong == []


def test_rating_every_room_has_a_floor() -> None:
    rooms = {f"rating.{path.stem}" for path in (ROOT / "rating").iterdir() if path.suffix == ".py" or path.is_dir()}
    assert rooms - {"rating.__init__", "rating.__pycache__", "rating.py"} == set().union(*ROOMS)


def test_environments_import_loads_nothing_heavy() -> None:
    code = "import sys, llmarena_envs; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    loaded = result.stdout.split()
    assert "pettingzoo" in loaded
    assert [name for name in HEAVY if name in loaded] == []


@pytest.mark.needs("torch")
def test_exceptions_form_one_tree() -> None:
    outside = []
    for name in LAYERS[:3]:
        for found in pkgutil.walk_packages([str(ROOT / name)], prefix=f"{name}."):
            if (
                found.name.startswith("agents.integrations.") or found.name in NEED_EXTRAS
            ):  # they need libraries of others
                continue
            for value in vars(importlib.import_module(found.name)).values():
                if inspect.isclass(value) and issubclass(value, Exception) and value.__module__.startswith(LAYERS[:3]):
                    outside += [] if issubclass(value, ArenaError) or value.__name__.startswith("_") else [value]
    assert outside == []


@pytest.mark.slow
def test_commands_without_figures_load_no_matplotlib() -> None:
    code = "import sys, rating.cli.results, rating.cli.export, rating.cli.run; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
