"""Playing the matches of a run: slots, attempts and retries, failures, suspended policies, and recording."""

import asyncio
import logging
import os
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from agents.errors import ProviderError, Quit
from agents.records import Turn
from llmarena_envs.core.failures import Failure
from rating.config.run_file import RunConfig
from rating.errors import ErrorBudgetExceeded, StoreError
from rating.play.executors.executor import AsyncExecutor, Executor, OnTurn, Played, Slots
from rating.play.executors.process import ProcessExecutor
from rating.play.executors.ray import RayExecutor
from rating.play.players import Checked, Players
from rating.play.run import Run
from rating.play.session import Session
from rating.schemes.caveats import remedy
from rating.store.records import PLAYED, VOID, Match, Outcome, void_outcome
from rating.store.state import RunState, StateWriter

if TYPE_CHECKING:
    from rating.store.store import Store


MATCH: ContextVar[Match | None] = ContextVar("MATCH", default=None)
"""Match of the current task, for model calls and log messages."""

HELD_BACK = 0.5
"""Seconds of computation that can be lost with a killed process: turns within this time are written together."""

MATCHES_OF_PEOPLE = 1_000
"""Concurrent matches of the human input queue; high, because a waiting match must not delay others."""

_FIRST_TURNS = 10
"""Turns of a policy in an environment before its share of fallback moves is first checked."""

_LONGEST_REASON = 500
"""Maximum length in characters of why a policy is suspended: a server's answer, which appears beside every match."""

_log = logging.getLogger(__name__)


class Halted(Quit):
    """The run ends early; the current match stays unfinished."""


class Halt:
    """Ends a run in good order: no match or turn begins, in-flight turns finish.

    It waits for the reply of a person at the terminal.

    Attributes:
        error: why the run ends; ``None`` while it continues.
    """

    def __init__(self) -> None:
        self.error: Exception | None = None
        self._under_way = 0

    def order(self, error: Exception) -> None:
        """Ends the run with an error."""
        self.error = self.error or error

    def check(self) -> None:
        """Ends the calling match if the run ends.

        Raises:
            Halted: if the run ends.
        """
        if self.error is not None:
            raise Halted(str(self.error)) from self.error

    async def play(self, match: Callable[[], Awaitable[Outcome]]) -> Outcome:
        """Plays a match and returns its outcome, unless the run ends first.

        Raises:
            Exception: the error of the order, once no other match is in flight.
        """
        if self.error is None:
            self._under_way += 1
            try:
                result = await match()
                if self.error is None:
                    return result
            except Halted:
                pass
            finally:
                self._under_way -= 1
        assert self.error is not None
        if self._under_way:
            await asyncio.Future()  # cancelled by the error of the last match
        raise self.error


class Executors:
    """The executors of a session."""

    def __init__(self, config: RunConfig, players: Players, session: Session) -> None:
        self._config = config
        self._players = players
        self._here = AsyncExecutor(config, players, self._slots(config.concurrency))
        self._people = AsyncExecutor(
            config, players, self._slots(1 if session.human_queue is None else MATCHES_OF_PEOPLE)
        )
        self._name = session.executor or config.executor
        self._pool: ProcessExecutor | RayExecutor
        if self._name == "ray":
            self._pool = RayExecutor(config, self._slots(1))
        else:
            self._pool = ProcessExecutor(config, self._slots(config.workers or os.cpu_count() or 1))

    @property
    def slots(self) -> int:
        """Number of matches that can run at once now; a cluster can grow."""
        return sum(executor.slots.count for executor in (self._here, self._pool, self._people))

    def of(self, match: Match) -> Executor:
        """Returns the executor of a match.

        Matches of people and models run in this process, because calls of models are limited and counted once per run. Others can
        run in the pool.
        """
        if self._players.has_person(match):
            return self._people
        if self._players.uses_service(match):
            return self._here
        pooled = self._name in ("process", "ray")
        if self._name == "auto":
            pooled = self._config.workers != 1 and self._players.is_scripted(match)
        return self._pool if pooled else self._here

    async def close(self) -> None:
        """Stops the workers."""
        await self._pool.close()

    def _slots(self, count: int) -> Slots:
        return Slots(count, [item.name for item in self._config.environment])


@dataclass
class _Turns:
    """Turns of a policy in an environment, and its failures in them."""

    turns: int = 0
    fallbacks: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    is_reported: bool = False


