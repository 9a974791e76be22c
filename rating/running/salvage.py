"""Salvage of a damaged run into a new directory, in which it can go on; the damaged one is only read."""

import json
import shutil
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from agents.private_file import create_private
from llmarena_envs.core.options import OptionError
from rating.errors import RunError
from rating.records.audit import UNSEALED
from rating.records.calls import CALLS, UNDER_WAY, CallLog, LoggedCalls
from rating.records.file import open_file
from rating.records.salvage.copying import Loss, Salvaged, copy
from rating.records.salvage.found import Found
from rating.records.salvage.pages import Pages
from rating.records.store import Store
from rating.replacing import replacing_text
from rating.running import run_directory
from rating.running.lock import check_free
from rating.running.places import DATABASE, address_of
from rating.running.resumption import IDENTITY, RUN_FILE_TEXT, continued, differences
from rating.running.run_directory import RUN_FILE
from rating.running.run_file import RunConfig, parse_run_file

LIST = "salvage.json"
"""Name of the file that says what was kept and what was not."""

_LOG = f"{DATABASE}-wal"
_MAX_DAMAGED_CALLS = 100_000


@dataclass
class Findings:
    """What a salvage came to.

    Attributes:
        salvaged: what was kept of the database, and everything that is lost.
        calls: lines kept of the log of calls.
        notes: what one should know besides.
        seal: of the run as it is now.
    """

    salvaged: Salvaged
    calls: int = 0
    notes: list[str] = field(default_factory=list)
    seal: str = ""

    @property
    def losses(self) -> list[Loss]:
        """Everything that is lost."""
        return self.salvaged.losses

    def table(self) -> dict[str, Any]:
        """Returns it as JSON values."""
        return {
            "matches": dict(sorted(self.salvaged.matches.items())),
            "turns": self.salvaged.turns,
            "facts": sorted(self.salvaged.facts),
            "calls": self.calls,
            "losses": [loss.table() for loss in self.losses],
            "notes": self.notes,
            "seal": self.seal,
        }


def salvage(path: Path, out: Path) -> Findings:
    """Copies what can be verified of a run.

    Args:
        path: directory of the run.
        out: directory of the new one.

    Raises:
        RunError: if ``path`` holds no database, somebody plays in it, or nothing of it can be read; or ``out`` is taken.
        StoreError: if ``out`` cannot be written.
        OSError: the same.
    """
    _check(path, out)
    with Pages(path / DATABASE, path / _LOG) as pages:
        found = Found(pages)
        if not found.ids() and not found.facts:
            raise RunError(
                f"{path / DATABASE}: expected rows of a run, but none of its pages holds any that could be verified (those of the"
                " first schema version have no seals); nothing was made"
            )
        out.mkdir(parents=True, exist_ok=True)
        findings = Findings(copy(found, out / DATABASE))
        flaws = _flaws(pages)
    run_file = _choose_run_file(path, findings)
    with closing(open_file(out / DATABASE)) as store:
        if run_file is not None:
            _complete_facts(store, run_file, findings)
        findings.seal = store.seal()
        if not findings.salvaged.seal:
            flaws += _differences_of_original(path, out, store)
        elif findings.seal != findings.salvaged.seal["head"] and not findings.losses:
            flaws.append("the run is not as it was when it was sealed")
    if findings.seal == findings.salvaged.seal.get("head"):
        findings.notes += flaws  # of pages that held nothing of the run
    else:
        findings.losses.extend(map(Loss, flaws))
    _copy_calls(path, out, findings)
    with replacing_text(out / LIST) as file:
        file.write(json.dumps(findings.table(), indent=2, ensure_ascii=False) + "\n")
    if run_file is not None:
        run_directory.replace_run_file(out, run_file)  # last: where it stands the run can go on
    return findings


def _check(path: Path, out: Path) -> None:
    if not (path / DATABASE).exists() and not (path / _LOG).exists():
        run_directory.check_exists(path)
        raise RunError(
            f"{path}: expected a run in a file, but it is {address_of(path)}: restore a back-up of it (pg_restore), or salvage"
            " the file from which it was moved"
        )
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise RunError(f"{out}: expected a new or empty directory, but it holds something")
    if path.resolve() in (out.resolve(), *out.resolve().parents):
        raise RunError(f"{out}: expected a directory outside of {path}, into which nothing is written")
    check_free(path)


