"""Tables of the board, as ``rate`` prints them: leaderboards with plots, failures and costs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rating.config.run_file import RunConfig
from rating.play.run import Run, suspensions
from rating.schemes import caveats
from rating.schemes.figures import Figure, Intervals
from rating.schemes.leaderboard import Leaderboard
from rating.schemes.summary import Summary, summarise
from rating.store.records import Outcome
from rating.store.state import RunState
from rating.viewer.answer import answers
from rating.viewer.report import figures
from rating.viewer.report.costs import Costs, Spending, cost_sheet, costs, match_cells, policy_cells
from rating.viewer.report.failures import failure_sheet
from rating.viewer.report.tables import Sheet, sheet

if TYPE_CHECKING:
    from rating.store.call_log import Calls


@dataclass(frozen=True)
class Ratings:
    """The leaderboard of an environment, or the summary of all environments.

    Attributes:
        sheet: main columns.
        wide: all columns.
        plots: values with intervals, as SVG.
    """

    sheet: Sheet
    wide: Sheet
    plots: tuple[str, ...] = ()


@dataclass(frozen=True)
class Tables:
    """Contents of the board besides matches.

    Attributes:
        answers: which policy is best so far.
        ratings: leaderboard of each environment; with two or more, also the summary.
        failures: failures by policy; ``None`` without failures.
        costs: costs of models; ``None`` if no model was called.
        expected: total matches of the schedule, by environment; ``None`` if it depends on the results.
        match_costs: formatted cost of each match, by id.
    """

    answers: tuple[str, ...] = ()
    ratings: tuple[Ratings, ...] = ()
    failures: Sheet | None = None
    costs: Sheet | None = None
    expected: Mapping[str, int | None] = field(default_factory=dict)
    match_costs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Made:
    """A leaderboard with its plots and outcomes."""

    outcomes: Sequence[Outcome]
    board: Leaderboard
    plots: tuple[str, ...]


class TablesOfRun:
    """Computes the tables of a run incrementally.

    Reuses unchanged leaderboards and reads each logged call once.
    """

    def __init__(self) -> None:
        self._run: Run | None = None
        self._made: dict[str, _Made] = {}
        self._expected: dict[str, int | None] = {}
        self._basis: object = None
        self._spent: Spending | None = None

    def make(
        self,
        run: Run,
        outcomes: Mapping[str, Sequence[Outcome]],
        state: RunState,
        statuses: Mapping[str, str],
        calls: "Calls",
    ) -> Tables:
        """Returns the tables of a run.

        Args:
            run: the run.
            outcomes: outcomes by environment, ordered by match number.
            state: recorded state of the run.
            statuses: match statuses by id.
            calls: call log.
        """
        names = [item.name for item in run.config.environment]
        begun = [(run.phases(name), run.begun(name).starts) for name in names]
        basis = [run.config.model_dump(), state.facts, begun]
        if self._run is None or basis != self._basis:
            self._run, self._made, self._basis, self._spent = run, {}, basis, None
            self._expected = {name: scheme.expected_matches() for name, scheme in run.schemes().items()}
        known = self._run  # with its schemes
        made = [self._leaderboard(known, name, outcomes[name], state) for name in names if outcomes[name]]
        boards = [one.board for one in made]
        everything = [outcome for name in names for outcome in outcomes[name]]
        spent = costs(self._spending(run.config, calls), statuses, everything, boards)
        ratings = [_ratings(one.board, spent, one.plots) for one in made]
        tables: list[Leaderboard | Summary] = [*boards]
        if len(boards) > 1:
            summary = summarise(boards, everything)
            tables.append(summary)
            ratings.insert(0, Ratings(sheet(summary), sheet(summary, wide=True)))
        return Tables(
            tuple(answers(tables)),
            tuple(ratings),
            failure_sheet(everything, suspensions(state)),
            None if spent is None else cost_sheet(spent),
            self._expected,
            match_cells(spent),
        )

    def _spending(self, config: RunConfig, calls: "Calls") -> Spending:
        """Returns the usage of all calls; reads only new calls."""
        if self._spent is None:
            self._spent = Spending(calls, config.price_table())
        else:
            calls.go_on_from(self._spent.log)
            self._spent.log = calls
        self._spent.read()
        return self._spent

    def _leaderboard(self, run: Run, environment: str, outcomes: Sequence[Outcome], state: RunState) -> _Made:
        known = self._made.get(environment)
        if known is None or known.outcomes != outcomes:
            board = run.leaderboard(environment, outcomes, state)
            drawn = caveats.figures(board, outcomes, run.scheme(environment).figures)
            known = self._made[environment] = _Made(outcomes, board, _plots(environment, drawn))
        return known


def _ratings(board: Leaderboard, spent: Costs | None, plots: tuple[str, ...]) -> Ratings:
    spent_by = policy_cells(spent, board.environment)
    return Ratings(sheet(board, costs=spent_by), sheet(board, wide=True, costs=spent_by), plots)


def _plots(environment: str, drawn: Iterable[Figure]) -> tuple[str, ...]:
    return tuple(
        figures.intervals(figure, f"{environment}: {figure.label}") for figure in drawn if isinstance(figure, Intervals)
    )
