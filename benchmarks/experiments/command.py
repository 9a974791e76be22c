"""The command of a paper: lists its rows, runs one or all, prints and writes the results."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO

from benchmarks.experiments.cost import describe, describe_job, expected_costs
from benchmarks.experiments.jobs import Asked, Job, ask_job, check_job, path_of, read_job
from benchmarks.experiments.row import AnyRow, Result, RowOptions
from benchmarks.experiments.runs import (
    Played,
    PlayedRun,
    check_plan,
    check_runs,
    open_follow_ups,
    open_runs,
    play_runs,
)
from benchmarks.experiments.tables import to_csv, to_json, to_markdown
from benchmarks.options import parse
from llmarena_envs.core.options import OptionError, check_choice
from llmarena_envs.core.terminal import printable
from rating.cli.app import EXIT_INTERRUPTED, EXIT_TERMINATED, guarded
from rating.cli.flags import check_extra
from rating.cli.process import Interruptions
from rating.config.judge_warnings import family_warnings, scripted_judge_warnings
from rating.config.run_file import RunConfig
from rating.errors import IncompleteRun
from rating.play.session import Session
from rating.store.environments import admit
from rating.store.records import VOID

EVERY_ROW = "all"

_NO_SETTINGS = ("run", "out", "json", "workers", "cache", "offline")  # options that do not affect results


@dataclass(frozen=True)
class Paper:
    """A paper and its catalogue.

    Attributes:
        name: the package below ``benchmarks``.
        title: the paper, as it is cited.
        rows: where each row is, by its name, in the order of the paper: its module, whose ``ROW`` it is, or ``MODULE:NAME``.
        aliases: other names of rows.
    """

    name: str
    title: str
    rows: Mapping[str, str]
    aliases: Mapping[str, str]

    def row(self, name: str) -> AnyRow:
        """Returns a row."""
        module, _, own = self.rows[name].partition(":")
        row: AnyRow = getattr(import_module(module), own or "ROW")
        return row


def main(paper: Paper, arguments: Sequence[str] | None = None) -> int:
    """Runs the command of a paper and returns its exit code, as ``llmarena`` has them."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    with Interruptions() as interruptions:
        code = guarded(lambda: _run(paper, words, interruptions), interruptions)
    return EXIT_TERMINATED if code == EXIT_INTERRUPTED and interruptions.terminated else code


def _run(paper: Paper, words: Sequence[str], interruptions: Interruptions) -> int | None:
    check_extra("rows of papers need", "plots", "matplotlib")
    command = f"python -m benchmarks.{paper.name}"
    if not words or words[0].startswith("-"):
        _list(paper, command, as_json="--json" in words)
        return None
    name = paper.aliases.get(words[0], words[0])
    check_choice("row", name, [*paper.rows, EVERY_ROW])
    if name == EVERY_ROW:
        common = parse(RowOptions, f"Every row of {paper.title}", words[1:], f"{command} {EVERY_ROW}")
        needs = {row: paper.row(row).needs for row in paper.rows}
        for row, needed in needs.items():
            if needed:
                print(f"{row} is left out, since it needs --{needed}: {command} {row} --help", file=sys.stderr)
        rows = {
            row: parse(paper.row(row).options, "", _words_for(words[1:], common, row))
            for row in paper.rows
            if not needs[row]
        }
    else:
        common = parse(paper.row(name).options, paper.row(name).title, words[1:], f"{command} {name}")
        rows = {name: common}
    plans = {row: paper.row(row).plan(options) for row, options in rows.items()}
    for row, options in rows.items():  # all of them, before anything is played
        if not options.run:
            _check(_out(paper, options) / row, row, paper.row(row), plans[row], options)
        for config in plans[row].values():
            config.admit()  # the files that the options name
    missing = []
    reports = []
    for row, options in rows.items():
        report, gaps = _run_row(paper, row, options, plans[row], interruptions)
        missing += gaps
        reports.append(report)
    if common.json:
        shown = reports if name == EVERY_ROW else reports[0]
        print(json.dumps(shown, indent=2, ensure_ascii=False))
    if missing:
        raise IncompleteRun(
            f"the figures are of what was played: {', '.join(missing)}, since a provider failed; the same command resumes"
        )
    return None


