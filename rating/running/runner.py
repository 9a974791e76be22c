"""The runner: plays every environment of a run until its stop rule fires."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass

from llmarena_envs.catalogue import make_environment
from rating.errors import ErrorBudgetExceeded
from rating.records.match import Match
from rating.records.outcome import BUG, FINISHED, VOID, Outcome
from rating.records.store import Store
from rating.running.contests import make_scheme
from rating.running.executors import AsyncExecutor, Executor, Played, ProcessExecutor
from rating.running.players import Players
from rating.running.run_file import RunConfig
from rating.schedules.schedule import Stop


@dataclass(frozen=True)
class Progress:
    """How far a run is.

    Attributes:
        environment: the environment of the match that has just ended.
        finished: finished matches of the environment.
        scheduled: matches of the environment entered so far.
        errors: failures of providers and environments in this session.
        stopped: which stop rule has fired for the environment, or an empty string.
    """

    environment: str
    finished: int
    scheduled: int
    errors: int
    stopped: str = ""


class Runner:
    """Plays a run.

    Args:
        config: the run.
        store: where matches are recorded, and what was played before an interruption.
        on_progress: called after every match.
    """

    def __init__(
        self, config: RunConfig, store: Store, on_progress: Callable[[Progress], None] = lambda progress: None
    ) -> None:
        self._config = config
        self._store = store
        self._on_progress = on_progress
        self._players = Players(config)
        self._errors = 0
        self._pool: ProcessExecutor | None = None

    async def run(self) -> None:
        """Plays every environment to its end.

        Raises:
            ErrorBudgetExceeded: if too many providers or environments failed.
        """
        self._here = AsyncExecutor(self._config, self._players)
        try:
            async with asyncio.TaskGroup() as group:
                for environment in self._config.environment:
                    group.create_task(self._play_environment(environment.name))
        except BaseExceptionGroup as errors:
            raise _first(errors) from errors
        finally:
            for executor in (self._here, self._pool):
                if executor is not None:
                    await executor.close()

    async def _play_environment(self, environment: str) -> None:
        schedule = make_scheme(self._config, environment).schedule()
        self._keep_rules(environment)
        played: list[list[Outcome]] = []
        while not isinstance(batch := schedule.next_batch(), Stop):
            for match in batch:
                self._store.add_match(match)
            scheduled = sum(map(len, played)) + len(batch)
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._finish(match, scheduled)) for match in batch]
            played.append([task.result() for task in tasks])
            if len(played) >= schedule.lag:
                schedule.add(played[-schedule.lag])
        self._store.set_fact(f"stopped:{environment}", batch.reason)
        outcomes = [outcome for results in played for outcome in results]
        finished = sum(outcome.status == FINISHED for outcome in outcomes)
        self._on_progress(Progress(environment, finished, len(outcomes), self._errors, batch.reason))

    def _keep_rules(self, environment: str) -> None:
        """Records what every seat is told of the rules, which is the same in every match."""
        env = make_environment(environment, self._config.options(environment))
        env.reset(seed=0)
        rules = {agent: env.observe(agent)["rules"] for agent in env.possible_agents}
        self._store.set_fact(f"rules:{environment}", json.dumps(rules, ensure_ascii=False))
        env.close()

    async def _finish(self, match: Match, scheduled: int) -> Outcome:
        """Returns the outcome of a match that was played before, or plays it."""
        known = self._store.outcome(match)
        if known is not None and known.status in (FINISHED, BUG):
            return known
        executor = self._executor(match)
        for _ in range(self._config.tries):
            played = await executor.play(
                match, self._store.turns(match), lambda turn: self._store.add_turn(match, turn)
            )
            self._store.finish(match, played.outcome, digest=played.digest, error=played.error)
            if played.outcome.status != FINISHED:
                self._count_error(match, played)
            if played.outcome.status != VOID or played.fatal:
                break
        finished = self._store.count(FINISHED, match.environment)
        self._on_progress(Progress(match.environment, finished, scheduled, self._errors))
        return played.outcome

    def _executor(self, match: Match) -> Executor:
        config = self._config
        if config.executor == "process":
            pooled = not self._players.has_person(match)
        else:
            pooled = config.executor == "auto" and config.workers != 1 and self._players.is_scripted(match)
        if not pooled:
            return self._here
        if self._pool is None:
            self._pool = ProcessExecutor(config)
        return self._pool

    def _count_error(self, match: Match, played: Played) -> None:
        self._errors += 1
        if self._errors > self._config.max_errors:
            raise ErrorBudgetExceeded(
                f"{self._errors} failures of providers or environments, more than max_errors = {self._config.max_errors};"
                f" the last one, in match {match.id} of {match.environment}: {played.error.strip()}"
            )


def _first(error: BaseException) -> BaseException:
    """Returns the first error inside nested groups."""
    return _first(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else error
