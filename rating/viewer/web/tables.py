"""Contents of the board besides the matches: the page of the report, made again only where something has changed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rating.config.run_file import RunConfig
from rating.play.run import Run
from rating.schemes.leaderboard import Leaderboard
from rating.schemes.summary import summarise
from rating.store.records import Outcome
from rating.store.state import RunState
from rating.viewer.report.contents import EMPTY, Contents, leaderboard_parts, run_contents
from rating.viewer.report.costs import Spending, costs
from rating.viewer.report.sections import Section

if TYPE_CHECKING:
    from rating.store.store import Store


@dataclass(frozen=True)
class Tables:
    """Contents of the board besides the matches.

    Attributes:
        contents: contents of the page.
        expected: total matches of the schedule, by environment; ``None`` if it depends on the results.
    """

    contents: Contents = EMPTY
    expected: Mapping[str, int | None] = field(default_factory=dict)


@dataclass(frozen=True)
class _Made:
    """A leaderboard with its sections and outcomes."""

    outcomes: Sequence[Outcome]
    board: Leaderboard
    sections: Sequence[Section]


class TablesOfRun:
    """Makes the tables of a run incrementally.

    Reuses unchanged leaderboards and reads each logged call once.

    Args:
        title: name of the run.
    """

    def __init__(self, title: str) -> None:
        self._title = title
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
        store: "Store",
    ) -> Tables:
        """Returns the tables of a run.

        Args:
            run: the run.
            outcomes: outcomes by environment, ordered by match number.
            state: recorded state of the run.
            statuses: match statuses by id.
            store: record of the run.
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
        spent = costs(self._spending(run.config, store), statuses, everything, boards)
        summary = summarise(boards, everything) if len(boards) > 1 else None
        parts = [(one.board, one.sections) for one in made]
        seed = run.config.seed
        contents = run_contents(self._title, seed, parts, summary, outcomes, spent, state, store)
        return Tables(contents, self._expected)

    def _spending(self, config: RunConfig, store: "Store") -> Spending:
        """Returns the usage of all calls; reads only new calls."""
        calls = store.calls()
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
            sections = leaderboard_parts(board, outcomes, run.scheme(environment))
            known = self._made[environment] = _Made(outcomes, board, sections)
        return known