class Matches:
    """Plays and records the matches of a run. Failures are logged when they occur, with ``MATCH`` set.

    Args:
        on_suspension: called with the name of a suspended policy.

    Attributes:
        halt: ends the run.
        executors: where matches are played.
        suspended: why policies are suspended in this session, by name.
        errors: failures of providers and environments.
        deaths: workers that died.
    """

    def __init__(
        self,
        run: Run,
        store: "Store",
        players: Players,
        session: Session,
        on_suspension: Callable[[str], None],
    ) -> None:
        self._run = run
        self._store = store
        self._players = players
        self._session = session
        self._on_suspension = on_suspension
        self._max_errors = run.config.max_errors if session.max_errors is None else session.max_errors
        self._withdrawn = {item.name: run.withdrawn(item.name) for item in run.config.environment}
        self._preparation: asyncio.Task[None] | None = None
        self._turns: dict[tuple[str, str], _Turns] = {}
        self.halt = Halt()
        self.executors = Executors(run.config, players, session)
        self.suspended: dict[str, str] = {}
        self.errors = 0
        self.deaths = 0

    def leave_withdrawn(self, match: Match) -> Outcome | None:
        """Returns the void outcome of a match if one of its policies was withdrawn, else ``None``."""
        missing = next((name for name in match.policies if name in self._withdrawn[match.environment]), None)
        return None if missing is None else self._leave_void(match, f"withdrawn: {missing}")

    async def play(self, match: Match) -> Outcome:
        """Plays a match in the next free slot and records it.

        Before the first match every model is asked once. A policy that fails permanently afterwards is suspended: its other
        matches are void without being played.

        Raises:
            ProviderError: if a model cannot be asked; nothing was played.
            ErrorBudgetExceeded: if there are too many failures of providers or environments.
            Exception: why the run ends, once no other match is in flight.
        """
        return await self.halt.play(partial(self._play_in_slot, match))

    async def close(self) -> None:
        """Stops the workers."""
        if self.deaths:
            _log.warning("workers that died in this session: %d; what they had played is not lost", self.deaths)
        await self.executors.close()

    async def _play_in_slot(self, match: Match) -> Outcome:
        if self._preparation is None:
            self._preparation = asyncio.create_task(self._prepare())
        await self._preparation
        if self._is_suspended(match):
            return self._leave_suspended(match)
        executor = self.executors.of(match)
        async with executor.slots.hold(match.environment):
            return await self._attempt(match, executor)

    async def _prepare(self) -> None:
        """Checks that every model can be asked, and lifts earlier suspensions."""
        has_begun = any(status in PLAYED for status in self._store.statuses())
        checked = Checked(0, {})
        if not self._session.offline:
            checked = await self._players.check_models()
            self.halt.check()
        if checked.errors and (not has_begun or len(checked.errors) == checked.models):
            raise ProviderError(f"nothing was played, since {checked}")
        StateWriter(self._store).lift(RunState(self._store.facts()).suspended)
        for name, error in sorted(checked.errors.items()):  # in a resumed run the others finish
            self._suspend(name, str(error))

    async def _attempt(self, match: Match, executor: Executor) -> Outcome:
        """Plays a match, again if a provider fails, and records it."""
        MATCH.set(match)
        is_repeatable = self._players.is_repeatable(match)
        for _ in range(self._run.config.tries):
            self.halt.check()
            if self._is_suspended(match):
                return self._leave_suspended(match)
            played = await try_match(
                self._store, executor, match, partial(self._take_turn, match), is_repeatable=is_repeatable
            )
            self.deaths += played.deaths
            if played.outcome.status not in PLAYED:
                self._take_failure(match, played)
            if played.outcome.status != VOID or played.final:
                break
        return played.outcome

    def _is_suspended(self, match: Match) -> bool:
        return any(name in self.suspended for name in match.policies)

    def _leave_suspended(self, match: Match) -> Outcome:
        missing = next(name for name in match.policies if name in self.suspended)
        return self._leave_void(match, f"suspended: {missing}: {self.suspended[missing]}")

    def _leave_void(self, match: Match, reason: str) -> Outcome:
        """Records a match as void without playing it, and returns its outcome."""
        outcome = void_outcome(match, VOID)
        self._store.finish(match, outcome, error=reason, is_try=False)
        return outcome

    def _take_turn(self, match: Match, turn: Turn) -> None:
        scheme = self._run.scheme(match.environment)
        if scheme.setting.environment.declaration.is_rated(turn.agent):
            policy = match.policies[scheme.agents(len(match.policies)).index(turn.agent)]
            self._count_fallbacks(match.environment, policy, turn)
        self.halt.check()

    def _count_fallbacks(self, environment: str, policy: str, turn: Turn) -> None:
        """Warns once about a policy that mostly plays fallback moves, before much is spent on it."""
        count = self._turns.setdefault((environment, policy), _Turns())
        count.turns += 1
        count.fallbacks += turn.fallback not in ("", "forfeit")
        count.failures.update(one.kind.name.lower() for one in turn.attempts if one.kind is not Failure.OK)
        limit = self._run.config.ratings.max_fallbacks
        if count.is_reported or count.turns < _FIRST_TURNS or count.fallbacks <= limit * count.turns:
            return
        count.is_reported = True
        _log.error(
            "%s: %d of its first %d turns were played for it; if that goes on its rating is withheld (max_fallbacks = %g); %s",
            policy,
            count.fallbacks,
            count.turns,
            limit,
            remedy(count.failures),
        )

    def _take_failure(self, match: Match, played: Played) -> None:
        """Counts a failure, and suspends a policy that fails permanently; its later failures do not count."""
        if played.culprit in self.suspended:
            return
        if played.fatal and played.culprit:
            self._suspend(played.culprit, played.error)
        self.errors += 1
        lines = played.error.strip().splitlines() or [""]
        what, reason = ("void", lines[0]) if played.outcome.status == VOID else ("lost to a bug", lines[-1])
        _log.warning("match %d is %s: %s", match.number, what, reason)
        if self.errors > self._max_errors:
            raise ErrorBudgetExceeded(
                f"{self.errors} failures of providers or environments, more than max_errors = {self._max_errors};"
                f" the last one, in match {match.id} of {match.environment}: {played.error.strip()}"
            )

    def _suspend(self, policy: str, error: str) -> None:
        self.suspended[policy] = " ".join(error.split())[:_LONGEST_REASON]
        StateWriter(self._store).suspend(policy, self.suspended[policy])
        self._on_suspension(policy)
        _log.error("%s is suspended, the others go on: %s", policy, self.suspended[policy])


