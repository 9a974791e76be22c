"""Environments named in run files and records, and the modules and files that these may load.

A run may come from an untrusted source. Environments of the suite and of installed packages are always allowed; other modules
are imported and files are opened only for a run that the user plays (``admit``) or trusts (``trust``).
"""

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pettingzoo import AECEnv

from agents.registry import names_module
from llmarena_envs import catalogue
from llmarena_envs.catalogue import is_known, module_name
from llmarena_envs.core.options import OptionError
from llmarena_envs.core.text_env import TextEnv

_modules: set[str] = set()
_files: set[str] = set()
_trusted = False


def trust(everything: bool) -> None:
    """Sets whether runs and records may import every environment and open every file they name."""
    global _trusted
    _trusted = everything


def admit(environments: Iterable[str], policies: Iterable[str] = (), files: Iterable[str] = ()) -> None:
    """Allows environments and files in this process that the user named directly or in the run being played.

    If one of them is a module of the user, the working directory is added to the module search path.

    Args:
        environments: names of environments.
        policies: names of policies, with or without options.
        files: paths of files.
    """
    names = [*environments]
    _modules.update(map(module_name, names))
    _files.update(files)
    if not all(map(is_known, names)) or any(map(names_module, policies)):
        _look_here()


def _look_here() -> None:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)  # worker processes inherit the path


def check_file(path: str, what: str) -> None:
    """Checks that a run or a record may open a file.

    Raises:
        OptionError: if the user neither plays a run that names it nor trusts the run.
    """
    if not _trusted and path not in _files:
        raise OptionError(
            f"{what}: reading a run opens no file that it names, got {path!r:.200}; if you trust the run, add --trust"
        )


def load_environment(name: str) -> type[TextEnv]:
    """Returns the class of an environment, as ``catalogue.load_environment`` does.

    Raises:
        OptionError: if it does not exist or may not be imported.
    """
    if not is_known(name) and module_name(name) not in _modules:
        if not _trusted:
            raise OptionError(
                f"environment {name!r:.200}: reading a run imports only environments of the suite and of installed packages;"
                " if you trust the run, add --trust"
            )
        _look_here()
    return catalogue.load_environment(name)


def option_names(name: str) -> list[str]:
    """Returns the options of an environment; raises the errors of ``load_environment``."""
    load_environment(name)
    return catalogue.option_names(name)


def make_environment(name: str, options: Mapping[str, Any]) -> AECEnv:
    """Makes an environment, as ``catalogue.make_environment`` does.

    Raises:
        OptionError: if it cannot be made or may not be imported, or if its options name files that may not be opened.
    """
    for option, path in load_environment(name).declaration.named_files(options).items():
        check_file(path, f"environment {name!r}: {option}")
    return catalogue.make_environment(name, options)
