"""Self-preference of examiners: advantage on their own questions (Auto-Arena, arXiv 2405.20267v4, appendix E).

The same policies debate questions of two examiners, every pair each question with the seats exchanged. An examiner has an
advantage if it does better on its own questions than on the other examiner's, and the others do not. The score distributions on
both sets are compared by the Kolmogorov-Smirnov test, the frequencies of wins by Fisher's exact test.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from benchmarks.auto_arena.pool import DEBATE, length_options, scripted
from benchmarks.auto_arena.question_stage import PUBLIC
from benchmarks.experiments.pictures import estimates, plain
from benchmarks.experiments.pool import plan_run
from benchmarks.experiments.precision import rate_precision
from benchmarks.experiments.proportions import unpaired_change
from benchmarks.experiments.row import Result, Row, RowOptions
from benchmarks.experiments.runs import PlayedRun
from benchmarks.experiments.seats import statistic, unfinished
from benchmarks.experiments.tables import MEASURED, Cell, Column, Table, percent
from benchmarks.options import option
from llmarena_envs.core.options import OptionError, check_int
from llmarena_envs.debate.questions import DOMAINS, load_questions
from llmarena_envs.debate.questions.files import BUILTIN, first_of_each_domain
from rating.config.run_file import RunConfig
from rating.config.run_tables import EnvironmentConfig
from rating.errors import RunError
from rating.stats.estimates import Estimate, bounded_mean, mean_estimate
from rating.stats.results import rated_seats
from rating.stats.simultaneous import holm
from rating.store.records import FINISHED, Outcome

RUNS = ("first", "second")
"""Names of the runs on the questions of the two examiners."""

SCRIPTED_JUDGES = ("honest:noise=4",)
STANDARD_JUDGES = 3


@dataclass(frozen=True, kw_only=True)
class Options(RowOptions):
    """Options of the row.

    Raises:
        OptionError: if an option has no valid value.
    """

    examiner: tuple[str, ...] = option(
        (),
        "two of POLICY=FILE: who set the questions of a file (default: parts of the shipped ones, as if by two players)",
    )
    players: int = option(4, "scripted debaters", smoke=2)
    chosen: int = option(5, "questions of each domain that are used: the first ones of a file", smoke=1)
    judge: tuple[str, ...] = option(
        (), f"policies that judge every battle (default: {STANDARD_JUDGES} times {SCRIPTED_JUDGES[0]})"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_int("players", self.players, 2, 18)
        check_int("chosen", self.chosen, 1, 100)
        if len(self.judge) > 9:
            raise OptionError(f"judge: expected at most 9 policies, got {len(self.judge)}")


class Set(NamedTuple):
    """The questions of one examiner.

    Attributes:
        examiner: the author, a policy by name.
        source: their file, or ``builtin``.
        numbers: indices of the used questions.
    """

    examiner: str
    source: str
    numbers: Sequence[int]


class Score(NamedTuple):
    """A player's score in a match.

    Attributes:
        question: number of the question.
        votes: its share of the committee's votes, a tie being half a vote, 0 to 1.
        won: whether it won.
    """

    question: int
    votes: float
    won: bool


Scores = Mapping[str, Mapping[str, Sequence[Score]]]
"""Scores by examiner, then by player."""


def question_sets(options: Options) -> tuple[Set, Set]:
    """Returns the questions of both examiners.

    Raises:
        OptionError: if there are not exactly two examiners, or a file cannot be read.
    """
    if options.examiner:
        pairs = [item.rpartition("=")[::2] for item in options.examiner]  # options of a policy contain = too
        if len({name for name, _ in pairs}) != 2 or len(pairs) != 2 or not all(name and file for name, file in pairs):
            raise OptionError(f"examiner: expected two of POLICY=FILE, got {' '.join(options.examiner)!r:.200}")
        found = [
            Set(name, str(Path(file).resolve()), first_of_each_domain(load_questions(file), options.chosen))
            for name, file in pairs
        ]
        return found[0], found[1]
    names = [entry.partition("=")[0] for entry in scripted(options.players)[DEBATE]]
    questions = load_questions(BUILTIN, options.language)
    fewest = min(Counter(question.domain for question in questions).values())
    each = min(options.chosen, fewest // 2)  # equally many for both
    first = first_of_each_domain(questions, each)
    second = [number for number in first_of_each_domain(questions, 2 * each) if number not in set(first)]
    return Set(names[0], BUILTIN, first), Set(names[-1], BUILTIN, second)


def plan(options: Options) -> dict[str, RunConfig]:
    """Returns a run on the questions of each examiner."""
    judges = options.judge or SCRIPTED_JUDGES
    runs = {}
    for index, (name, own) in enumerate(zip(RUNS, question_sets(options), strict=True)):
        debate = EnvironmentConfig(
            name=DEBATE,
            scheme="mean_reward",
            options={
                "questions": own.source,
                "language": options.language,
                **length_options(options),
                "n_judges": len(options.judge) or STANDARD_JUDGES,
            },
            by_deal={"number": list(own.numbers)},
            staff={"judge": list(judges)},
        )
        config = plan_run(options, [debate], scripted=scripted(options.players), stop={"matches": 1})
        matches = 2 * max(1, len(config.pool(DEBATE)) - 1) * len(own.numbers)
        stop = config.stop.model_copy(update={"matches": matches, "max_matches": max(400, matches)})
        # Separate seeds: with a common seed, chance effects on both sets would be the same, and no evidence.
        runs[name] = config.model_copy(update={"stop": stop, "seed": options.seed + index})
    return runs


def measure(runs: Mapping[str, PlayedRun], options: Options) -> Result:
    """Returns every player's scores on both sets, and the examiners' advantage on their own."""
    asked = question_sets(options)
    outcomes = {own.examiner: runs[name].outcomes(DEBATE) for own, name in zip(asked, RUNS, strict=True)}
    by_examiner = {examiner: scores(own) for examiner, own in outcomes.items()}
    first, second = by_examiner.values()
    players = [policy for policy in first if policy in second]
    if not players:
        raise RunError(
            f"{runs[RUNS[0]].directory.parent}: expected debates of the same players on both sets of questions"
        )
    notes = [f"questions of {own.examiner}: {len(own.numbers)} of {own.source}" for own in asked]
    if not options.examiner:
        notes += ["the questions come with the package: no player wrote them, so none should gain on its own", PUBLIC]
    notes += [f"{examiner} did not debate" for examiner in by_examiner if examiner not in players]
    notes += [f"questions of {examiner}: {note}" for examiner, own in outcomes.items() for note in unfinished(own)]
    return Result(
        [player_table(players, by_examiner), gain_table(players, by_examiner)],
        {
            "votes": estimates(
                {
                    f"{plain(policy, 24)}, questions of {plain(examiner, 24)}": percent(votes(own[policy]))
                    for policy in players
                    for examiner, own in by_examiner.items()
                },
                "share of the committee's votes, %, with 95 % interval over questions",
            )
        },
        notes,
    )


def scores(outcomes: Sequence[Outcome]) -> dict[str, list[Score]]:
    """Returns every player's scores in its matches with a result, by policy."""
    found: dict[str, list[Score]] = {}
    for outcome in outcomes:
        seats = rated_seats(outcome)
        given = len(outcome.seats) - len(seats) - int(statistic(seats[0], "abstentions"))
        if outcome.status != FINISHED or any(seat.forfeit for seat in outcome.seats) or not given:
            continue
        own = [int(statistic(seat, "votes_final")) for seat in seats]
        for seat, mine in zip(seats, own, strict=True):
            share_of_votes = (mine + (given - sum(own)) / 2) / given
            found.setdefault(seat.policy, []).append(
                Score(int(statistic(seat, "question")), share_of_votes, seat.reward > 0)
            )
    return dict(sorted(found.items()))


