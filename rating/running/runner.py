"""The runner: plays every environment of a run until its schedule stops."""

import asyncio
import json
import logging
import math
import os
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial

from agents import telemetry
from agents.models.calls import Call
from agents.records import Turn
from llmarena_envs.catalogue import make_environment
from rating.accounting.bill import Bill
from rating.errors import BudgetExceeded, ErrorBudgetExceeded
from rating.records.match import Match
from rating.records.outcome import FINAL, PLAYED, VOID, Outcome
from rating.records.store import Store
from rating.running.batches import play_batches
from rating.running.budget import Halt, Halted
from rating.running.contests import make_scheme
from rating.running.executors import AsyncExecutor, Executor, Played, ProcessExecutor
from rating.running.ledger import Ledger
from rating.running.players import Players
from rating.running.progress import EnvironmentProgress, Progress, expected_matches
from rating.running.run_file import RunConfig
from rating.running.session import ONE_GO, Session
from rating.running.slots import Slots

ENVIRONMENT: ContextVar[str] = ContextVar("ENVIRONMENT", default="")
"""The environment of the match in whose task a message is logged."""

MATCH: ContextVar[Match | None] = ContextVar("MATCH", default=None)
"""The match in whose task a model is called."""

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
        self._here = AsyncExecutor(config, self._players, self._slots(config.concurrency))
        self._terminal = AsyncExecutor(config, self._players, self._slots(1))
        self._pool = ProcessExecutor(config, self._slots(config.workers or os.cpu_count() or 1))

    def _slots(self, count: int) -> Slots:
        return Slots(count, [item.name for item in self._config.environment])

    @property
    def bill(self) -> Bill:
        """What the calls of models took, in all sessions so far."""
        return self._ledger.bill

    async def run(self) -> int:
        """Plays every environment to its end.

        Returns:
            How many matches are void; they are played when the run goes on.

        Raises:
            BudgetExceeded: if the run has taken as much as it may.
            ErrorBudgetExceeded: if too many providers or environments failed.
        """
        self._check_budget()
        clock = self._start_clock()
        try:
            async with asyncio.TaskGroup() as group:
                for environment in self._config.environment:
                    group.create_task(self._play_environment(environment.name))
        except BaseExceptionGroup as errors:
            raise _first(errors) from errors
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
            in_flight=self._players.calls_in_flight,
            limit=self._players.calls_allowed or None,
        )

    async def _play_environment(self, environment: str) -> None:
        scheme = make_scheme(self._config, environment)
        schedule = scheme.schedule()
        tally = self._tallies[environment]
        tally.expected = expected_matches(scheme)
        self._keep_facts(environment)

        def enter(batch: Sequence[Match]) -> None:
            tally.scheduled += len(batch)
            for match in batch:
                self._store.add_match(match)

        stop = await play_batches(schedule, self._outcome, enter)
        self._store.set_fact(f"stopped:{environment}", stop.reason)
        tally.stopped = stop.reason

    def _keep_facts(self, environment: str) -> None:
        """Records what is the same in every match: what every seat is told of the rules, and where the data come from."""
        env = make_environment(environment, self._config.options(environment))
        env.reset(seed=0)
        rules = {agent: env.observe(agent)["rules"] for agent in env.possible_agents}
        self._store.set_fact(f"rules:{environment}", json.dumps(rules, ensure_ascii=False))
        sources = {source.name: source.description() for source in env.unwrapped.sources()}
        if sources:
            self._store.set_fact(f"sources:{environment}", json.dumps(sources, ensure_ascii=False))
        env.close()

    async def _outcome(self, match: Match) -> Outcome:
        """Returns the outcome of a match that was played before, or plays it."""
        tally = self._tallies[match.environment]
        known = self._store.outcome(match)
        if known is not None and known.status in FINAL:
            tally.count(known, is_new=False)
            return known
        outcome = await self._halt.play(partial(self._play_in_turn, match))
        tally.count(outcome, is_new=True)
        return outcome

    async def _play_in_turn(self, match: Match) -> Outcome:
        executor = self._executor(match)
        async with executor.slots.hold(match.environment):
            return await self._play(match, executor)

    async def _play(self, match: Match, executor: Executor) -> Outcome:
        """Plays a match, again if a provider fails, and records it."""
        ENVIRONMENT.set(match.environment)
        MATCH.set(match)
        for _ in range(self._config.tries):
            self._halt.check()
            played = await executor.play(match, self._store.turns(match), partial(self._on_turn, match))
            self._store.finish(match, played.outcome, digest=played.digest, error=played.error)
            if played.outcome.status not in PLAYED:
                self._count_error(match, played)
            if played.outcome.status != VOID or played.fatal:
                break
        return played.outcome

    def _on_turn(self, match: Match, turn: Turn) -> None:
        self._store.add_turn(match, turn)
        self._halt.check()

    def _on_call(self, call: Call) -> None:
        """Enters a call; one outside of matches, by which a model is tried out, is that of the first policy with the model."""
        telemetry.record(call)
        match = MATCH.get()
        policy = self._players.seats(match)[call.agent] if match else self._config.find_model(call.model) or call.model
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

    def _executor(self, match: Match) -> Executor:
        """Returns where a match is played: with a person at the terminal, who has one; scripted ones in the pool."""
        if self._players.has_person(match):
            return self._terminal
        config = self._config
        pooled = config.executor == "process" or (
            config.executor == "auto" and config.workers != 1 and self._players.is_scripted(match)
        )
        return self._pool if pooled else self._here

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
