"""Distributions as they stand in an installation: the metadata that make a folder on the import path an installed package."""

from collections.abc import Mapping
from pathlib import Path

GROUP = "llmarena_envs.environments"


def write_distribution(folder: Path, name: str, version: str, environments: Mapping[str, str]) -> Path:
    """Writes the metadata of a distribution into ``folder`` and returns where they stand.

    Args:
        folder: on the import path, with the modules of the distribution.
        name: of the distribution.
        version: of it.
        environments: the module of each of its environments, by name.
    """
    place = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    place.mkdir(parents=True)
    (place / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8")
    entries = "".join(f"{environment} = {module}\n" for environment, module in environments.items())
    (place / "entry_points.txt").write_text(f"[{GROUP}]\n{entries}", encoding="utf-8")
    return place
