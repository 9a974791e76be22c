"""The tournament of most rows of Auto-Arena (arXiv 2405.20267v1, section 4.1): options, plan and reading."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.auto_arena.pairings import planned_pairings
from benchmarks.auto_arena.pool import DEBATE, NAMES, initial_scores, late, length_options, scripted, strengths
from benchmarks.auto_arena.question_stage import QuestionOptions, question_notes, question_options
from benchmarks.auto_arena.ratings import Ratings, rate
from benchmarks.experiments.pool import plan_run
from benchmarks.experiments.runs import PlayedRun
from benchmarks.experiments.seats import unfinished
from benchmarks.options import option
from llmarena_envs.core.options import OptionError, check_int, nearest
from llmarena_envs.debate.questions import DOMAINS
from rating.config.run_file import RunConfig
from rating.config.run_tables import EnvironmentConfig
from rating.config.tournament_config import TournamentConfig, read_scores
from rating.errors import RunError
from rating.schemes.leaderboard import Leaderboard
from rating.schemes.tournament import Tournament
from rating.stats.bradley_terry import ELO_PER_NAT
from rating.stats.estimates import Z_95
from rating.store.records import FINISHED, Outcome

RUN = "tournament"
"""Name of the run of rows with a single run: the same for all, hence a row can be computed from the run of another."""


@dataclass(frozen=True, kw_only=True)
class TournamentOptions(QuestionOptions):
    """Options of a row that plays a tournament.

    Raises:
        OptionError: if an option has no valid value.
    """

    players: int = option(7, "scripted debaters, those who come late included")
    late: int = option(0, "how many of them are placed after the rounds, one after the other")
    newcomer: tuple[str, ...] = option((), "policies, by name, that are placed after the rounds, besides those")
    per_pairing: int = option(40, "battles of a pairing, each on a question of its own", smoke=2)
    prior: str = option("", "CSV file policy,score: the initial ranking, for policies that are not scripted")
    judge: tuple[str, ...] = option((), "policies that judge every battle (default: the best five who do not play)")
    min_judges: int = option(1, "judges that do where there are no five")
    scores: str = option("", "CSV file policy,score: the ranking to compare with (default: strengths of the scripted)")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_int("players", self.players, 2, len(NAMES))
        check_int("late", self.late, 0, self.players - 2)
        check_int("min_judges", self.min_judges, 1, 5)
        if self.examiner and self.per_pairing > len(DOMAINS) * self.count:
            raise OptionError(
                f"per_pairing: expected at most {len(DOMAINS) * self.count} battles on {self.count} questions of each of"
                f" {len(DOMAINS)} domains, got {self.per_pairing}"
            )


def plan_tournament(options: TournamentOptions, **settings: Any) -> RunConfig:
    """Returns a tournament of the scripted debaters and those named on the command line.

    Args:
        options: of the row.
        **settings: options of the environment.

    Raises:
        OptionError: if an option has no valid value, e.g. if no judge remains.
    """
    debaters = scripted(options.players)
    known = {} if options.alone else initial_scores(options.players, options.seed)
    if options.prior:
        known |= read_scores(Path(options.prior))
    newcomers = [
        *(late(options.players, options.late) if options.late and not options.alone else ()),
        *options.newcomer,
    ]
    environment = EnvironmentConfig(
        name=DEBATE,
        scheme="tournament",
        options={
            "language": options.language,
            **length_options(options),
            **({"n_judges": len(options.judge)} if options.judge else {}),
            **question_options(options, options.per_pairing),
            **settings,
        },
        staff={"judge": list(options.judge)} if options.judge else {},
        tournament=TournamentConfig(
            questions=options.per_pairing, prior=known, newcomers=newcomers, min_judges=options.min_judges
        ),
    )
    return plan_run(options, [environment], scripted=debaters, stop={})


def precision(options: TournamentOptions) -> str:
    """Returns the number of battles, and the expected precision of the ratings."""
    players = len(options.policy) + (0 if options.alone else options.players)
    late = len(options.newcomer) + (0 if options.alone else options.late)
    pairings = planned_pairings(players, late)
    battles = pairings * options.per_pairing
    half_width = Z_95 * 2 * ELO_PER_NAT / math.sqrt(2 * battles / players)
    return (
        f"n = {battles} battles of {players} players, {pairings} pairings of {options.per_pairing}: a rating is known to about"
        f" ± {half_width:.0f} Elo"
    )


class Played(NamedTuple):
    """A played tournament.

    Attributes:
        outcomes: of all battles, including void ones.
        board: its leaderboard.
        ratings: with ties as halves, ``half``, and left out, ``drop``; an entry without rated players is missing.
        prior: initial scores.
        notes: on its questions, its settings, and excluded battles.
    """

    outcomes: Sequence[Outcome]
    board: Leaderboard
    ratings: Mapping[str, Ratings]
    prior: Mapping[str, float]
    notes: Sequence[str]


def read_tournament(run: PlayedRun) -> Played:
    """Reads a tournament.

    Raises:
        OptionError: if debates were not played as a tournament.
        RunError: if no debate has a result.
    """
    scheme = run.run.scheme(DEBATE)
    if not isinstance(scheme, Tournament):
        raise OptionError(f"{run.directory}: {DEBATE}: expected scheme = 'tournament', got {scheme.name!r}")
    outcomes = scheme.own(run.outcomes(DEBATE))
    if not any(outcome.status == FINISHED for outcome in outcomes):
        raise RunError(f"{run.directory}: expected debates with a result, but there is none yet")
    found = {ties: rate(outcomes, ties) for ties in ("half", "drop")}
    environment = run.config.find_environment(DEBATE)
    rules = (environment.tournament or TournamentConfig()).rules()
    return Played(
        outcomes,
        scheme.board(outcomes, run.stop_reason(DEBATE)),
        {ties: own for ties, own in found.items() if own is not None},
        rules.prior,
        [*question_notes(run), *unfinished(outcomes), f"played with {_settings(rules.questions, environment.options)}"],
    )


def _settings(questions: int, options: Mapping[str, Any]) -> str:
    """Returns the debate settings of a run file as text."""
    said = [f"{name} = {value!r:.80}" for name, value in sorted(options.items()) if name != "questions"]
    return ", ".join([f"{questions} questions a pairing", *said])


class Scores(NamedTuple):
    """Another ranking.

    Attributes:
        values: by policy.
        title: description of the scores.
    """

    values: Mapping[str, float]
    title: str


def scores_to_compare(options: TournamentOptions, policies: Sequence[str]) -> Scores | None:
    """Returns the ranking named by the options, or the true strengths of the scripted debaters.

    Returns:
        ``None`` if it has fewer than two of the policies.

    Raises:
        OptionError: if a named file has fewer than two of them.
    """
    if not options.scores:
        known = strengths(options.players)
        values = {policy: known[policy] for policy in policies if policy in known}
        return Scores(values, "the true strengths of the scripted debaters, logits") if len(values) > 1 else None
    listed = read_scores(Path(options.scores))
    values = {policy: listed[policy] for policy in policies if policy in listed}
    if len(values) < 2:
        missing = next((policy for policy in policies if policy not in listed), "")
        raise OptionError(
            f"scores: expected scores of two policies of the run or more in {options.scores}, got {len(values)}; the policies are"
            f" {', '.join(policies)}{nearest(missing, listed)}"
        )
    return Scores(values, f"the ranking in {Path(options.scores).name}")
