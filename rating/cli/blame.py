"""``llmarena blame``: the turn that lost a match, and the cost of kinds of turns in a run."""

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from agents.models.service import ModelService, Target
from agents.registry import is_scripted, split_spec
from llmarena_envs.core.options import OptionError
from llmarena_envs.core.terminal import printable
from rating.blame.analysis import Analysis, most_pairs
from rating.blame.continuing import Continuer
from rating.blame.drawing import curve, interval, verdict
from rating.blame.estimate import FEWEST
from rating.blame.forecast import NOTHING, Expected, forecast
from rating.blame.pairs import Pairs
from rating.blame.question import SELF, Candidate, Game, Question, Spec, candidates, default_hidden, loser
from rating.blame.results import DIRECTORY, Blame, BlamedTurn, costs_by_kind, write_result
from rating.cli import asking, flags
from rating.cli.asking import may_start, price_table, usage_text
from rating.cli.progress import progress_line
from rating.config.run_file import RunConfig
from rating.play import run_directory
from rating.play.lock import LOCK, Lock
from rating.replacing import replacing_text
from rating.store.environments import admit
from rating.store.records import FINISHED, PLAYED, Record

_REMOVED = "removed"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    flags.add_run(parser)
    parser.add_argument("match", nargs="?", default="", metavar="MATCH", help="match id, or its beginning")
    parser.add_argument("--seat", metavar="AGENT", help="seat whose replies are replaced (default: the lowest reward)")
    parser.add_argument("--reward", metavar="AGENT", help="seat whose reward counts (default: the same)")
    other = parser.add_mutually_exclusive_group()
    other.add_argument(
        "--with",
        dest="substitute",
        default=SELF,
        metavar="POLICY",
        help="policy that gives the other replies, e.g. minimax (default self: the policy of the seat, asked again)",
    )
    other.add_argument(
        "--message",
        metavar="TEXT",
        help=f"replace the message of a turn by this text and keep the action; {_REMOVED} for none",
    )
    parser.add_argument(
        "--hidden",
        choices=("fixed", "redrawn"),
        help="information hidden from the seat: as in the match, or redrawn (default: redrawn if the game has any)",
    )
    parser.add_argument(
        "--pairs",
        type=flags.positive,
        default=40,
        metavar="N",
        help="pairs of continuations for each turn in the final (default 40)",
    )
    parser.add_argument(
        "--least",
        type=flags.finite,
        default=0.0,
        metavar="COST",
        help="smallest cost that counts, in rewards (default 0)",
    )
    parser.add_argument("--environment", metavar="NAME", help="environment of the matches, in a run of several")
    parser.add_argument(
        "--matches",
        type=flags.positive,
        default=20,
        metavar="N",
        help="matches without MATCH, the first ones (default 20)",
    )
    parser.add_argument("--seed", type=flags.count, default=0, help="root seed (default 0)")
    parser.add_argument(
        "--out",
        type=flags.local_path,
        metavar="DIR",
        help=f"directory of the results (default: {DIRECTORY} in the run)",
    )
    parser.add_argument(
        "--picture", type=flags.local_path, metavar="FILE", help="write the curve of MATCH as an SVG file"
    )
    parser.add_argument(
        "--concurrency", type=flags.positive, default=16, metavar="N", help="pairs at once, with models (default 16)"
    )
    asking.add_arguments(
        parser,
        reply_tokens="assumed tokens per reply of a model that did not play",
        yes="ask a model without a question",
    )
    flags.add_trust(parser)


@dataclass(frozen=True)
class _Case:
    """A match with its question and the turns in question."""

    game: Game
    question: Question
    found: list[Candidate]


def main(args: argparse.Namespace) -> None:
    """Finds the turn that lost each match, and prints it."""
    if args.pairs < FEWEST:
        raise OptionError(f"--pairs: expected at least {FEWEST}, got {args.pairs}")
    if args.least < 0:
        raise OptionError(f"--least: expected a cost of 0 or more, got {args.least:g}")
    if args.picture and not args.match:
        raise OptionError("--picture: expected MATCH, since the picture shows one match")
    if args.substitute != SELF:
        admit([], [args.substitute])
    run, store = run_directory.open_run(args.dir)
    with closing(store):
        cases = [_case(run.config, record, args) for record in _records(store.records(args.match), args)]
    service = ModelService()
    if not _is_confirmed(cases, service, args):
        return
    directory = args.out or args.dir / DIRECTORY
    run_directory.check_no_links([directory, directory / LOCK])
    directory.mkdir(parents=True, exist_ok=True)
    with Lock(directory):
        results = args.interruptions.run(lambda: _analyse(cases, service, directory, args))
    if args.picture:
        with replacing_text(args.picture) as file:
            file.write(f"{curve(results[0])}\n")
    if args.json:
        _print_json(results, args)
        return
    for case, result in zip(cases, results, strict=True):
        if args.match:
            _print_match(case.game.record, result)
        else:
            print(printable(f"{_headline(case.game.record, result)}: {verdict(result)}"))
    if not args.match:
        _print_kinds(results)


def _records(records: Iterator[Record], args: argparse.Namespace) -> list[Record]:
    """Returns the finished matches of the command.

    Raises:
        OptionError: without one, or with several for a match id, or several environments.
    """
    environments = (args.environment,) if args.environment else ()
    wanted = (record for record in records if not environments or record.match.environment in environments)
    if args.match:
        found = list(islice(wanted, 2))
        if len(found) != 1:
            raise OptionError(
                f"match {args.match!r}: expected the id of one match, found {len(found) or 'none'};"
                f" llmarena replay {args.dir} lists them"
            )
        return found
    found = list(islice((record for record in wanted if record.status == FINISHED), args.matches))
    names = sorted({record.match.environment for record in found})
    if len(names) > 1:
        raise OptionError(f"--environment: expected one of {', '.join(names)}, since the run has several")
    if not found:
        raise OptionError(f"{args.dir}: expected a finished match, found none")
    return found


