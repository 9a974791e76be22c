"""``llmarena workers``: who plays a run, how they are, and how far it is."""

import argparse
import json
import sys
import time
from contextlib import closing, suppress

from rich.console import Console, Group
from rich.live import Live

from llmarena_envs.core.options import OptionError
from rating.commands.extras import check_postgres
from rating.commands.read import print_sheets
from rating.commands.work import find_address
from rating.records.postgres.claims import Claims
from rating.records.store import Store
from rating.report.tables import Sheet, render
from rating.report.workers import progress_sheet, worker_sheet, worker_table

_LOOK = 2.0
"""Seconds between two looks of who watches."""


def workers(args: argparse.Namespace) -> None:
    """Shows who plays a run and how far it is, or drains workers."""
    address = find_address(args)
    check_postgres("llmarena workers needs")
    from rating.records.server import open_on_server

    with closing(open_on_server(address, read_only=True)) as store:
        claims = store.claims()
        assert claims is not None
        with closing(claims):
            if args.drain is not None:
                _drain(claims, args.drain)
            elif args.watch:
                _watch(claims, store, args.all)
            elif args.json:
                found = {"workers": worker_table(claims.members()), "matches": _statuses(store)}
                print(json.dumps(found, indent=2, ensure_ascii=False))
            else:
                print_sheets(_sheets(claims, store, args.all))


def _drain(claims: Claims, who: str) -> None:
    drained = claims.drain(who)
    if not drained:
        raise OptionError(f"drain: expected the id or the name of a worker that works, got {who!r}")
    print(f"draining: {', '.join(drained)}", file=sys.stderr)


def _watch(claims: Claims, store: Store, everybody: bool) -> None:
    console = Console()
    with suppress(KeyboardInterrupt), Live(console=console, auto_refresh=False) as live:
        while True:
            live.update(Group(*(render(one, console.width) for one in _sheets(claims, store, everybody))), refresh=True)
            time.sleep(_LOOK)


def _sheets(claims: Claims, store: Store, everybody: bool) -> list[Sheet]:
    return [worker_sheet(claims.members(), gone=everybody), progress_sheet(store.counts())]


def _statuses(store: Store) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for (environment, status), count in store.counts().items():
        found.setdefault(environment, {})[status] = count
    return found
