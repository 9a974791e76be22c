"""Packages of an extra that a command needs."""

from importlib import import_module

from llmarena_envs.core.options import OptionError


def check_extra(who_needs: str, extra: str, *packages: str) -> None:
    """Checks that packages are installed, before anything is made that needs them.

    Args:
        who_needs: the beginning of what is said otherwise, as in ``pages in a browser need``.
        extra: that installs them.
        packages: as they are imported.

    Raises:
        OptionError: if one is not; the message says how to install it.
    """
    for package in packages:
        try:
            import_module(package)
        except ModuleNotFoundError as error:
            raise OptionError(
                f"{who_needs} {error.name!r}, which is not installed: pip install 'llmarena-envs[{extra}]'"
            ) from error


def check_postgres() -> None:
    """Checks likewise that the packages are installed by which runs are kept in PostgreSQL."""
    check_extra("a run in PostgreSQL needs", "postgres", "sqlalchemy", "asyncpg")
