"""Data files of the packages: each has a licence on the page of releases."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
CODE = {".py", ".html", ".js", ".css", ".typed", ".pyc"}


def test_every_data_file_has_a_licence():
    page = (ROOT / "docs" / "releasing.md").read_text(encoding="utf-8")
    named = [name for row in re.findall(r"^\| (`.*?) \|", page, re.MULTILINE) for name in re.findall("`([^`]*)`", row)]
    files = [
        path.relative_to(ROOT)
        for package in ("llmarena_envs", "agents", "rating", "benchmarks")
        for path in (ROOT / package).rglob("*")
        if path.is_file() and path.suffix not in CODE and path.name != "py.typed"
    ]
    data = [path for path in files if path.suffix in (".json", ".jsonl", ".csv", ".gz", ".tsv") or "data" in path.parts]
    assert len(data) > 20
    for path in data:
        assert any(path.as_posix().startswith(name) or path.match(name) for name in named), path
    for name in named:
        assert list(ROOT.glob(name)), name
