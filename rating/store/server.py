"""The store of a run on a PostgreSQL server."""

from rating.store.postgres import runs
from rating.store.postgres.address import Address
from rating.store.store import Store


def create_on_server(address: Address) -> Store:
    """Creates a new run.

    Raises:
        RunError: if the name is taken or the server refuses.
    """
    return Store(runs.create(address), is_new=True)


def open_on_server(address: Address, *, read_only: bool = False) -> Store:
    """Opens a run.

    Args:
        address: address of the run.
        read_only: whether to refuse writes.

    Raises:
        RunError: if it does not exist, is damaged, was written by another version, or the server refuses.
    """
    return Store(runs.open_existing(address, read_only=read_only))
