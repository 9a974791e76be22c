"""Modules for training libraries say what to install where their library is missing, or another version is there."""

import importlib
import pkgutil
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

import agents.integrations
from agents.integrations import PINS

MODULES = [module.name for module in pkgutil.iter_modules(agents.integrations.__path__)]


def _import(library: str, version: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Imports a module where its library has a version, or is missing."""
    installed = metadata.version

    def told(name: str) -> str:
        if name != library:
            return installed(name)
        if version is None:
            raise metadata.PackageNotFoundError(name)
        return version

    monkeypatch.setattr(metadata, "version", told)
    monkeypatch.delitem(sys.modules, f"agents.integrations.{library}", raising=False)
    importlib.import_module(f"agents.integrations.{library}")


@pytest.mark.parametrize("library", MODULES)
def test_a_missing_library_is_named_with_its_extra(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ImportError, match=rf"{library} is not installed: pip install 'llmarena-envs\[{library}\]'"):
        _import(library, None, monkeypatch)


@pytest.mark.parametrize("library", MODULES)
@pytest.mark.parametrize("version", ["0.1.14", "9.0", "1!2.3rc1"])
def test_wrong_library_version_is_reported_with_expected_one(
    library: str, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ImportError, match=rf"expected {library} {PINS[library]}, got {version}.*\[{library}\]"):
        _import(library, version, monkeypatch)


def test_the_extras_install_the_versions_that_the_modules_ask_for() -> None:
    pyproject = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    extras = pyproject["project"]["optional-dependencies"]
    assert sorted(PINS) == sorted(MODULES)
    assert {name: extras[name][0] for name in PINS} == {name: f"{name}=={version}.*" for name, version in PINS.items()}
