"""Installed distributions: the metadata that make a folder on the import path an installed package."""

from collections.abc import Mapping
from pathlib import Path

GROUP = "llmarena_envs.environments"


def write_distribution(folder: Path, name: str, version: str, entries: Mapping[str, str], group: str = GROUP) -> Path:
    """Writes the metadata of a distribution into ``folder`` and returns where they stand.

    Args:
        folder: on the import path, with the modules of the distribution.
        name: of the distribution.
        version: of it.
        entries: values of its entry points by name, e.g. the module of each of its environments.
        group: of the entry points.
    """
    place = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    place.mkdir(parents=True)
    (place / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8")
    lines = "".join(f"{key} = {value}\n" for key, value in entries.items())
    (place / "entry_points.txt").write_text(f"[{group}]\n{lines}", encoding="utf-8")
    return place
