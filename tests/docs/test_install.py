"""The page on installing names existing extras and programs."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_page_names_every_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    first_cells = re.findall(r"^\|([^|]*)\|", page, re.MULTILINE)
    named = {name for cell in first_cells for name in re.findall(r"`([^`]+)`", cell)}
    assert set(project["optional-dependencies"]) <= named
