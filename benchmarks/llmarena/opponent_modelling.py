"""Opponent modelling at undercover (LLMArena, arXiv 2402.16499, Table 3): descriptions of the own word, guesses of the others'.

Every policy is the undercover player among four of one fixed policy, and guesses the words of all others with every vote. A
guess is right if at least one of these words is, strictly right if all of them are.

The game does not determine whether a clue describes the word correctly. People label clues on a sheet, and any policy can be the
judge; the paper does not name its judges. With ``clues=own`` the clues of the policy under test count, with ``all_seats`` the
clues of all seats in its matches, as the published shares imply.
"""

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.experiments.field import field_cases, field_opponent
from benchmarks.experiments.jobs import Job
from benchmarks.experiments.pictures import estimates
from benchmarks.experiments.pool import plan_run
from benchmarks.experiments.precision import kappa_remark, rate_precision
from benchmarks.experiments.proportions import rate_of_counts
from benchmarks.experiments.published import load_published
from benchmarks.experiments.row import Result, Row, RowOptions
from benchmarks.experiments.runs import Played, PlayedRun
from benchmarks.experiments.sheets import YES_NO, items_mark, read_sheet, write_sheet
from benchmarks.experiments.tables import MEASURED, Cell, Cells, Column, Table, beside, paired_columns, percent
from benchmarks.llmarena.description_judge.case import JUDGE as JUDGE_SEAT
from benchmarks.llmarena.description_judge.case import Description
from benchmarks.llmarena.descriptions import Clue, Items, Verdicts, accuracy, clues_of, judged, to_judge
from benchmarks.options import option
from llmarena_envs.core.options import OptionError, check_choice
from rating.config.run_file import RunConfig
from rating.config.run_tables import EnvironmentConfig, PolicyConfig
from rating.errors import RunError
from rating.stats.agreement import cohens_kappa, plurality
from rating.stats.estimates import Estimate, rate_estimate
from rating.store.environments import make_environment
from rating.store.records import SeatOutcome

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GAME = "undercover_v0"
GAMES, JUDGE = "games", "judge"
GUESSER = "benchmarks.llmarena.players:Guesser"
SCRIPTED = {
    GAME: (
        *("random", "similarity", "silent"),
        *(f"guesser={GUESSER}", f"unsuspecting={GUESSER}:undercover=false", f"careless={GUESSER}:error=0.5"),
    )
}
SCRIPTED_JUDGE = "benchmarks.llmarena.players:AttributeJudge"
NO_JUDGE = "none"
OWN, ALL_SEATS = "own", "all_seats"
QUESTION = "accurate"
NEEDED = {"role", "pair", "swapped", "guesses", "guesses_right", "guesses_strict"}
"""Required statistics of the game."""


@dataclass(frozen=True, kw_only=True)
class Options(RowOptions):
    """Options of the row."""

    matches: int = option(50, "matches of each policy as the undercover player", smoke=5)
    opponent: str = option("similarity", "the policy on the four other seats")
    clues: str = option(OWN, "whose clues are judged: own, or all_seats of the matches of a policy")
    judge: str = option(SCRIPTED_JUDGE, "the policy that judges every clue, e.g. openai:MODEL; none for no judge")
    sheet: tuple[str, ...] = option((), "annotation sheets that were filled in, one for each annotator")


@dataclass(frozen=True)
class Modelling:
    """Data of one policy.

    Attributes:
        seats: its seat as the undercover player, by finished match.
        clues: the counted clues.
        void: number of its unfinished matches.
    """

    seats: Mapping[int, SeatOutcome]
    clues: list[Clue] = field(default_factory=list)
    void: int = 0