def _flaws(pages: Pages) -> list[str]:
    flaws = []
    if pages.unreadable:
        flaws.append(f"{pages.unreadable} sectors of the database cannot be read")
    if pages.missing:
        flaws.append(f"{pages.missing} pages are missing at the end of the database")
    return flaws


def _choose_run_file(path: Path, findings: Findings) -> str | None:
    """Returns the run file with which the run goes on: the one in the database if the seal covers it, else the one beside it."""
    recorded, beside = findings.salvaged.facts.get(RUN_FILE_TEXT), None
    try:
        beside = run_directory.read_run_file(path)
    except RunError as error:
        findings.notes.append(str(error))
    texts = {"the one beside the database": beside, "the one in the database": recorded}
    if findings.salvaged.seal:
        texts = dict(reversed(texts.items()))
    problems = []
    for place, text in texts.items():
        if text is not None:
            try:
                parse_run_file(text, RUN_FILE)
            except OptionError as error:
                problems.append(f"{place} cannot be used: {error}")
            else:
                if beside != recorded:
                    findings.notes.append(f"{RUN_FILE}: {place} was taken")
                return text
    findings.losses.append(
        Loss(f"{RUN_FILE}: {'; '.join(problems) or 'there is none'}; write one before the run goes on")
    )
    return next((text for text in texts.values() if text is not None), None)


def _complete_facts(store: Store, run_file: str, findings: Findings) -> None:
    """Makes the facts anew without which a run cannot go on, if they are lost or, without a seal, contradict two run files."""
    facts = store.facts()
    try:
        config = parse_run_file(run_file, RUN_FILE)
    except OptionError:
        return
    try:
        config.identity()
    except OptionError as error:
        findings.notes.append(f"fact {IDENTITY}: it was not compared with {RUN_FILE}: {error}")
        return
    if not findings.salvaged.seal and facts.get(RUN_FILE_TEXT) == run_file and not _says_the_same(config, store):
        findings.losses.append(Loss(f"fact {IDENTITY}: it is lost or is not as it was recorded"))
        facts.pop(IDENTITY, None)
    if IDENTITY not in facts:
        store.set_fact(IDENTITY, config.identity())
        findings.notes.append(f"fact {IDENTITY}: it was made anew from {RUN_FILE}")
    if RUN_FILE_TEXT not in facts:
        store.set_fact(RUN_FILE_TEXT, run_file)


def _says_the_same(config: RunConfig, store: Store) -> bool:
    """Says whether a run file fits what was recorded of who plays and how."""
    facts = store.facts()
    try:
        recorded = json.loads(facts[IDENTITY])
        return not list(differences(continued(config, facts, store.sizes()), recorded))
    except (RunError, OptionError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return False


def _differences_of_original(path: Path, out: Path, store: Store) -> list[str]:
    """Returns what there is in a run without a seal, as SQLite reads it, that is not in the store, or cannot be told."""
    with TemporaryDirectory(dir=out) as folder:  # SQLite would write beside the original
        try:
            for name in (DATABASE, _LOG):
                if (path / name).exists():
                    shutil.copyfile(path / name, Path(folder) / name)
            with closing(open_file(Path(folder) / DATABASE)) as original:
                flaws = [flaw for flaw in original.check() if flaw != UNSEALED]
                if not flaws and (
                    original.seals_of_matches() != store.seals_of_matches()
                    or original.turns_under_way() != store.turns_under_way()
                    or not original.facts().items() <= store.facts().items()
                ):
                    flaws.append("the run is not as SQLite reads it")
        except (RunError, OSError) as error:
            flaws = [str(error).replace(folder, str(path))]
    return [*flaws, "the run was not sealed: more may be lost than is listed"] if flaws else []


def _copy_calls(path: Path, out: Path, findings: Findings) -> None:
    """Copies every line of the log of calls that can be read, and the calls that were under way when the run was killed."""
    calls, log = LoggedCalls(path / CALLS, _MAX_DAMAGED_CALLS), CallLog(out / CALLS)
    rest = ""
    try:
        for call in calls:
            log.write(call)
            findings.calls += 1
    except RunError as error:
        rest = str(error)
    finally:
        log.close()
    if (path / UNDER_WAY).exists():
        create_private(out / UNDER_WAY)
        shutil.copyfile(path / UNDER_WAY, out / UNDER_WAY)
    findings.losses.extend(Loss(f"{CALLS}: {damage}") for damage in calls.damage)
    if rest:
        findings.losses.append(Loss(f"{CALLS}: it was read no further: {rest}"))
