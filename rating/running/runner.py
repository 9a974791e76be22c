"""The runner: plays every environment of a run until its schedule stops."""

import asyncio
import json
import logging
import math
import os
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property, partial

from agents import telemetry
from agents.errors import ProviderError
from agents.models.calls import Call
from agents.models.preflight import check_models
from agents.records import Turn
from llmarena_envs.catalogue import make_environment, origin
from rating.accounting.bill import Bill
from rating.errors import BudgetExceeded, ErrorBudgetExceeded
from rating.records.match import Match
from rating.records.outcome import FINAL, PLAYED, VOID, Outcome
from rating.records.record import void_outcome
from rating.records.store import Store
from rating.running.absences import Absences
from rating.running.batches import play_batches
from rating.running.budget import Halt, Halted
from rating.running.contests import SCHEDULED, make_scheme, scheduled_matches
from rating.running.executors import AsyncExecutor, Executor, Played, ProcessExecutor
from rating.running.fallback_watch import FallbackWatch
from rating.running.ledger import Ledger
from rating.running.players import Players
from rating.running.progress import EnvironmentProgress, Progress, expected_matches
from rating.running.resumption import PHASES
from rating.running.run_file import RunConfig
from rating.running.session import ONE_GO, Session
from rating.running.slots import Slots
from rating.schedules.phases import Phases
from rating.schedules.schedule import Schedule
from rating.schemes.scheme import Scheme

ENVIRONMENT: ContextVar[str] = ContextVar("ENVIRONMENT", default="")
"""The environment of the match in whose task a message is logged."""

MATCH: ContextVar[Match | None] = ContextVar("MATCH", default=None)
"""The match in whose task a model is called."""

MATCHES_AT_DESK = 1_000
"""Matches at once that wait for people at a desk, so that none of them holds up those of the others."""

THEN = ", then "
"""Between the versions of a package with which a run was played."""

_log = logging.getLogger(__name__)


