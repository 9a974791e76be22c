"""The runner: plays every environment of a run until its schedule stops."""

import asyncio
import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from agents import telemetry
from agents.models.calls import Call
from llmarena_envs.catalogue import origin
from rating.errors import BudgetExceeded, StoreError
from rating.play.attempts import MATCH, Halted, Matches
from rating.play.batches import play_batches
from rating.play.players import Players
from rating.play.run import Run
from rating.play.session import ONE_GO, Session
from rating.play.shares import Shares
from rating.prices import PriceTable
from rating.schedules.batches import Schedule
from rating.store.calls import Bill, LoggedCall, Usage
from rating.store.environments import make_environment
from rating.store.records import FINAL, PLAYED, VOID, Match, Outcome
from rating.store.state import RunState, StateWriter

if TYPE_CHECKING:
    from rating.store.store import Store


_log = logging.getLogger(__name__)


@dataclass
class EnvironmentProgress:
    """Progress of an environment.

    Attributes:
        name: of the environment.
        finished: finished matches.
        played: matches finished in this session.
        scheduled: matches scheduled so far.
        void: void matches.
        expected: total matches of the schedule, or ``None`` if it depends on outcomes.
        stopped: why the schedule has stopped, or an empty string.
    """

    name: str
    finished: int = 0
    played: int = 0
    scheduled: int = 0
    void: int = 0
    expected: int | None = None
    stopped: str = ""

    def count(self, outcome: Outcome, *, is_new: bool) -> None:
        """Counts an outcome, of this session or an earlier one."""
        self.finished += outcome.status in PLAYED
        self.played += is_new and outcome.status in PLAYED
        self.void += outcome.status == VOID


@dataclass(frozen=True)
class Progress:
    """Progress of a run, a snapshot taken when a display draws, to keep model calls free of this work.

    Attributes:
        environments: of each environment.
        errors: failures of providers and environments in this session.
        usage: of the calls of all sessions, by environment and policy.
        in_flight: in-flight calls.
        limit: current limit of the servers on concurrent calls; ``None`` if unknown.
        suspended: policies that failed permanently, with the reason.
        deaths: workers that died during a match in this session.
        budget: limit on the cost of the run; ``None`` for no limit.
    """

    environments: tuple[EnvironmentProgress, ...]
    errors: int = 0
    usage: Mapping[tuple[str, str], Usage] = field(default_factory=dict)
    in_flight: int = 0
    limit: int | None = None
    suspended: Mapping[str, str] = field(default_factory=dict)
    deaths: int = 0
    budget: float | None = None


