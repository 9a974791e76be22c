"""The runner: plays every environment of a run until its schedule stops."""

import asyncio
import json
import logging
import math
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial

from agents import telemetry
from agents.errors import ProviderError
from agents.models.calls import Call
from agents.records import Turn
from llmarena_envs.catalogue import origin
from rating.config.budget import Halt, Halted
from rating.config.resumption import PHASES
from rating.config.run_file import RunConfig
from rating.errors import BudgetExceeded, ErrorBudgetExceeded, StoreError
from rating.play.absences import Absences
from rating.play.batches import play_batches
from rating.play.contests import SCHEDULED, STOPPED_AFTER, make_scheme, scheduled_matches
from rating.play.executors.choice import Executors
from rating.play.executors.executor import Executor, Played
from rating.play.fallback_watch import FallbackWatch
from rating.play.ledger import Ledger
from rating.play.players import Checked, Players
from rating.play.progress import EnvironmentProgress, Progress
from rating.play.session import ONE_GO, Session
from rating.play.trying import try_match
from rating.schedules.batches import Schedule
from rating.schedules.until import Phases
from rating.schemes.base import Scheme
from rating.store.bill import Bill
from rating.store.environments import make_environment
from rating.store.records import FINAL, PLAYED, VOID, Match, Outcome, void_outcome
from rating.store.store import Store

ENVIRONMENT: ContextVar[str] = ContextVar("ENVIRONMENT", default="")
"""Environment of the match of the current task, for log messages."""

MATCH: ContextVar[Match | None] = ContextVar("MATCH", default=None)
"""Match of the current task, for model calls."""

THEN = ", then "
"""Separator between the package versions of a run."""

_log = logging.getLogger(__name__)


@dataclass
class _Tally:
    """Match counts of one environment."""

    scheduled: int = 0
    finished: int = 0
    played: int = 0
    void: int = 0
    expected: int | None = None
    stopped: str = ""

    def count(self, outcome: Outcome, *, is_new: bool) -> None:
        self.finished += outcome.status in PLAYED
        self.played += is_new and outcome.status in PLAYED
        self.void += outcome.status == VOID