def _case(config: RunConfig, record: Record, args: argparse.Namespace) -> _Case:
    match = record.match
    seat = args.seat or loser(record)
    if record.outcome is None or record.status not in PLAYED:
        raise OptionError(f"match {match.id}: expected a finished match, got {record.status}")
    policies = {}
    for each in record.outcome.seats:
        item = config.find_policy(each.policy)
        options = {**split_spec(item.spec)[1], **item.options}
        names_files = any(isinstance(value, str) for value in options.values())
        if not args.trust and (names_files or not is_scripted(item.spec, match.environment)):
            raise OptionError(
                f"policy {each.policy!r:.200}: continuing a match asks the policies named by the run, here"
                f" {item.spec!r:.200}; if you trust the run, add --trust"
            )
        policies[each.agent] = Spec(item.spec, item.options)
    game = Game(record, policies, config.turn_settings(match.environment))
    message = "" if args.message == _REMOVED else args.message
    substitute = args.substitute if message is None else ""
    hidden = args.hidden or default_hidden(game.make_env())
    question = Question(match.id, seat, args.reward or seat, substitute, message, hidden, args.seed)
    return _Case(game, question, candidates(game, question))


def _is_confirmed(cases: list[_Case], service: ModelService, args: argparse.Namespace) -> bool:
    """Prints the forecast for models, and asks at a terminal whether to start."""
    usage: dict[Target, Expected] = {}
    for case in cases:
        continuer = Continuer(case.game, case.question, service)
        turns = case.game.record.turns
        sizes = {"size": args.pairs, "reply_tokens": args.reply_tokens}
        for target, expected in forecast(continuer, case.question, turns, case.found, **sizes).items():
            usage[target] = usage.get(target, NOTHING) + expected
    if not usage:
        return True
    prices = price_table(args)
    for target, each in usage.items():
        counts = usage_text(prices, target, each.calls, each.prompt_tokens, each.completion_tokens)
        print(printable(f"Forecast for {target.model}: at most about {counts}."), file=sys.stderr)
    return may_start(args)


async def _analyse(cases: list[_Case], service: ModelService, directory: Path, args: argparse.Namespace) -> list[Blame]:
    """Analyses the matches and writes each result."""
    results = []
    total, done = sum(most_pairs(len(case.found), args.pairs) for case in cases), 0

    def count() -> None:
        nonlocal done
        done += 1
        show(done, total)

    try:
        with progress_line("Continuing", "pairs") as show:
            for case in cases:
                with Pairs(directory, case.question) as pairs:
                    analysis = Analysis(
                        case.game,
                        case.question,
                        case.found,
                        pairs,
                        service,
                        size=args.pairs,
                        least=args.least,
                        concurrency=args.concurrency,
                        show=count,
                    )
                    results.append(await analysis.run())
                write_result(directory, results[-1])
    finally:
        await service.close()
    return results


def _print_json(results: list[Blame], args: argparse.Namespace) -> None:
    tables: Any = [result.model_dump(mode="json") for result in results]
    if not args.match:
        kinds = [
            {**row._asdict(), "effect": row.effect._asdict() if row.effect else None} for row in costs_by_kind(results)
        ]
        tables = {"matches": tables, "kinds": kinds}
    print(json.dumps(tables[0] if args.match else tables, indent=2, ensure_ascii=False, allow_nan=False))


def _headline(record: Record, result: Blame) -> str:
    question = result.question
    policies = {seat.agent: seat.policy for seat in record.outcome.seats} if record.outcome else {}
    of = "" if question.rewarded == question.seat else f" of {question.rewarded}"
    return f"{question.match}  {question.seat} ({policies.get(question.seat, '')}), reward{of} {result.reward:+g}"


def _print_match(record: Record, result: Blame) -> None:
    print(printable(_headline(record, result)))
    print(
        printable(f"  cost of each reply against {result.question.title}, hidden information {result.question.hidden}")
    )
    print(f"  {'turn':>4}  {'reply':28}  {'expected':>8}  {'cost, 95 % together':24}  other reply")
    for turn in result.turns:
        print(printable(_line(turn, is_blamed=turn.turn == result.blamed)))
    print(f"  {verdict(result)}")
    facts = [f"{result.continuations:,} continuations", f"{result.invalid:,} invalid replies of the substitute"]
    print(f"  {', '.join([*facts, *([f'{result.void:,} pairs void'] if result.void else [])])}")


def _line(turn: BlamedTurn, *, is_blamed: bool) -> str:
    value = "" if turn.value is None else f"{turn.value:+.2f}"
    cost = interval(turn.cost, turn.low, turn.high) or f"{turn.screened:.2f}, not in the final"
    mark = "*" if is_blamed else " "
    played, other = _short(turn.played) or "forfeit", _short(turn.other)
    return f"{mark} {turn.turn + 1:>4}  {played:28}  {value:>8}  {cost:24}  {other}".rstrip()


def _short(text: str) -> str:
    """Returns the beginning of a text on one line."""
    line = " ".join(text.split())
    return line if len(line) <= 28 else f"{line[:25]}..."


def _print_kinds(results: list[Blame]) -> None:
    """Prints the mean cost of each kind of turn."""
    print(f"\n  {'kind of turn':36}  {'turns':>5}  {'matches':>7}  mean cost, 95 % together")
    for row in costs_by_kind(results):
        effect = row.effect
        cost = interval(effect.mean, effect.low, effect.high) if effect else f"{row.cost:.2f}"
        print(printable(f"  {row.kind:36}  {row.turns:>5}  {row.matches:>7}  {cost}"))