class Runner:
    """Plays a run, and records matches and calls in its store, beside those of earlier sessions.

    Attributes:
        bill: usage of the model calls of all sessions.

    Raises:
        OptionError: if there is a budget on cost and a model has no price.
        RunError: if the logged calls of an earlier session cannot be read.
    """

    def __init__(self, run: Run, store: "Store", session: Session = ONE_GO) -> None:
        config = run.config
        self._run = run
        self._store = store
        self._state = StateWriter(store)
        self._keep_going = config.keep_going or session.keep_going
        self._queue = session.human_queue
        self._players = Players(config, session, self._on_call, self._on_send)
        self._matches = Matches(run, store, self._players, session, self._leave_out)
        self._calls = store.call_log()  # before the calls are read: it counts calls lost when the run was killed
        self.bill = _earlier_bill(config.price_table(), store)
        self._budget = config.budget.budget(session.max_cost, session.max_tokens, session.max_seconds)
        if self._budget.cost is not None:
            config.check_priced()
        self._shares = Shares(self._budget.cost, self.bill, [item.name for item in config.environment])
        self._tallies = {item.name: EnvironmentProgress(item.name) for item in config.environment}
        self._schedules: dict[str, Schedule] = {}
        self._recorded: dict[str, Outcome] = {}

    async def run(self) -> int:
        """Plays every environment until its schedule stops.

        Returns:
            Number of void matches; a resumed run plays them.

        Raises:
            BudgetExceeded: if a budget is used up.
            ErrorBudgetExceeded: if there are too many failures of providers or environments.
            ProviderError: if a model cannot be asked; nothing was played.
        """
        self._check_budget()
        clock = self._start_clock()
        try:
            self._schedules.update({name: scheme.schedule() for name, scheme in self._run.schemes().items()})
            async with asyncio.TaskGroup() as group:
                for environment in self._schedules:
                    group.create_task(self._play_environment(environment))
        except BaseExceptionGroup as errors:
            error = _first(errors)
            if isinstance(error, BudgetExceeded) and (exceeded := self._budget.exceeded(self.bill)):
                error = exceeded  # including in-flight calls
            raise error from errors
        finally:
            clock.cancel()
            await self._matches.close()
            await self._players.close()
        return sum(tally.void for tally in self._tallies.values())

    def progress(self) -> Progress:
        """Returns the progress of the run."""
        return Progress(
            tuple(map(replace, self._tallies.values())),
            self._matches.errors,
            usage=self.bill.totals,
            in_flight=self._players.in_flight,
            limit=self._players.calls_allowed or None,
            suspended=self._matches.suspended,
            deaths=self._matches.deaths,
            budget=self._budget.cost,
        )

    async def _play_environment(self, environment: str) -> None:
        tally, schedule, scheme = (
            self._tallies[environment],
            self._schedules[environment],
            self._run.scheme(environment),
        )
        before = RunState(self._store.facts()).schedule(environment).scheduled
        tally.expected = scheme.expected_matches()
        self._describe(environment)

        def enter(batch: Sequence[Match]) -> None:
            tally.scheduled += len(batch)
            if schedule.starts:
                self._state.set_starts(environment, schedule.starts)
            if before is not None and tally.scheduled > before:
                self._state.go_on(environment)
            self._recorded.update(self._store.add_matches(batch))

        def pauses(outcomes: Sequence[Outcome]) -> bool:
            reason = scheme.no_information(outcomes)
            if reason:
                _log.error("%s is paused: %s; `llmarena resume DIR --keep-going` plays on", environment, reason)
            return bool(reason)

        first = scheme.first_matches
        if self._keep_going or self._run.begun(environment).count > 2 * first:  # a continued game is not paused again
            first = 0
        stop = await play_batches(
            schedule,
            self._outcome,
            enter,
            enough=lambda: 2 * self._matches.executors.slots,  # one for each slot, and as many that wait
            first_matches=first,
            pause=pauses,
            on_stop=lambda outcomes: self._state.set_stopped_after(environment, outcomes),
        )
        suspended = self._matches.suspended
        # With a policy missing, the schedule can end earlier than before: then every played match counts.
        ends_here = not suspended and not self._run.withdrawn(environment)
        self._state.stop(environment, stop.reason, tally.scheduled if ends_here else None)
        if stop.reason == VOID:
            missing = f": {', '.join(suspended)} suspended" if suspended else ""
            _log.error(
                "%s: pairing blocked by void matches%s: fix the failed policy, or remove it from the run file, then resume",
                environment,
                missing,
            )
        tally.stopped = stop.reason
        self._shares.end(environment)

    def _describe(self, environment: str) -> None:
        """Records the rules for each seat, and the sources of the environment and its data."""
        env = make_environment(environment, self._run.config.options(environment))
        env.reset(seed=0)
        rules = {agent: env.observe(agent)["rules"] for agent in env.possible_agents}
        sources = {source.name: source.description() for source in env.unwrapped.sources()}
        env.close()
        self._state.describe(environment, rules, sources, origin(environment))

    async def _outcome(self, match: Match) -> Outcome:
        """Returns the recorded outcome of a match, or plays it."""
        tally = self._tallies[match.environment]
        known = self._recorded.pop(match.id, None)
        if known is not None and known.status in FINAL:
            tally.count(known, is_new=False)
            return known
        if (left := self._matches.leave_withdrawn(match)) is not None:
            return left
        await self._shares.turn(match.environment)
        outcome = await self._matches.play(match)
        tally.count(outcome, is_new=True)
        return outcome

    def _leave_out(self, policy: str) -> None:
        for schedule in self._schedules.values():
            schedule.leave_out(policy)

    def _on_send(self, call: Call) -> None:
        try:
            self._calls.begin(self._logged(call))
        except (OSError, StoreError) as error:
            self._end(error)
            raise Halted(str(error)) from error  # a call that cannot be logged is not sent

    def _on_call(self, call: Call) -> None:
        telemetry.record(call)
        entry = self._logged(call)
        self.bill.add(entry.environment, entry.policy, call, entry.time)
        self._shares.update()
        try:
            self._calls.write(entry)
        except (OSError, StoreError) as error:  # a log with gaps is worse than none
            self._end(error)
        self._check_budget()

    def _logged(self, call: Call) -> LoggedCall:
        """Returns the log entry of a call of the current match, with the current time."""
        match = MATCH.get()
        environment, match_id = (match.environment, match.id) if match else ("", "")
        return LoggedCall(datetime.now(UTC), environment, match_id, self._players.caller(call, match), call)

    def _check_budget(self) -> None:
        if exceeded := self._budget.exceeded(self.bill):
            self._end(exceeded)

    def _start_clock(self) -> asyncio.TimerHandle:
        """Starts the timer that ends the run at the time limit of the session."""
        seconds = self._budget.seconds
        error = BudgetExceeded(
            f"the time of this session is used up: {seconds or 0:g} s",
            {"--max-time": f"{2 * math.ceil(seconds or 0)}"},
        )
        return asyncio.get_running_loop().call_later(math.inf if seconds is None else seconds, self._end, error)

    def _end(self, error: Exception) -> None:
        """Lets no match, turn or call begin any more; in-flight turns finish."""
        self._matches.halt.order(error)
        self._shares.close()
        self._players.stop_calls(Halted(str(error)))
        if self._queue is not None:
            self._queue.close(Halted(str(error)))


def _earlier_bill(prices: PriceTable, store: "Store") -> Bill:
    """Returns the usage of the calls of all earlier sessions."""
    bill, calls = Bill(prices), store.calls()
    for entry in calls:
        bill.add(entry.environment, entry.policy, entry.call, entry.time)
    if calls.damage:
        _log.warning("%d calls are left out of the bill: %s", len(calls.damage), calls.damage[0])
    return bill


def _first(error: BaseException) -> BaseException:
    """Returns the first error inside nested groups."""
    return _first(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else error