def _check(directory: Path, name: str, row: AnyRow, plan: Mapping[str, RunConfig], options: RowOptions) -> None:
    """Checks that a row can be played, before anything is."""
    session = options.session()
    before = row.preparation.ask(options)
    check_plan(plan, session)
    if not before:
        check_runs(directory, plan, session)
    for job in before or (() if plan else row.ask({}, options)):
        check_job(directory, job, session)
    _check_judges(name, plan, options)


def _check_judges(row: str, plan: Mapping[str, RunConfig], options: RowOptions) -> None:
    """Checks that no scripted policy judges a model, unless the options allow it or name the judges.

    Raises:
        OptionError: if one does.
    """
    if options.scripted_judges or getattr(options, "judge", None):
        return
    warnings = [warning for config in plan.values() for warning in scripted_judge_warnings(config)]
    if warnings:
        raise OptionError(
            f"{row}: {warnings[0]}; name models that judge with --judge, or allow it with --scripted-judges"
        )


def _list(paper: Paper, command: str, *, as_json: bool) -> None:
    rows = [{"row": name, "title": paper.row(name).title, "source": paper.row(name).source} for name in paper.rows]
    if as_json:
        print(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    width = max(map(len, paper.rows))
    print(f"{paper.title}\n")
    for row in rows:
        print(f"  {row['row']:{width}}  {row['title']} ({row['source']})")
    print(f"\n{command} ROW --help shows the options of a row; {command} {EVERY_ROW} runs every one.")


def _words_for(words: Sequence[str], common: RowOptions, name: str) -> list[str]:
    """Returns the command line for one row when all are run: the directory of runs has a subdirectory per row."""
    return [*words, *(["--run", str(Path(common.run) / name)] if common.run else [])]


def _out(paper: Paper, options: RowOptions) -> Path:
    return Path(options.out or f"results/{paper.name}")


def _run_row(
    paper: Paper, name: str, options: RowOptions, plan: Mapping[str, RunConfig], interruptions: Interruptions
) -> tuple[dict[str, Any], list[str]]:
    """Runs a row with a checked plan, writes its result, and returns it with what is missing."""
    row = paper.row(name)
    out, session = _out(paper, options), options.session()
    talk = sys.stderr if options.json else sys.stdout
    print(f"{name}: {row.title} ({row.source})", file=talk)
    prepared: dict[str, Asked[Any]] = {}
    if options.run:
        directory = Path(options.run)
        runs = open_runs(directory, plan, any_manner=row.any_manner)
        following = row.follow_up(runs, options)
        admit(item.name for config in following.values() for item in config.environment)  # which the row names
        runs |= open_follow_ups(directory, following)
        jobs = [job for job in row.ask(runs, options) if not plan or path_of(directory, job).exists()]
        asked = {job.name: read_job(directory, job) for job in jobs}
    else:
        print(f"  {row.precision(options)}", file=talk)
        if before := row.preparation.ask(options):
            prepared = _ask(out / name, before, session, interruptions, talk)
            if missing := _missing(Played({}, prepared)):
                raise _nothing_to_measure(name, missing)
            plan = row.plan(row.preparation.take(prepared, options))
            check_runs(out / name, plan, session)
        runs = _play(out / name, plan, session, interruptions, talk)
        asked = {}
        if not _missing(Played(runs, {})):  # follow-ups and jobs need every match
            following = row.follow_up(runs, options)
            check_runs(out / name, following, session)
            runs |= _play(out / name, following, session, interruptions, talk)
            asked = _ask(out / name, row.ask(runs, options), session, interruptions, talk)
            if asked and not runs and not any(job.answers for job in asked.values()):
                raise _nothing_to_measure(name, _missing(Played({}, asked)))
    played = Played(runs, asked)
    result = row.measure(played, options)
    report = _report(paper, name, row, options, Played(runs, {**prepared, **asked}), result)
    paths = _write(out, name, result, report)
    if not options.json:
        print(printable(_markdown(report, result)))
    print("\n".join(f"wrote {path}" for path in paths), file=talk)
    return report, [] if options.run else _missing(played)


def _nothing_to_measure(name: str, missing: Sequence[str]) -> IncompleteRun:
    return IncompleteRun(
        f"{name}: a provider failed, {', '.join(missing)}; nothing else was played. Run the same command again to resume"
    )


def _missing(played: Played) -> list[str]:
    """Returns the numbers of void matches and of missing answers, if there are any."""
    void = {name: run.statuses.get(VOID, 0) for name, run in played.items()}
    unanswered = {name: len(asked.missing) for name, asked in played.asked.items()}
    return [
        *(
            f"{count} {'match is' if count == 1 else 'matches are'} void in {name}"
            for name, count in void.items()
            if count
        ),
        *(f"{count} not answered in {name}" for name, count in unanswered.items() if count),
    ]


def _play(
    directory: Path, plan: Mapping[str, RunConfig], session: Session, interruptions: Interruptions, talk: TextIO
) -> dict[str, PlayedRun]:
    """Prints the expected costs of the planned runs, plays them and returns them."""
    for part, config in plan.items():
        for line in describe(expected_costs(config)):
            print(f"  {part}: {line}", file=talk)
    talk.flush()
    play_runs(directory, plan, interruptions, session)
    return {part: PlayedRun(directory / part) for part in plan}


def _ask(
    directory: Path, jobs: Sequence[Job[Any]], session: Session, interruptions: Interruptions, talk: TextIO
) -> dict[str, Asked[Any]]:
    """Prints the expected costs of jobs, asks what is missing and returns the answers."""
    for job in jobs:
        print(f"  {job.name}: {describe_job(job)}", file=talk)
    talk.flush()
    return {job.name: ask_job(directory, job, interruptions, session) for job in jobs}


def _report(
    paper: Paper, name: str, row: AnyRow, options: RowOptions, played: Played, result: Result
) -> dict[str, Any]:
    """Returns a complete result as JSON values."""
    settings = asdict(options)
    return {
        "paper": paper.title,
        "row": name,
        "title": row.title,
        "source": row.source,
        "shows": row.shows,
        "does_not_show": row.does_not_show,
        "options": {key: value for key, value in settings.items() if key not in _NO_SETTINGS},
        "runs": {
            part: {
                "environments": run.environments(),
                "matches": run.statuses,
                "sources": run.sources(),
                "seal": run.seal,
                "digest": run.digest,
            }
            for part, run in played.items()
        },
        "jobs": {name: asked.summary() for name, asked in played.asked.items()},
        "warnings": [
            warning
            for run in played.values()
            for warning in (
                *scripted_judge_warnings(run.config),
                *family_warnings(run.config, options.families()),
            )
        ],
        "tables": [to_json(table) for table in result.tables],
        "notes": list(result.notes),
    }


def _markdown(report: Mapping[str, Any], result: Result) -> str:
    """Returns a result as Markdown."""
    parts = [
        f"## {report['row']}: {report['title']}",
        f"Source: {report['source']}. {report['shows']} {report['does_not_show']}",
        "\n".join(f"- **Warning**: {warning}." for warning in report["warnings"]),
        *(to_markdown(table) for table in result.tables),
        "\n".join(f"- {note}" for note in result.notes),
        "\n".join(
            [
                *(
                    f"- run `{part}`: {', '.join(f'{count} {status}' for status, count in run['matches'].items())};"
                    f"{_with(run['sources'])} play digest `{run['digest']}`"
                    for part, run in report["runs"].items()
                ),
                *(
                    f"- job `{name}`: {job['replies']} replies; digest `{job['digest']}`"
                    for name, job in report["jobs"].items()
                ),
            ]
        ),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _with(sources: Sequence[str]) -> str:
    return f" played with {', '.join(sources)};" if sources else ""


def _write(out: Path, name: str, result: Result, report: Mapping[str, Any]) -> list[Path]:
    """Writes a result as JSON, Markdown, CSV and pictures, and returns the paths."""
    from benchmarks.experiments.pictures import save  # matplotlib is slow to import

    out.mkdir(parents=True, exist_ok=True)
    texts = {
        f"{name}.json": json.dumps(report, indent=2, ensure_ascii=False) + "\n",
        f"{name}.md": _markdown(report, result)
        + "".join(f"\n![{each}]({name}-{each}.svg)\n" for each in result.figures),
    }
    for table in result.tables:
        texts[f"{name}.csv" if len(result.tables) == 1 else f"{name}-{table.name}.csv"] = to_csv(table)
    for file, text in result.files.items():
        texts[f"{name}-{file}"] = text
    for file, text in result.sheets.items():
        if not (out / f"{name}-{file}").exists():
            texts[f"{name}-{file}"] = text
    paths = []
    for file, text in texts.items():
        unfinished = out / f"{file}.new"
        unfinished.write_text(text, encoding="utf-8", newline="\n")
        unfinished.replace(out / file)
        paths.append(out / file)
    for figure, drawing in result.figures.items():
        paths += save(drawing, out / f"{name}-{figure}")
    return paths
