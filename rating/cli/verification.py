"""``llmarena replay --verify``: verify the integrity of a run."""

import argparse
import json
from contextlib import closing
from dataclasses import dataclass, field

from llmarena_envs.core.options import OptionError
from llmarena_envs.core.terminal import printable
from rating.errors import RunError
from rating.play import run_directory
from rating.store.records import PLAYED
from rating.store.store import Store
from rating.store.verify import verify


@dataclass
class _Findings:
    """Result of a verification.

    Attributes:
        changed: modified or missing parts of the record.
        differences: differences between record and replay, by match id.
        finished: number of finished matches.
        known: whether a requested match exists.
        seal: seal of the run, if it is unmodified.
        digest: play digest of the run, if it is unmodified.
    """

    changed: list[str] = field(default_factory=list)
    differences: dict[str, str] = field(default_factory=dict)
    finished: int = 0
    known: bool = False
    seal: str = ""
    digest: str = ""


def verify_run(args: argparse.Namespace) -> int:
    """Checks the whole database against its seals, replays the requested matches and prints the differences.

    A damaged database is read up to the damage.

    Returns:
        0, or 1 if anything differs from the record.

    Raises:
        RunError: if the directory contains no run.
        OptionError: if the requested match does not exist.
    """
    found = _Findings()
    run_directory.check_exists(args.dir)
    try:
        with closing(run_directory.open_store(args.dir)) as store:
            _look_at(args, store, found)
    except RunError as error:
        found.changed.append(str(error))
    if args.match and not found.known and not found.changed:
        raise no_such_match(args)
    _print(found, as_json=args.json)
    return 1 if found.changed or found.differences else 0


def no_such_match(args: argparse.Namespace) -> OptionError:
    """Returns the error for an unknown match id."""
    return OptionError(
        f"match: expected an id of a match in {args.dir}, got {args.match!r}; list them with: llmarena replay {args.dir}"
    )


def _look_at(args: argparse.Namespace, store: Store, found: _Findings) -> None:
    found.changed += store.check()
    if difference := run_directory.run_file_difference(args.dir, store):
        found.changed.append(difference)
    try:
        settings = run_directory.turn_settings(store)
        for record in store.records(args.match):
            found.known = True
            if record.status in PLAYED:
                found.finished += 1
                if difference := verify(record, settings[record.match.environment]):
                    found.differences[record.match.id] = difference
    except (RunError, KeyError) as error:
        found.changed.append(f"matches cannot be played again any further: {error}")
    if not found.changed:
        found.seal, found.digest = store.sealed, store.digest()


def _print(found: _Findings, *, as_json: bool) -> None:
    verified = found.finished - len(found.differences)
    if as_json:
        table = {"verified": verified, "differences": found.differences, "changed": found.changed}
        print(json.dumps({**table, "seal": found.seal, "digest": found.digest}, indent=2))
        return
    for line in (*found.changed, *(f"{match}: {difference}" for match, difference in found.differences.items())):
        print(printable(line))
    print(f"{verified} of {found.finished} finished matches verified")
    if found.changed:
        print(f"the record is not as it was written, or not complete: {len(found.changed)} differences")
    else:
        print(f"seal: {found.seal}\nplay digest: {found.digest}")