async def try_match(
    store: "Store",
    executor: Executor,
    match: Match,
    on_turn: OnTurn,
    *,
    is_repeatable: bool,
) -> Played:
    """Plays a match on from its recorded turns, and records the result.

    Args:
        match: the match, already in the store.
        on_turn: called after every new turn.
        is_repeatable: whether lost turns can be computed again; if not, each turn is written before the next one begins.
    """
    turns = _NewTurns(store, match, HELD_BACK if is_repeatable else 0)

    def take(turn: Turn) -> None:
        turns.add(turn)
        on_turn(turn)

    try:
        played = await executor.play(match, store.turns(match), take)
        store.finish(match, played.outcome, digest=played.digest, error=played.error, turns=turns.held)
        return played
    except Halted:
        turns.write()
        raise
    finally:
        turns.close()


class _NewTurns:
    """The turns of an attempt, buffered for some seconds of play, to write many in one transaction.

    Attributes:
        held: turns not yet written.
    """

    def __init__(self, store: "Store", match: Match, seconds: float) -> None:
        self._store = store
        self._match = match
        self._seconds = seconds
        self._due = time.monotonic() + seconds
        self._timer: asyncio.TimerHandle | None = None
        self.held: list[Turn] = []

    def add(self, turn: Turn) -> None:
        """Adds a turn, and writes the buffer if it is due."""
        self.held.append(turn)
        left = self._due - time.monotonic()
        if left <= 0:
            self.write()
        elif self._timer is None:  # the next turn may take long
            self._timer = asyncio.get_running_loop().call_later(left, self._write_meanwhile)

    def write(self) -> None:
        """Writes the buffer."""
        self.close()
        if self.held:
            self._store.add_turns(self._match, self.held)
            self.held = []
        self._due = time.monotonic() + self._seconds

    def close(self) -> None:
        """Cancels the scheduled write."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _write_meanwhile(self) -> None:
        with suppress(StoreError):  # if the error persists, the next write fails in the task of the match
            self.write()