def votes(own: Sequence[Score]) -> Estimate | None:
    """Returns the mean share of votes, clustered by question."""
    return mean_estimate([score.votes for score in own], [score.question for score in own], scale=(0, 1))


def wins(own: Sequence[Score]) -> Estimate | None:
    """Returns the share of matches won, clustered by question."""
    return bounded_mean([score.won for score in own], [score.question for score in own])


def by_question(own: Sequence[Score]) -> list[float]:
    """Returns the mean share of votes on each question."""
    found: dict[int, list[float]] = {}
    for score in own:
        found.setdefault(score.question, []).append(score.votes)
    return [sum(values) / len(values) for _, values in sorted(found.items())]


def kolmogorov_smirnov(first: Sequence[Score], second: Sequence[Score]) -> tuple[float, float]:
    """Returns the maximum distance between the distributions of scores by question, and its p-value."""
    from scipy import stats  # slow to import

    result = stats.ks_2samp(by_question(first), by_question(second))
    return float(result.statistic), float(result.pvalue)


def fisher(first: Sequence[Score], second: Sequence[Score]) -> float:
    """Returns the p-value of a difference in the frequency of wins between both sets."""
    from scipy import stats  # slow to import

    counts = [[won := sum(score.won for score in own), len(own) - won] for own in (first, second)]
    return float(stats.fisher_exact(counts).pvalue)