def plan(options: Options) -> dict[str, RunConfig]:
    """Returns the games; checks the judge and the sheets before play."""
    check_choice("clues", options.clues, (OWN, ALL_SEATS))
    paths = [Path(sheet).resolve() for sheet in options.sheet]
    for path in paths:
        if paths.count(path) > 1:
            raise OptionError(f"sheet: expected different files, got {path} twice")
        if not path.is_file():
            raise OptionError(f"sheet: expected a file, but there is none: {path}")
    if _scripted_judge_scores(options) and not (options.scripted_judges or options.run):
        raise OptionError(
            f"judge: the scripted judge scores the clues of {', '.join(options.models())}, whose words it does not know; name a"
            f" model with --judge, leave it out with --judge {NO_JUDGE}, or allow it with --scripted-judges"
        )
    if options.judge != NO_JUDGE:
        _judging(options, {}).check(options.session())
    game = EnvironmentConfig(
        name=GAME,
        scheme="field",
        opponent=options.opponent,
        options={"ask_guess": True, "language": options.language},
    )
    return {GAMES: plan_run(options, [game], stop={"matches": options.matches}, scripted=SCRIPTED)}


def _scripted_judge_scores(options: Options) -> bool:
    """Whether the scripted judge judges clues of models."""
    return options.judge == SCRIPTED_JUDGE and bool(options.models())


def ask(runs: Mapping[str, PlayedRun], options: Options) -> list[Job[Description]]:
    """Returns the job that judges the clues of the games."""
    items = _items(_collect(runs[GAMES], options), options.seed)
    return [_judging(options, items)] if items and options.judge != NO_JUDGE else []


def _judging(options: Options, items: Items) -> Job[Description]:
    cases = [Description(item, word, clue, options.language) for item, (word, clue) in items.items()]
    judge = PolicyConfig(spec=options.judge, name="attributes" if options.judge == SCRIPTED_JUDGE else "")
    return Job(JUDGE, JUDGE_SEAT, [judge], cases, options.seed)


def measure(runs: Played, options: Options) -> Result:
    """Returns rates of guesses, the accuracy of descriptions, and the agreement of the raters."""
    seen = _collect(runs[GAMES], options)
    items = _items(seen, options.seed)
    asked = runs.asked.get(JUDGE)
    judges: dict[str, Verdicts] = {
        f"judge {judge}": judged(answers) for judge, answers in (asked.answers.items() if asked else ())
    }
    annotators: dict[str, Verdicts] = {
        name: read_sheet(path, QUESTION, YES_NO, items) for name, path in _named(options.sheet).items()
    }
    people = _together(annotators, items)
    chosen = people or judges
    published = load_published("benchmarks.llmarena")["T3_undercover"]
    verdicts = next(iter(chosen.values()), None)
    measured: dict[str, Sequence[Cell]] = {
        policy: [
            None if verdicts is None else percent(accuracy(modelling.clues, verdicts)),
            *(percent(by_record(modelling, rate)) for rate in RATES),
        ]
        for policy, modelling in seen.items()
    }
    names = ("description accuracy, %", *(f"guesses with {what} right, %" for what in RATES.values()))
    table = Table(
        "opponent-modelling",
        "descriptions of the own word and guesses of the others', as the undercover player",
        [*paired_columns(names[:1]), *paired_columns(names[1:], 1)[1:]],
        beside(published.rows, measured, options.published_as()),
        [
            f"measured accuracy: {next(iter(chosen), 'not judged yet: fill in the sheet, or name a judge')}",
            "guesses: of the records that came to a vote, those in which some vote came with a right guess",
            f"published: {published.source}",
            *published.notes,
        ],
    )
    return Result(
        [table, guess_table(seen), description_table(seen, {**judges, **people}), agreement_table(judges | annotators)],
        _pictures(seen, verdicts),
        _notes(runs[GAMES], options, items),
        sheets={f"sheet-{items_mark(items)}.csv": write_sheet(items, ("word", "clue"), QUESTION)} if items else {},
    )


