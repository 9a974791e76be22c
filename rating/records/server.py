"""The store of a run on a server of PostgreSQL."""

from rating.records.postgres import runs
from rating.records.postgres.address import Address
from rating.records.postgres.calls import CallTable
from rating.records.store import Store


def create_on_server(address: Address) -> Store:
    """Makes a new run.

    Raises:
        RunError: if there is one of its name already, or the server refuses.
    """
    db = runs.create(address)
    return Store(db, CallTable(db), is_new=True)


def open_on_server(address: Address, *, read_only: bool = False) -> Store:
    """Opens a run.

    Args:
        address: of the run.
        read_only: whether it is only looked at: nothing can be written then.

    Raises:
        RunError: if there is none, it is damaged, was written by another version, or the server refuses.
    """
    db = runs.open_existing(address, read_only=read_only)
    return Store(db, CallTable(db))
