"""Sources of a run file: a path, or the name of one in an installed package.

A package registers a folder of run files in an entry-point group, as this one does in its ``pyproject.toml``::

    [project.entry-points."llmarena.run_files"]
    auto-arena = "benchmarks.auto_arena"

The value is a package, the name a prefix for its run files: the file ``demo.toml`` in it is called ``auto-arena-demo``.
"""

import importlib.util
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import tomlkit
from tomlkit.exceptions import TOMLKitError

from llmarena_envs.core.entry_points import Unreadable, find_entries
from llmarena_envs.core.options import nearest
from rating.errors import RunError
from rating.prices import Price, read_prices

GROUP = "llmarena.run_files"


class NamedRunFile(NamedTuple):
    """A run file of an installed package.

    Attributes:
        path: its path.
        distribution: name and version of the distribution.
    """

    path: Path
    distribution: str


class RunFileText(NamedTuple):
    """The text and name of a run file.

    Attributes:
        text: of the run file; paths in it (prices, initial scores) are relative to the current directory.
        where: its name in messages.
    """

    text: str
    where: str


def read_run_file(said: Path) -> RunFileText:
    """Reads a run file from a path, else the installed run file of that name.

    Installing a package therefore never changes the meaning of an existing path. Paths in a run file are relative to its folder.

    Args:
        said: a path, or a name of ``named_run_files``.

    Raises:
        RunError: if neither exists, the file cannot be read, or two packages have a run file of this name.
    """
    path, where = said, str(said)
    if not said.is_file():
        named = named_run_files()
        found = named.get(str(said), ())
        if len(found) > 1:
            owners = " and ".join(sorted(each.distribution for each in found))
            raise RunError(
                f"{said}: {owners} both have a run file of this name; uninstall one of them, or say its path"
            )
        if found:
            path, where = found[0].path, f"{said} of {found[0].distribution}"
        elif not said.exists():
            known = f"; installed ones are {', '.join(named)}{nearest(str(said), list(named))}" if named else ""
            raise RunError(f"{said}: expected a run file or the name of an installed one, but there is neither{known}")
    try:
        return RunFileText(_with_paths_from(path.parent, path.read_text(encoding="utf-8")), where)
    except (OSError, UnicodeDecodeError) as error:
        raise RunError(f"{where}: expected a run file, but: {error}") from error


def named_run_files() -> Mapping[str, Sequence[NamedRunFile]]:
    """Returns the run files of installed packages by name, sorted; leaves out unreadable packages."""
    found: dict[str, list[NamedRunFile]] = defaultdict(list)
    for entry in find_entries(GROUP):
        if not isinstance(entry, Unreadable):
            for folder in _folders(entry.value):
                for path in folder.glob("*.toml"):
                    found[f"{entry.name}-{path.stem}"].append(NamedRunFile(path, entry.distribution))
    return {name: found[name] for name in sorted(found)}


def _folders(package: str) -> list[Path]:
    """Returns the folders of a package without importing it; empty if there is no such package."""
    try:
        spec = importlib.util.find_spec(package)
    except Exception:  # importing its parent package may raise anything
        return []
    return [Path(folder) for folder in (spec.submodule_search_locations or ())] if spec else []


def _with_paths_from(folder: Path, text: str) -> str:
    """Returns the text of a run file, valid or not, with paths relative to the current directory."""
    if folder == Path():
        return text
    try:
        document = tomlkit.parse(text)
    except (TOMLKitError, RecursionError):
        return text  # its parser reports the error
    changed = _anchor(document, "prices", folder)
    environments = document.get("environment")
    for environment in environments if isinstance(environments, list) else ():
        changed |= isinstance(environment, dict) and _anchor(environment.get("tournament"), "prior", folder)
    return tomlkit.dumps(document) if changed else text


def _anchor(table: Any, key: str, folder: Path) -> bool:
    if not isinstance(table, dict) or not isinstance(table.get(key), str):
        return False
    table[key] = str(folder / table[key])
    return True


def keep_prices(run_file: str) -> str:
    """Returns the text of a run file with the prices themselves instead of the path of their file.

    Later changes of the price file do not affect the cost of the run.

    Raises:
        OptionError: if the file cannot be read.
    """
    path = tomlkit.parse(run_file).get("prices")
    return with_prices(run_file, read_prices(Path(path))) if isinstance(path, str) else run_file


def with_price_file(run_file: str, path: Path) -> str:
    """Returns the text of a run file with a price file in place of its prices."""
    document = tomlkit.parse(run_file)
    document.pop("price", None)
    document["prices"] = str(path)
    return tomlkit.dumps(document)


def with_prices(run_file: str, prices: Sequence[Price]) -> str:
    """Returns the text of a run file with these prices."""
    document = tomlkit.parse(run_file)
    document.pop("prices", None)
    tables = tomlkit.aot()
    for price in prices:
        table = tomlkit.table()
        table.update(price.model_dump(by_alias=True, exclude_defaults=True))
        tables.append(table)
    document["price"] = tables
    return tomlkit.dumps(document)