class Runner:
    """Plays a run. Failures are logged when they occur, with ``ENVIRONMENT`` set.

    Args:
        config: the run.
        store: records matches, and holds the ones from earlier sessions.
        session: settings of the session.
    """

    def __init__(
        self,
        config: RunConfig,
        store: Store,
        session: Session = ONE_GO,
    ) -> None:
        self._config = config
        self._max_errors = config.max_errors if session.max_errors is None else session.max_errors
        self._keep_going = config.keep_going or session.keep_going
        self._store = store
        self._players = Players(config, session, self._on_call, self._on_send)
        log = store.call_log()  # first: it counts calls lost when the run was killed
        self._ledger = Ledger(store.calls(), log, config.price_table())
        self._budget = config.budget.budget().replaced(session.max_cost, session.max_tokens, session.max_seconds)
        if self._budget.cost is not None:
            config.check_priced()
        self._halt = Halt()
        self._tallies = {item.name: _Tally() for item in config.environment}
        self._errors = 0
        self._deaths = 0
        self._absences = Absences(config, store)
        self._session = session
        self._preparation: asyncio.Task[None] | None = None
        self._schemes: dict[str, Scheme] = {}
        self._schedules: dict[str, Schedule] = {}
        self._recorded: dict[str, Outcome] = {}
        self._watch = FallbackWatch(config.ratings.max_fallbacks)
        self._executors = Executors(config, self._players, session)

    @property
    def bill(self) -> Bill:
        """Usage of model calls in all sessions so far."""
        return self._ledger.bill

    async def run(self) -> int:
        """Plays every environment until its schedule stops.

        Before the first match every model is asked once. A policy that fails permanently afterwards is suspended: its other
        matches are void without being played.

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
            for environment in self._config.environment:
                scheme = self._schemes[environment.name] = make_scheme(self._config, environment.name)
                self._schedules[environment.name] = scheme.schedule()
            async with asyncio.TaskGroup() as group:
                for environment in self._config.environment:
                    group.create_task(self._play_environment(environment.name))
        except BaseExceptionGroup as errors:
            error = _first(errors)
            if isinstance(error, BudgetExceeded) and (exceeded := self._budget.exceeded(self.bill)):
                error = exceeded  # including in-flight calls
            raise error from errors
        finally:
            clock.cancel()
            if self._deaths:
                _log.warning("workers that died in this session: %d; what they had played is not lost", self._deaths)
            await self._executors.close()
            await self._players.close()
        return sum(tally.void for tally in self._tallies.values())

    def progress(self) -> Progress:
        """Returns the progress of the run."""
        return Progress(
            tuple(
                EnvironmentProgress(
                    name, tally.finished, tally.played, tally.scheduled, tally.void, tally.expected, tally.stopped
                )
                for name, tally in self._tallies.items()
            ),
            self._errors,
            usage=self.bill.totals,
            in_flight=self._players.in_flight,
            limit=self._players.calls_allowed or None,
            suspended=self._absences.suspended,
            deaths=self._deaths,
        )

    async def _play_environment(self, environment: str) -> None:
        tally, end = self._tallies[environment], f"{SCHEDULED}{environment}"
        before = scheduled_matches(self._store.facts(), environment)
        schedule = self._schedules[environment]
        tally.expected = self._schemes[environment].expected_matches()
        self._keep_facts(environment)

        def enter(batch: Sequence[Match]) -> None:
            tally.scheduled += len(batch)
            if isinstance(schedule, Phases):
                self._store.set_fact(f"{PHASES}{environment}", json.dumps(schedule.starts))
            if before is not None and tally.scheduled > before:  # the schedule continues past its earlier end
                self._store.set_fact(end, "")
                self._store.set_fact(f"stopped:{environment}", "")
            self._recorded.update(self._store.add_matches(batch))

        first = self._schemes[environment].first_matches
        if self._keep_going or self._config.begun(environment) > 2 * first:  # a continued game is not paused again
            first = 0
        stop = await play_batches(
            schedule,
            self._outcome,
            enter,
            enough=lambda: 2 * self._executors.slots,  # one for each slot, and as many that wait
            first_matches=first,
            pause=partial(self._pauses, environment),
            on_stop=lambda known: self._store.set_fact(f"{STOPPED_AFTER}{environment}", str(known)),
        )
        self._store.set_fact(f"stopped:{environment}", stop.reason)
        # With a policy missing, the schedule can end earlier than before: then every played match counts.
        ends_here = not self._absences.suspended and not self._config.withdrawn(environment)
        self._store.set_fact(end, str(tally.scheduled) if ends_here else "")
        if stop.reason == VOID:
            missing = f": {', '.join(self._absences.suspended)} suspended" if self._absences.suspended else ""
            _log.error(
                "%s: pairing blocked by void matches%s: fix the failed policy, or remove it from the run file, then resume",
                environment,
                missing,
            )
        tally.stopped = stop.reason

    def _pauses(self, environment: str, outcomes: Sequence[Outcome]) -> bool:
        """Returns whether a game is paused after its first matches, and logs why."""
        reason = self._schemes[environment].no_information(outcomes)
        if reason:
            _log.error("%s is paused: %s; `llmarena resume DIR --keep-going` plays on", environment, reason)
        return bool(reason)

    def _keep_facts(self, environment: str) -> None:
        """Records facts common to all matches: the rules for each seat, and the sources of the environment and its data."""
        env = make_environment(environment, self._config.options(environment))
        env.reset(seed=0)
        rules = {agent: env.observe(agent)["rules"] for agent in env.possible_agents}
        self._store.set_fact(f"rules:{environment}", json.dumps(rules, ensure_ascii=False))
        sources = {source.name: source.description() for source in env.unwrapped.sources()}
        if sources:
            self._store.set_fact(f"sources:{environment}", json.dumps(sources, ensure_ascii=False))
        self._keep_distribution(environment)
        env.close()

    def _keep_distribution(self, environment: str) -> None:
        """Records package and version of a third-party environment; a resumed run can use a later one."""
        fact, distribution = f"distribution:{environment}", origin(environment)
        known = self._store.facts().get(fact, "")
        if distribution and distribution not in known.split(THEN):
            self._store.set_fact(fact, f"{known}{THEN if known else ''}{distribution}")

    async def _outcome(self, match: Match) -> Outcome:
        """Returns the recorded outcome of a match, or plays it."""
        tally = self._tallies[match.environment]
        known = self._recorded.pop(match.id, None)
        if known is not None and known.status in FINAL:
            tally.count(known, is_new=False)
            return known
        if reason := self._absences.withdrawn_from(match):
            return self._leave_void(match, reason)
        outcome = await self._halt.play(partial(self._play_in_turn, match))
        tally.count(outcome, is_new=True)
        return outcome

    async def _play_in_turn(self, match: Match) -> Outcome:
        """Plays a match in the next free slot, unless one of its policies is suspended."""
        await self._ready()
        if reason := self._absences.of(match):
            return self._leave_void(match, reason)
        executor = self._executors.of(match)
        async with executor.slots.hold(match.environment):
            return await self._play(match, executor)

    def _ready(self) -> asyncio.Task[None]:
        """Returns the preparation that every match waits for."""
        if self._preparation is None:
            self._preparation = asyncio.create_task(self._prepare())
        return self._preparation

    async def _prepare(self) -> None:
        """Checks that every model can be asked, and lifts earlier suspensions."""
        has_begun = any(status in PLAYED for status in self._store.statuses())
        checked = Checked(0, {})
        if not self._session.offline:
            checked = await self._players.check_models()
            self._halt.check()
        if checked.errors and (not has_begun or len(checked.errors) == checked.models):
            raise ProviderError(f"nothing was played, since {checked}")
        self._absences.begin()
        for name, error in sorted(checked.errors.items()):  # in a resumed run the others finish
            self._suspend(name, str(error))

    async def _play(self, match: Match, executor: Executor) -> Outcome:
        """Plays a match, retries it if a provider fails, and records it."""
        ENVIRONMENT.set(match.environment)
        MATCH.set(match)
        for _ in range(self._config.tries):
            self._halt.check()
            if reason := self._absences.of(match):
                return self._leave_void(match, reason)
            played = await try_match(
                self._store,
                executor,
                match,
                partial(self._take_turn, match),
                is_repeatable=self._players.is_repeatable(match),
            )
            self._deaths += played.deaths
            if played.outcome.status not in PLAYED:
                self._take_failure(match, played)
            if played.outcome.status != VOID or played.final:
                break
        return played.outcome

    def _take_turn(self, match: Match, turn: Turn) -> None:
        scheme = self._schemes[match.environment]
        if scheme.setting.environment.declaration.is_rated(turn.agent):
            policy = match.policies[scheme.agents(len(match.policies)).index(turn.agent)]
            if warning := self._watch.add(match.environment, policy, turn):
                _log.error("%s", warning)
        self._halt.check()

    def _on_send(self, call: Call) -> None:
        match = MATCH.get()
        try:
            self._ledger.begin(call, match, self._players.caller(call, match))
        except (OSError, StoreError) as error:
            self._end(error)
            raise Halted(str(error)) from error  # a call that cannot be logged is not sent

    def _on_call(self, call: Call) -> None:
        telemetry.record(call)
        match = MATCH.get()
        try:
            self._ledger.add(call, match, self._players.caller(call, match))
        except (OSError, StoreError) as error:  # a log with gaps is worse than none
            self._end(error)
        self._check_budget()

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
        self._halt.order(error)
        self._players.stop_calls(Halted(str(error)))
        if self._session.desk is not None:
            self._session.desk.close(Halted(str(error)))

    def _leave_void(self, match: Match, reason: str) -> Outcome:
        """Records a match as void without playing it, and returns its outcome."""
        outcome = void_outcome(match, VOID)
        self._store.finish(match, outcome, error=reason, is_try=False)
        return outcome

    def _take_failure(self, match: Match, played: Played) -> None:
        """Counts a failure, and suspends a policy that fails permanently; its later failures do not count."""
        if played.culprit in self._absences.suspended:
            return
        if played.fatal and played.culprit:
            self._suspend(played.culprit, played.error)
        self._count_error(match, played)

    def _suspend(self, policy: str, error: str) -> None:
        self._absences.suspend(policy, error)
        for schedule in self._schedules.values():
            schedule.leave_out(policy)
        _log.error("%s is suspended, the others go on: %s", policy, self._absences.suspended[policy])

    def _count_error(self, match: Match, played: Played) -> None:
        self._errors += 1
        lines = played.error.strip().splitlines() or [""]
        what, reason = ("void", lines[0]) if played.outcome.status == VOID else ("lost to a bug", lines[-1])
        _log.warning("match %d is %s: %s", match.number, what, reason)
        if self._errors > self._max_errors:
            raise ErrorBudgetExceeded(
                f"{self._errors} failures of providers or environments, more than max_errors = {self._max_errors};"
                f" the last one, in match {match.id} of {match.environment}: {played.error.strip()}"
            )


def _first(error: BaseException) -> BaseException:
    """Returns the first error inside nested groups."""
    return _first(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else error
