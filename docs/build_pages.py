"""Writes one page an environment from the docstring of the module that holds its ``raw_env``.

``python docs/build_pages.py`` writes ``docs/environments/<name>.md`` for every environment of the catalogue.
"""

import importlib
import inspect
from pathlib import Path

from llmarena_envs.catalogue import CATALOGUE

FOLDER = Path(__file__).parent / "environments"


def page(name: str) -> str:
    """Returns the page of an environment, e.g. ``tictactoe_v0``: the docstring with a title in place of its first line."""
    env = importlib.import_module(f"llmarena_envs.{name}").env()
    module = inspect.getmodule(env.unwrapped)
    if module is None or not module.__doc__:
        raise ValueError(f"{name}: expected a module docstring where raw_env is defined, got none")
    title, _, body = inspect.cleandoc(module.__doc__).partition("\n")
    return f"{title.removesuffix('.')}\n{body}\n"


def main() -> None:
    """Writes every page."""
    FOLDER.mkdir(exist_ok=True)
    for entry in CATALOGUE:
        (FOLDER / f"{entry.name}.md").write_text(page(entry.name), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
