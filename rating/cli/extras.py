"""Checks of optional packages."""

from importlib import import_module

from llmarena_envs.core.options import OptionError


def check_extra(who_needs: str, extra: str, *packages: str) -> None:
    """Checks that optional packages are installed.

    Args:
        who_needs: beginning of the error message, e.g. ``pages in a browser need``.
        extra: extra that installs the packages.
        packages: import names of the packages.

    Raises:
        OptionError: if a package is missing; the message says how to install it.
    """
    for package in packages:
        try:
            import_module(package)
        except ModuleNotFoundError as error:
            raise OptionError(
                f"{who_needs} {error.name!r}, which is not installed: pip install 'llmarena-envs[{extra}]'"
            ) from error


def check_postgres() -> None:
    """Checks that the packages for PostgreSQL are installed."""
    check_extra("a run in PostgreSQL needs", "postgres", "psycopg")