@dataclass
class _Tally:
    """Matches of one environment, counted as the schedule is gone through."""

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
    """Plays a run. Failures are logged as they come, with ``ENVIRONMENT`` set.

    Args:
        config: the run.
        store: where matches are recorded, and what was played before an interruption.
        session: what holds for this go at the run.
    """

    def __init__(
        self,
        config: RunConfig,
        store: Store,
        session: Session = ONE_GO,
    ) -> None:
        self._config = config
        self._max_errors = config.max_errors if session.max_errors is None else session.max_errors
        self._store = store
        self._players = Players(config, session, self._on_call)
        self._ledger = Ledger(store.path.parent, config.price_table())
        self._budget = config.budget.budget().replaced(session.max_cost, session.max_tokens, session.max_seconds)
        if self._budget.cost is not None:
            config.check_priced()
        self._halt = Halt()
        self._tallies = {item.name: _Tally() for item in config.environment}
        self._errors = 0
        self._absences = Absences(config, store)
        self._session = session
        self._preparation: asyncio.Task[None] | None = None
        self._schemes: dict[str, Scheme] = {}
        self._schedules: dict[str, Schedule] = {}
        self._watch = FallbackWatch(config.ratings.max_fallbacks)
        self._here = AsyncExecutor(config, self._players, self._slots(config.concurrency))
        self._people = AsyncExecutor(config, self._players, self._slots(1 if session.desk is None else MATCHES_AT_DESK))
        self._pool = ProcessExecutor(config, self._slots(config.workers or os.cpu_count() or 1))

    def _slots(self, count: int) -> Slots:
        return Slots(count, [item.name for item in self._config.environment])

    @cached_property
    def _by_model(self) -> dict[str, str]:
        return self._config.policies_by_model()

    @property
    def bill(self) -> Bill:
        """What the calls of models took, in all sessions so far."""
        return self._ledger.bill

    async def run(self) -> int:
        """Plays every environment to its end.

        Before the first match every model is asked once. A policy that fails for good afterwards is suspended: its other matches
        are void without being played, and nobody waits for it.

        Returns:
            How many matches are void; they are played when the run goes on.

        Raises:
            BudgetExceeded: if the run has taken as much as it may.
            ErrorBudgetExceeded: if too many providers or environments failed.
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
                error = BudgetExceeded(exceeded)  # with what was under way when the limit was reached
            raise error from errors
        finally:
            clock.cancel()
            await self._pool.close()
            await self._players.close()
            self._ledger.close()
        return sum(tally.void for tally in self._tallies.values())

    def progress(self) -> Progress:
        """Returns how far the run is."""
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
        )

    async def _play_environment(self, environment: str) -> None:
        tally, end = self._tallies[environment], f"{SCHEDULED}{environment}"
        before = scheduled_matches(self._store.facts(), environment)
        schedule = self._schedules[environment]
        tally.expected = expected_matches(self._schemes[environment])
        self._keep_facts(environment)

        def enter(batch: Sequence[Match]) -> None:
            tally.scheduled += len(batch)
            if isinstance(schedule, Phases):
                self._store.set_fact(f"{PHASES}{environment}", json.dumps(schedule.starts))
            if before is not None and tally.scheduled > before:  # the schedule goes on where it had ended before
                self._store.set_fact(end, "")
            for match in batch:
                self._store.add_match(match)

        # As many as find a slot, and as many again that wait for one.
        enough = 2 * sum(executor.slots.count for executor in (self._here, self._pool, self._people))
        stop = await play_batches(schedule, self._outcome, enter, enough=enough)
        self._store.set_fact(f"stopped:{environment}", stop.reason)
        # Without somebody for whom it had waited the schedule may end earlier than it had: everything played counts then.
        ends_here = not self._absences.suspended and not self._config.withdrawn(environment)
        self._store.set_fact(end, str(tally.scheduled) if ends_here else "")
        if stop.reason == VOID:
            missing = f": {', '.join(self._absences.suspended)} suspended" if self._absences.suspended else ""
            _log.error(
                "%s: nothing is paired on top of void matches%s; repair who failed and resume, or take it out of the run file",
                environment,
                missing,
            )
        tally.stopped = stop.reason

    def _keep_facts(self, environment: str) -> None:
        """Records what is the same in every match: what every seat is told, and where the environment and its data come from."""
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
        """Records of which package in which version another's environment is; a run may go on with a later one."""
        fact, distribution = f"distribution:{environment}", origin(environment)
        known = self._store.facts().get(fact, "")
        if distribution and distribution not in known.split(THEN):
            self._store.set_fact(fact, f"{known}{THEN if known else ''}{distribution}")

    async def _outcome(self, match: Match) -> Outcome:
        """Returns the outcome of a match that was played before, or plays it."""
        tally = self._tallies[match.environment]
        known = self._store.outcome(match)
        if known is not None and known.status in FINAL:
            tally.count(known, is_new=False)
            return known
        if reason := self._absences.withdrawn_from(match):
            return self._leave_void(match, reason)
        outcome = await self._halt.play(partial(self._play_in_turn, match))
        tally.count(outcome, is_new=True)
        return outcome

    async def _play_in_turn(self, match: Match) -> Outcome:
        """Plays a match when it finds a slot, unless somebody is missing."""
        await self._ready()
        if reason := self._absences.of(match):
            return self._leave_void(match, reason)
        executor = self._executor(match)
        async with executor.slots.hold(match.environment):
            return await self._play(match, executor)

    def _ready(self) -> asyncio.Task[None]:
        """Returns what every match waits for that is to be played."""
        if self._preparation is None:
            self._preparation = asyncio.create_task(self._prepare())
        return self._preparation

    async def _prepare(self) -> None:
        """Finds out whether every model can be asked, and lets everybody play again who was suspended before."""
        models = {} if self._session.offline else self._players.with_preflight()
        has_begun = any(status in PLAYED for status in self._store.statuses())
        errors: Mapping[str, Exception] = {}
        if models:
            policies = {name: policy for name, (policy, _) in models.items()}
            errors = await check_models(policies, {name: read for name, (_, read) in models.items()})
            self._halt.check()
        if errors and (not has_begun or len(errors) == len(models)):
            reasons = "\n".join(f"  {name}: {error}" for name, error in sorted(errors.items()))
            raise ProviderError(
                f"nothing was played, since {len(errors)} of {len(models)} models cannot be asked:\n{reasons}"
            )
        self._absences.begin()
        for name, error in sorted(errors.items()):  # of a run that goes on: the others finish
            self._suspend(name, str(error))

    async def _play(self, match: Match, executor: Executor) -> Outcome:
        """Plays a match, again if a provider fails, and records it."""
        ENVIRONMENT.set(match.environment)
        MATCH.set(match)
        for _ in range(self._config.tries):
            self._halt.check()
            if reason := self._absences.of(match):
                return self._leave_void(match, reason)
            played = await executor.play(match, self._store.turns(match), partial(self._take_turn, match))
            self._store.finish(match, played.outcome, digest=played.digest, error=played.error)
            if played.outcome.status not in PLAYED:
                self._take_failure(match, played)
            if played.outcome.status != VOID or played.final:
                break
        return played.outcome

    def _take_turn(self, match: Match, turn: Turn) -> None:
        self._store.add_turn(match, turn)
        scheme = self._schemes[match.environment]
        if scheme.setting.declaration.is_rated(turn.agent):
            policy = match.policies[scheme.agents(len(match.policies)).index(turn.agent)]
            if warning := self._watch.add(match.environment, policy, turn):
                _log.error("%s", warning)
        self._halt.check()

    def _on_call(self, call: Call) -> None:
        """Enters a call; one outside of matches, by which a model is tried out, is that of the first policy with the model."""
        telemetry.record(call)
        match = MATCH.get()
        policy = self._players.seats(match)[call.agent] if match else self._by_model.get(call.model, call.model)
        try:
            self._ledger.add(call, match, policy)
        except OSError as error:  # a log with gaps would be worse than none
            self._end(error)
        self._check_budget()

    def _check_budget(self) -> None:
        exceeded = self._budget.exceeded(self.bill)
        if exceeded:
            self._end(BudgetExceeded(exceeded))

    def _start_clock(self) -> asyncio.TimerHandle:
        """Ends the run when the session has taken its time."""
        seconds = self._budget.seconds
        error = BudgetExceeded(f"the time of this session is used up: {seconds or 0:g} s")
        return asyncio.get_running_loop().call_later(math.inf if seconds is None else seconds, self._end, error)

    def _end(self, error: Exception) -> None:
        """Lets nothing begin any more; what is under way comes to the end of its turn."""
        self._halt.order(error)
        self._players.stop_calls(Halted(str(error)))
        if self._session.desk is not None:
            self._session.desk.close(Halted(str(error)))

    def _leave_void(self, match: Match, reason: str) -> Outcome:
        """Records a match as void without playing it, and returns its outcome."""
        outcome = void_outcome(match, VOID)
        self._store.finish(match, outcome, error=reason, is_try=False)
        return outcome

    def _executor(self, match: Match) -> Executor:
        """Returns where a match is played: one of a person who is waited for, one of models here, a scripted one in the pool."""
        if self._players.has_person(match):
            return self._people
        if self._players.uses_service(match):
            return self._here
        config = self._config
        pooled = config.executor == "process" or (
            config.executor == "auto" and config.workers != 1 and self._players.is_scripted(match)
        )
        return self._pool if pooled else self._here

    def _take_failure(self, match: Match, played: Played) -> None:
        """Suspends a policy that fails for good; whatever it fails at afterwards is no further error."""
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
