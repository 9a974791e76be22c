"""The archives that are published hold all that the packages need and nothing else.

``ARCHIVES`` is the folder with the wheel and the source archive; the checks build them once.
"""

import email.message
import email.policy
import os
import tarfile
import tomllib
import zipfile
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("llmarena_envs", "agents", "rating", "benchmarks")
PLUGINS = "agents/integrations/plugins/"
"""Files in this folder are installed beside the packages."""
KINDS = {
    ".py",
    *(".toml", ".csv", ".json", ".jsonl", ".txt"),  # texts, tasks, run files, published numbers
    *(".html", ".js", ".css", ".svg"),  # pages
    ".gz",  # idioms and their pronunciations
    ".typed",
}
MAX_BYTES = 3_500_000
"""Of an archive: so much that something is in it that should not be."""


@pytest.fixture(scope="module")
def folder() -> Path:
    return Path(os.environ["ARCHIVES"])


@pytest.fixture(scope="module")
def wheel(folder: Path) -> zipfile.ZipFile:
    (path,) = folder.glob("*-py3-none-any.whl")
    assert path.stat().st_size < MAX_BYTES
    return zipfile.ZipFile(path)


@pytest.fixture(scope="module")
def source_names(folder: Path) -> set[str]:
    (path,) = folder.glob("*.tar.gz")
    assert path.stat().st_size < MAX_BYTES
    with tarfile.open(path) as archive:
        return {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}


@pytest.fixture(scope="module")
def metadata(wheel: zipfile.ZipFile) -> email.message.EmailMessage:
    (name,) = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    return email.message_from_bytes(wheel.read(name), policy=email.policy.default)


def of_the_tree() -> set[str]:
    """Returns the files of the packages by their paths in the tree."""
    return {
        path.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_wheel_contains_exactly_the_packages(wheel: zipfile.ZipFile) -> None:
    found = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert found == {name.removeprefix(PLUGINS) for name in of_the_tree()}
    assert {PurePosixPath(name).suffix for name in found} <= KINDS


def test_source_archive_has_exactly_the_wheels_sources(source_names: set[str]) -> None:
    besides = {name for name in source_names if not name.startswith("llmarena_envs.egg-info/")} - of_the_tree()
    assert besides == {"LICENSE", "PKG-INFO", "README.md", "pyproject.toml", "setup.cfg"}
    assert of_the_tree() <= source_names


def test_metadata_match_the_project(metadata, wheel: zipfile.ZipFile) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (metadata["Name"], metadata["Version"]) == (project["name"], project["version"])
    assert metadata["License-Expression"] == "Apache-2.0 AND MIT AND CC-BY-SA-4.0"
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert metadata.get_content().strip() == (ROOT / "README.md").read_text(encoding="utf-8").strip()
    assert set(metadata.get_all("Provides-Extra")) == set(project["optional-dependencies"])
    names = wheel.namelist()
    assert all(f"{package}/py.typed" in names for package in PACKAGES)
    for licence in project["license-files"]:
        assert any(name.endswith(f".dist-info/licenses/{licence}") for name in names)
    (entries,) = [name for name in names if name.endswith(".dist-info/entry_points.txt")]
    assert "llmarena = rating.cli:main" in wheel.read(entries).decode()
