"""Gives the environments to other libraries and tabulates what they take: ``python -m benchmarks.clients``.

    python -m benchmarks.clients sb3 torchrl           # in this interpreter, which must hold these libraries
    python -m benchmarks.clients together --smoke      # the clients of one requirements file, each in a process of its own
    python -m benchmarks.clients all --update          # makes the virtual environments; rewrites verdicts.json and the page

A failure of a client is a row of the table. The command fails (1) if something is no longer accepted that was accepted
according to ``verdicts.json``; whatever else is not as it stands there is named.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.clients.page import PAGE, fill, table
from benchmarks.clients.report import GROUPS, Report, failed, read_verdicts, replace_verdicts, run_client
from benchmarks.clients.trials import changed, lost, reason_of
from benchmarks.clients.virtual_environments import make_virtual_environment, run_elsewhere

_ALL = "all"
_CLIENTS = [client for clients in GROUPS.values() for client in clients]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit code."""
    options = _parser().parse_args(arguments)
    reports = _run_groups(options.smoke) if _ALL in options.clients else _run_named(options.clients, options.smoke)
    rows = [row for report in reports for row in report.rows]
    print(table(rows))
    if options.out:
        directory = Path(options.out)
        directory.mkdir(parents=True, exist_ok=True)
        for report in reports:
            text = json.dumps(report.as_json(), indent=1, ensure_ascii=False)
            (directory / f"{report.client}.json").write_text(text + "\n", encoding="utf-8")
    before = [row for report in read_verdicts() for row in report.rows]
    missing = lost(before, rows)
    for row in missing:
        print(f"no longer accepted: {' | '.join(row.key)}", file=sys.stderr)
    for row in changed(before, rows):
        print(f"not as on the page: {' | '.join(row.key)}: {row.verdict} {row.reason}".rstrip(), file=sys.stderr)
    if options.update:
        PAGE.write_text(fill(PAGE.read_text(encoding="utf-8"), replace_verdicts(reports)), encoding="utf-8")
    return 1 if missing else 0


def _run_groups(smoke: bool) -> list[Report]:
    reports = []
    for group, clients in GROUPS.items():
        with TemporaryDirectory() as directory:
            try:
                python = make_virtual_environment(group, Path(directory) / group)
            except (RuntimeError, OSError) as error:
                reports += [failed(client, reason_of(error)) for client in clients]
                continue
            reports += run_elsewhere(python, clients, smoke)
    return reports


def _run_named(names: Sequence[str], smoke: bool) -> list[Report]:
    clients = list(dict.fromkeys(client for name in names for client in GROUPS.get(name, (name,))))
    if len(clients) == 1:
        return [run_client(clients[0], smoke)]
    return run_elsewhere(Path(sys.executable), clients, smoke)


def _name(text: str) -> str:
    known = [*_CLIENTS, *GROUPS, _ALL]
    if text not in known:
        raise argparse.ArgumentTypeError(f"expected one of {', '.join(dict.fromkeys(known))}, got {text!r}")
    return text


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.clients",
        description=(__doc__ or "").split("\n")[0],
        allow_abbrev=False,
    )
    parser.add_argument(
        "clients",
        nargs="*",
        metavar="CLIENT",
        type=_name,
        help=f"clients ({', '.join(_CLIENTS)}), files of requirements ({', '.join(GROUPS)}), or all; all by default",
        default=[_ALL],
    )
    parser.add_argument("--smoke", action="store_true", help="the fewest steps, on every environment all the same")
    parser.add_argument("--out", help="directory for one JSON file a client")
    parser.add_argument("--update", action="store_true", help="rewrite verdicts.json and the tables of docs/clients.md")
    return parser


if __name__ == "__main__":
    sys.exit(main())
