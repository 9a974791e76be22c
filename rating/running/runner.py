"""The runner: plays every environment of a run until its schedule stops."""

import asyncio
import json
import logging
import os
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass

from llmarena_envs.catalogue import make_environment
from rating.errors import ErrorBudgetExceeded
from rating.records.match import Match
from rating.records.outcome import FINAL, PLAYED, VOID, Outcome
from rating.records.store import Store
from rating.running.batches import play_batches
from rating.running.contests import make_scheme
from rating.running.executors import AsyncExecutor, Executor, Played, ProcessExecutor
from rating.running.players import Players
from rating.running.progress import EnvironmentProgress, Progress, expected_matches
from rating.running.run_file import RunConfig
from rating.running.session import ONE_GO, Session
from rating.running.slots import Slots

ENVIRONMENT: ContextVar[str] = ContextVar("ENVIRONMENT", default="")
"""The environment of the match in whose task a message is logged."""

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
        self._players = Players(config, session)
        self._tallies = {item.name: _Tally() for item in config.environment}
        self._errors = 0
        self._here = AsyncExecutor(config, self._players, self._slots(config.concurrency))
        self._terminal = AsyncExecutor(config, self._players, self._slots(1))
        self._pool = ProcessExecutor(config, self._slots(config.workers or os.cpu_count() or 1))

    def _slots(self, count: int) -> Slots:
        return Slots(count, [item.name for item in self._config.environment])

    async def run(self) -> int:
        """Plays every environment to its end.

        Returns:
            How many matches are void; they are played when the run goes on.

        Raises:
            ErrorBudgetExceeded: if too many providers or environments failed.
        """
        try:
            async with asyncio.TaskGroup() as group:
                for environment in self._config.environment:
                    group.create_task(self._play_environment(environment.name))
        except BaseExceptionGroup as errors:
            raise _first(errors) from errors
        finally:
            await self._pool.close()
            await self._players.close()
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
        executor = self._executor(match)
        async with executor.slots.hold(match.environment):
            outcome = await self._play(match, executor)
        tally.count(outcome, is_new=True)
        return outcome

    async def _play(self, match: Match, executor: Executor) -> Outcome:
        """Plays a match, again if a provider fails, and records it."""
        ENVIRONMENT.set(match.environment)
        for _ in range(self._config.tries):
            played = await executor.play(
                match, self._store.turns(match), lambda turn: self._store.add_turn(match, turn)
            )
            self._store.finish(match, played.outcome, digest=played.digest, error=played.error)
            if played.outcome.status not in PLAYED:
                self._count_error(match, played)
            if played.outcome.status != VOID or played.fatal:
                break
        return played.outcome

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
