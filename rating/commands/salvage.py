"""``llmarena salvage``: what can still be verified of a damaged run, in a new directory."""

import argparse
import json

from llmarena_envs.core.terminal import printable
from rating.running.salvage import LIST, Findings, salvage

_SHOWN = 20
"""Losses that are printed; the list has all of them."""


def salvage_run(args: argparse.Namespace) -> int:
    """Copies what verifies, lists the rest, and returns 1 if anything is lost."""
    findings = salvage(args.dir, args.out)
    if args.json:
        print(json.dumps(findings.table(), indent=2, ensure_ascii=False))
    else:
        _print(args, findings)
    return 1 if findings.losses else 0


def _print(args: argparse.Namespace, findings: Findings) -> None:
    losses, notes = findings.losses, findings.notes
    more = [f"and {len(losses) - _SHOWN:,} more: {args.out / LIST}"] if len(losses) > _SHOWN else []
    for line in (*(f"lost: {loss}" for loss in losses[:_SHOWN]), *more, *(f"note: {note}" for note in notes)):
        print(printable(line))
    salvaged = findings.salvaged
    kept = ", ".join(f"{count} {printable(status)}" for status, count in sorted(salvaged.matches.items()))
    print(
        f"kept: {salvaged.matches.total()} matches ({kept or 'none'}), {salvaged.turns} turns of those that have not ended,"
    )
    print(f"      {len(salvaged.facts)} facts, {findings.calls} calls of models")
    print(f"Seal: {findings.seal}\nList: {args.out / LIST}")
    print(f"The run goes on with: llmarena resume {args.out}")