def _pictures(seen: Mapping[str, Modelling], verdicts: Verdicts | None) -> dict[str, "Figure"]:
    """Draws each known rate."""
    rates = {
        (name, f"records in which a vote came with {what} right, %, with 95 % interval"): {
            policy: by_record(modelling, rate) for policy, modelling in seen.items()
        }
        for name, (rate, what) in zip(("guesses", "guesses-strict"), RATES.items(), strict=True)
    }
    if verdicts is not None:
        rates["descriptions", "clues that describe the word correctly, %, with 95 % interval"] = {
            policy: accuracy(modelling.clues, verdicts) for policy, modelling in seen.items()
        }
    return {
        name: estimates({policy: percent(value) for policy, value in values.items()}, label)
        for (name, label), values in rates.items()
        if any(values.values())
    }


def _notes(run: PlayedRun, options: Options, items: Items) -> list[str]:
    whose = "the policy under test"
    if options.clues == ALL_SEATS:
        whose = f"all five seats of its matches, four of which are {field_opponent(run, GAME)}"
    notes = []
    if _scripted_judge_scores(options):
        notes.append(
            f"warning: a scripted judge scored clues of {', '.join(options.models())}: the accuracy says nothing"
        )
    notes.append(f"judged are the clues of {whose}: {len(items)} different ones, each once")
    if items:
        notes.append(
            f"for people as judges: copies of sheet-{items_mark(items)}.csv with yes or no in the column {QUESTION}, which are"
            " then named with --sheet"
        )
    return notes


def _named(sheets: Sequence[str]) -> dict[str, Path]:
    """Returns the annotation sheets by display name: the file name, with a number if it is not unique."""
    paths = [Path(sheet) for sheet in sheets]
    stems = [path.stem for path in paths]
    return {
        f"sheet {stem}" if stems.count(stem) == 1 else f"sheet {stem} ({number})": path
        for number, (stem, path) in enumerate(zip(stems, paths, strict=True), start=1)
    }


def _together(annotators: Mapping[str, Verdicts], items: Items) -> dict[str, Verdicts]:
    """Returns the annotators' majority verdicts, under their joint name."""
    if len(annotators) < 2:
        return dict(annotators)
    given = {item: [verdicts[item] for verdicts in annotators.values()] for item in items}
    majority = {
        item: plurality(Counter(label for label in labels if label is not None)) for item, labels in given.items()
    }
    return {f"majority of {', '.join(annotators)}": majority}


# Collecting clues.


def _collect(run: PlayedRun, options: Options) -> dict[str, Modelling]:
    """Returns the data of every policy."""
    env = make_environment(GAME, run.config.options(GAME))
    pairs = env.unwrapped.game.pairs
    env.close()
    cases = field_cases(run, GAME)
    policies = {case.outcome.number: policy for policy, own in cases.items() for case in own}
    seen = {
        policy: Modelling(
            seats={case.outcome.number: case.seat for case in own if case.is_finished},
            void=sum(not case.is_finished for case in own),
        )
        for policy, own in cases.items()
    }
    for record in run.records(GAME):
        number = record.match.number
        modelling = seen[policies[number]]
        assert record.outcome is not None  # it is finished
        if any(NEEDED - seat.statistics.keys() for seat in record.outcome.seats):
            raise RunError(f"{run.directory}: match {number} of {GAME}: expected {', '.join(sorted(NEEDED))}")
        speakers = [modelling.seats[number]] if options.clues == OWN else record.outcome.seats
        modelling.clues.extend(clues_of(record, speakers, pairs))
    return seen


def _items(seen: Mapping[str, Modelling], seed: int) -> Items:
    return to_judge((clue for modelling in seen.values() for clue in modelling.clues), seed)


# Tables.

RATES = {"guesses_right": "at least one word", "guesses_strict": "all words"}
"""Title of each vote statistic, by its name."""


def by_record(modelling: Modelling, statistic: str) -> Estimate | None:
    """Returns the share of records with a right guess in any vote, among records with a vote."""
    voted = [seat for seat in modelling.seats.values() if seat.statistics["guesses"]]
    return rate_estimate(sum(seat.statistics[statistic] > 0 for seat in voted), len(voted))


def by_vote(modelling: Modelling, statistic: str) -> Estimate | None:
    """Returns the share of votes with a right guess, clustered by match."""
    return rate_of_counts(
        (int(seat.statistics[statistic]), int(seat.statistics["guesses"]), number)
        for number, seat in modelling.seats.items()
    )