def player_table(players: Sequence[str], by_examiner: Scores) -> Table:
    """Returns every player's scores on the questions of both examiners."""
    return Table.of(
        "players",
        "every player on the questions of both examiners",
        [
            {
                Column("player"): policy,
                Column("is an examiner"): "yes" if policy in by_examiner else "no",
                **{
                    Column(f"votes on questions of {examiner}, %", MEASURED, 1): percent(votes(own[policy]))
                    for examiner, own in by_examiner.items()
                },
                **{
                    Column(f"wins on questions of {examiner}, %", MEASURED, 1): percent(wins(own[policy]))
                    for examiner, own in by_examiner.items()
                },
            }
            for policy in players
        ],
        [
            "votes: share of the committee's last votes, a tie being half a vote; n counts matches, intervals are clustered by"
            " question",
            "a match without a vote has no score",
        ],
    )


def gain_table(players: Sequence[str], by_examiner: Scores) -> Table:
    """Returns the advantage of examiners among the players on their own questions, over the other examiner's."""
    pairs = {}
    for examiner, other in (list(by_examiner), list(by_examiner)[::-1]):
        if examiner in players:
            pairs[examiner] = by_examiner[examiner][examiner], by_examiner[other][examiner]
    distances = [kolmogorov_smirnov(*pair) for pair in pairs.values()]
    chances = [fisher(*pair) for pair in pairs.values()]
    tests = zip(distances, holm([p for _, p in distances]), chances, holm(chances), strict=True)
    columns = (
        Column("examiner"),
        Column("votes on its own less those on the other's, points", MEASURED, 1),
        Column("wins on its own less those on the other's, points", MEASURED, 1),
        Column("own questions", MEASURED),
        Column("other questions", MEASURED),
        Column("KS distance of votes by question", MEASURED, 3),
        Column("p (KS)", MEASURED, 4),
        Column("p (KS), corrected", MEASURED, 4),
        Column("p (Fisher, wins)", MEASURED, 4),
        Column("p (Fisher, wins), corrected", MEASURED, 4),
    )
    rows: list[list[Cell]] = [
        [
            examiner,
            percent(_gain(votes(mine), votes(theirs))),
            percent(_gain(wins(mine), wins(theirs))),
            len(by_question(mine)),
            len(by_question(theirs)),
            *distance,
            corrected,
            chance,
            corrected_chance,
        ]
        for (examiner, (mine, theirs)), (distance, corrected, chance, corrected_chance) in zip(
            pairs.items(), tests, strict=True
        )
    ]
    return Table(
        "gain",
        "what examiners gain on their own questions",
        columns,
        rows,
        [
            "corrected: by Holm's method for both examiners; a small p says that the sets differ for this player, not why",
            "Fisher's test takes matches on the same question for independent ones, so its p may be too small",
        ],
    )


def _gain(mine: Estimate | None, other: Estimate | None) -> Estimate | None:
    return None if mine is None or other is None else unpaired_change(other, mine)


def precision(options: Options) -> str:
    """Returns the number of matches."""
    sizes = [len(own.numbers) for own in question_sets(options)]
    others = max(1, options.players - 1)
    return (
        f"n = {2 * others * min(sizes)} matches of each scripted player on each set, on {sizes[0]} and {sizes[1]} questions of"
        f" {len(DOMAINS)} domains: over questions, {rate_precision(min(sizes))}"
    )


ROW = Row(
    title="self-enhancement of examiners: do players do better on questions of their own?",
    source="Auto-Arena (arXiv 2405.20267v4), appendix E",
    options=Options,
    plan=plan,
    measure=measure,
    precision=precision,
    shows="It shows whether an examiner gains on its own questions over those of another examiner.",
    does_not_show=(
        "It does not show why: sets may differ in difficulty for everybody, which the other players' figures tell. Scripted"
        " debaters do not read the question, so nobody gains among them but by chance."
    ),
)
