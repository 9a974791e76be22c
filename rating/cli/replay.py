"""``llmarena replay``: show recorded matches, or verify them."""

import argparse
import json
import sys
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING

from agents.records import Turn
from llmarena_envs.core.options import OptionError
from llmarena_envs.core.terminal import printable
from llmarena_envs.core.transcript import Scene
from rating.cli import flags
from rating.errors import RunError
from rating.play import run_directory
from rating.store.export import record_table
from rating.store.records import PLAYED, Record
from rating.store.replay import Story, tell
from rating.store.verify import verify

if TYPE_CHECKING:
    from rating.store.store import Store


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    flags.add_run(parser)
    flags.add_trust(parser)
    parser.add_argument("match", nargs="?", default="", metavar="MATCH", help="match id, or its beginning")
    parser.add_argument(
        "--raw", action="store_true", help="show observations, reasoning and replies in place of the transcript"
    )
    parser.add_argument(
        "--verify", action="store_true", help="check the digests, replay the matches and compare everything"
    )


def main(args: argparse.Namespace) -> int:
    """Lists matches, shows one, or verifies them. Returns 1 if verification fails."""
    if args.verify:
        return _verify_run(args)
    with closing(run_directory.open_store(args.dir)) as store:
        records = store.records(args.match)
        first = next(records, None)
        if args.match and first is None:
            raise _no_such_match(args)
        if first is not None:
            records = chain([first], records)
        if args.json:
            _print_array(records)
        else:
            for record in records:
                print(headline(record))
                if args.match:
                    _print_match(record, raw=args.raw)
    return 0


def _print_array(records: Iterable[Record]) -> None:
    """Prints records as a JSON array, without holding all of them in memory."""
    opening = "["
    for record in records:
        text = json.dumps(record_table(record), indent=2, ensure_ascii=False)
        print(f"{opening}\n  " + text.replace("\n", "\n  "), end="")
        opening = ","
    print("\n]" if opening == "," else "[]")


def headline(record: Record) -> str:
    """Returns one line with id, environment, number, policies and result of a match."""
    match, outcome = record.match, record.outcome
    rewards = (
        " / ".join(f"{seat.reward:+g}" for seat in outcome.seats) if outcome and not record.error else record.status
    )
    return printable(f"{match.id}  {match.environment:18} {match.number:5}  {' v '.join(match.policies)}: {rewards}")


def _print_match(record: Record, *, raw: bool) -> None:
    """Prints the transcript of a match. With ``raw``, or without a transcript, prints all turns."""
    if record.error:
        print(printable(record.error))
    story = Story() if raw else tell(record)
    if story.missing:
        print(printable(f"no transcript of this match: {story.missing}"), file=sys.stderr)
    if story.scenes:
        print(story_text(record, story.scenes))
        return
    for turn in record.turns:
        _print_turn(turn, reasoning=raw)


def story_text(record: Record, scenes: Iterable[Scene]) -> str:
    """Returns the transcript of a match as plain text without terminal control sequences."""
    seats = {seat.agent: seat.policy for seat in record.outcome.seats} if record.outcome else {}
    return "\n".join(line for scene in scenes for line in _scene_lines(scene, seats.get(scene.speaker, "")))


def _scene_lines(scene: Scene, policy: str) -> list[str]:
    who = f"{scene.speaker} ({policy}): " if policy else f"{scene.speaker}: " if scene.speaker else ""
    remarks = "".join(f" [{remark}]" for remark in scene.remarks)
    # Indented: a player's text cannot imitate a heading of the transcript.
    said = [f"  {line}" for line in printable(scene.text).split("\n")] if scene.text else []
    return ["", printable(f"--- {who}{scene.heading}{remarks}"), *said]


def _print_turn(turn: Turn, *, reasoning: bool) -> None:
    print(f"\n--- {turn.index + 1}. {turn.agent} reads:\n{printable(turn.read)}")
    for attempt in turn.attempts:
        if reasoning and attempt.reasoning:
            print(f"--- thinks:\n{printable(attempt.reasoning)}")
        print(
            f"--- replies ({attempt.kind.name.lower()}):\n{printable(attempt.reply)}"
            + (f"\n[{printable(attempt.message)}]" if attempt.message else "")
        )
    played = "nothing: forfeit" if turn.action is None else printable(turn.played) or repr(turn.action)
    print(f"--- plays {played}" + (f" ({turn.fallback})" if turn.fallback else ""))


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


def _verify_run(args: argparse.Namespace) -> int:
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
        raise _no_such_match(args)
    _print_findings(found, as_json=args.json)
    return 1 if found.changed or found.differences else 0


def _no_such_match(args: argparse.Namespace) -> OptionError:
    """Returns the error for an unknown match id."""
    return OptionError(
        f"match: expected an id of a match in {args.dir}, got {args.match!r}; list them with: llmarena replay {args.dir}"
    )


def _look_at(args: argparse.Namespace, store: "Store", found: _Findings) -> None:
    found.changed += store.check()
    if difference := run_directory.run_file_difference(args.dir, store):
        found.changed.append(difference)
    try:
        settings = run_directory.read_identity(store).turn_settings()
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


def _print_findings(found: _Findings, *, as_json: bool) -> None:
    verified = found.finished - len(found.differences)
    if as_json:
        table = {"verified": verified, "differences": found.differences, "changed": found.changed}
        print(json.dumps({**table, "seal": found.seal, "digest": found.digest}, indent=2))
        return
    for line in (*found.changed, *(f"{match}: {difference}" for match, difference in found.differences.items())):
        print(printable(line))
    print(f"{verified} of {found.finished} finished matches verified")
    if found.changed:
        print(f"the record was changed or is incomplete: {len(found.changed)} differences")
    else:
        print(f"seal: {found.seal}\nplay digest: {found.digest}")