def guess_table(seen: Mapping[str, Modelling]) -> Table:
    """Returns the rates of guesses by record and by vote."""
    return Table.of(
        "guesses",
        "guesses of the others' words by the undercover player",
        [
            {
                Column("player"): policy,
                Column("records"): len(modelling.seats),
                Column("void"): modelling.void,
                **{
                    Column(f"{what} right, % of {cases}", MEASURED, 1): percent(share(modelling, statistic))
                    for cases, share in (("records", by_record), ("votes", by_vote))
                    for statistic, what in RATES.items()
                },
            }
            for policy, modelling in seen.items()
        ],
        [
            "a vote without a guess, or one that was played for a player who gave none, is a vote without a right guess",
            "void matches, in which a provider failed, are no records",
        ],
    )


def description_table(seen: Mapping[str, Modelling], sources: Mapping[str, Verdicts]) -> Table:
    """Returns the accuracy of descriptions by every judge and annotator."""
    rows: list[Cells] = []
    for policy, modelling in seen.items():
        clues = modelling.clues
        row: Cells = {
            Column("player"): policy,
            Column("clues"): len(clues),
            Column("blank clues"): sum(clue.is_blank for clue in clues),
        }
        for name, verdicts in sources.items():
            undecided = sum(not clue.is_blank and verdicts.get(clue.item) is None for clue in clues)
            row[Column(f"accuracy, %, {name}", MEASURED, 1)] = percent(accuracy(clues, verdicts))
            row[Column(f"undecided, {name}")] = undecided
        rows.append(row)
    return Table.of(
        "descriptions",
        "clues that describe the speaker's own word correctly",
        rows,
        [
            "a blank clue describes nothing and counts as wrong",
            "undecided clues, by a tie of the annotators or by a judge who gave no verdict, are left out of the accuracy",
            "intervals are clustered by match; that a judge may be wrong is not in them",
        ],
    )


def agreement_table(raters: Mapping[str, Verdicts]) -> Table:
    """Returns Cohen's kappa of every pair of raters."""
    rows: list[list[Cell]] = []
    for first, second in itertools.combinations(raters, 2):
        items = [item for item in raters[first] if item in raters[second]]
        found = cohens_kappa([raters[first][item] for item in items], [raters[second][item] for item in items])
        rows.append(
            [f"{first} and {second}", found.n, percent(found.observed), found.kappa, kappa_remark([found], "items")]
        )
    return Table(
        "agreement",
        "agreement of those who judged the descriptions",
        [
            Column("pair"),
            Column("items that both judged"),
            Column("same verdict, %", MEASURED, 1),
            Column("Cohen's kappa", MEASURED),
            Column("remark"),
        ],
        rows,
        [] if rows else ["one judge or none: there is nobody to agree with"],
    )


def precision(options: Options) -> str:
    """Returns the planned number of cases."""
    clues = 2 if options.clues == OWN else 9
    judged = f"; then a judge reads every different clue, at most {clues * options.matches} of each policy"
    return (
        f"n = {options.matches} records of each policy: {rate_precision(options.matches)}"
        f"{'' if options.judge == NO_JUDGE else judged}"
    )


ROW = Row(
    title="how well players describe their own word and guess the others' at undercover",
    source="LLMArena, Table 3",
    options=Options,
    plan=plan,
    ask=ask,
    measure=measure,
    precision=precision,
    shows=(
        "It shows how often the undercover player finds out what the others' word is, and how often what it says of its own word"
        " is true."
    ),
    does_not_show=(
        "It does not show who wins: a player may describe its word well and be found out. The scripted players make clues from a"
        " table of attributes that has nothing to do with the world, which their judge knows; guesser, unsuspecting and careless"
        " know the list of word pairs. So guesser and unsuspecting have 100 % by construction, and careless is wrong in half of"
        " its clues and guessed words. The clues of a model are for people or for a model to judge."
    ),
)
