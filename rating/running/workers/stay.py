"""What a worker does from joining a run to leaving it: claims matches, plays them and records what they came to."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from agents import telemetry
from agents.errors import ProviderError
from agents.models.calls import Call
from agents.records import Turn
from rating.errors import ClaimLost, StoreError
from rating.records.calls import LoggedCall
from rating.records.environments import load_environment
from rating.records.match import Match
from rating.records.outcome import FINAL, VOID
from rating.records.postgres.claims import Claim, guard
from rating.records.postgres.members import Counts, Orders
from rating.records.sql import TransactionLost
from rating.records.store import Store
from rating.running.budget import Halt, Halted
from rating.running.executors.choice import Executors
from rating.running.executors.executor import Played
from rating.running.executors.workers import dump_answer
from rating.running.fallback_watch import FallbackWatch
from rating.running.ledger import logged
from rating.running.players import Players
from rating.running.run_file import RunConfig
from rating.running.runner import ENVIRONMENT, MATCH
from rating.running.session import Session
from rating.running.trying import try_match
from rating.running.workers.coordination import LEASE, beat_seconds, newcomer
from rating.running.workers.heartbeat import Heartbeat

_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.01, 0.5
"""Seconds between two tries to claim something where nothing is offered."""

_AHEAD = 2
"""Matches of scripted policies that are claimed for each that can be under way, since most of them take no time."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Place:
    """How a worker plays.

    Attributes:
        name: by which people know it.
        session: with the executor that it plays with itself.
        lease: seconds without a sign of life after which it is taken for dead.
        idle: seconds for which it waits for the run to begin or go on; ``None`` for ever.
    """

    name: str
    session: Session
    lease: float = LEASE
    idle: float | None = None


class Stay:
    """What a worker does from joining a run to leaving it.

    Args:
        store: of the run; whoever opened it closes it.
        config: the run, as its coordinator reads it.
        place: how the worker plays.

    Attributes:
        identity: under which it has joined.
        has_left: whether it could say that it leaves.
        played: how many matches it has answered.

    Raises:
        StoreError: if the run cannot be joined.
        OptionError: if a policy cannot be made here, e.g. if there is no key for it.
    """

    def __init__(self, store: Store, config: RunConfig, place: Place) -> None:
        self._store = store
        self._claims = store.claims_here()
        self._config = config
        self._place = place
        self._players = Players(config, place.session, self._on_call, self._on_send)
        self._executors = Executors(config, self._players, place.session)
        self._halt = Halt()
        self._watch = FallbackWatch(config.ratings.max_fallbacks)
        self._changed = asyncio.Event()
        self._asking: dict[str, asyncio.Task[None]] = {}
        self._computing: dict[str, asyncio.Task[None]] = {}
        self._failure: BaseException | None = None
        self._is_abandoned = self.has_left = False
        self.played = self._turns = 0
        self._error = ""
        self.identity = self._claims.join(
            newcomer(place.name, place.session.executor or "auto", self._capacity), place.lease
        )
        self._log = store.call_log(self.identity)
        store.keep_to(lambda sql, match: guard(sql, self.identity, match))

    def abandon(self) -> None:
        """Lets what is under way be."""
        self._is_abandoned = True

    def look(self) -> None:
        """Looks at once whether there are other orders."""
        self._changed.set()

    async def play(self, is_draining: Callable[[], bool], tell: Callable[[str], None]) -> bool:
        """Plays until there is nothing to do for now; says whether it was drained.

        Raises:
            ProviderError: if a model cannot be asked.
            StoreError: if the store cannot be used.
        """
        heart: Heartbeat | None = None
        try:
            connection = self._store.claims()
            assert connection is not None
            heart = Heartbeat(
                connection, self.identity, beat_seconds(self._place.lease), self._counts, self._changed.set
            )
            await self._check_models()
            tell(f"joined as {self._place.name} ({self.identity})")
            return await self._go_on(heart, is_draining)
        finally:
            tasks = [*self._asking.values(), *self._computing.values()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._executors.close()
            await self._players.close()
            if heart is not None:
                heart.close()
            with suppress(StoreError):
                self._claims.leave(self.identity)
                self.has_left = True
            tell(f"left after {self.played} matches")

    async def _check_models(self) -> None:
        if self._place.session.offline:
            return
        checked = await self._players.check_models()
        if self._failure is not None:
            raise self._failure
        if checked.errors:
            raise ProviderError(f"nothing was claimed, since from here {checked}")

    async def _go_on(self, heart: Heartbeat, is_draining: Callable[[], bool]) -> bool:
        coordinator, pause = heart.pulse.coordinator, _SHORTEST_PAUSE
        while self._failure is None and not self._is_abandoned:
            orders = heart.pulse.orders
            if orders is Orders.REJOIN:
                _log.warning("this worker was taken for dead; what it held is not its own any more")
                return False
            if orders in (Orders.STOP, Orders.END):
                self._stop()
            claims_more = (
                orders is Orders.WORK
                and heart.pulse.coordinator == coordinator  # another one may have another run file
                and not is_draining()
            )
            has_claimed = claims_more and self._claim()
            if not claims_more and not self._asking and not self._computing:
                return orders is Orders.DRAIN
            pause = _SHORTEST_PAUSE if has_claimed else min(2 * pause, _LONGEST_PAUSE)
            self._changed.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(pause if claims_more else _LONGEST_PAUSE):
                    await self._changed.wait()
        if self._failure is not None:
            raise self._failure
        return False

    def _stop(self) -> None:
        if self._halt.error is None:
            error = Halted("the run is stopped")
            self._halt.order(error)
            self._players.stop_calls(error)

    def _claim(self) -> bool:
        """Claims as many matches as can be played, and begins them; says whether there were any."""
        asking = self._executors.asking - len(self._asking)
        computing = self._computed_at_once - len(self._computing)
        if asking <= 0 and computing <= 0:
            return False
        try:
            claimed = self._claims.take(self.identity, max(asking, 0), max(computing, 0))
        except TransactionLost:
            claimed = self._claims.held(self.identity)
        for claim in claimed:
            match = claim.match
            if match.id in self._asking or match.id in self._computing:
                continue
            own = self._computing if self._players.is_scripted(match) else self._asking
            own[match.id] = task = asyncio.create_task(self._play(claim))
            task.add_done_callback(partial(self._end, own, match.id))
        return bool(claimed)

    def _end(self, own: dict[str, asyncio.Task[None]], match: str, task: asyncio.Task[None]) -> None:
        del own[match]
        if not task.cancelled() and (error := task.exception()) is not None:
            self._fail(error)
        self._changed.set()

    def _fail(self, error: BaseException) -> None:
        """Ends the stay with an error, if it is the first one."""
        self._failure = self._failure or error
        self._changed.set()

    async def _play(self, claim: Claim) -> None:
        """Plays a match and answers, unless it was played before by somebody who could not answer any more."""
        match = claim.match
        ENVIRONMENT.set(match.environment)
        MATCH.set(match)
        try:
            self._store.forget(match)
            known = self._store.outcome(match)
            if known is not None and known.status in FINAL:
                played = Played(known)
                self._answer_again(match, played)
            else:
                executor = self._executors.of(match)
                async with executor.slots.hold(match.environment):
                    self._halt.check()
                    played = await try_match(
                        self._store,
                        executor,
                        match,
                        partial(self._take_turn, match),
                        is_repeatable=self._players.is_repeatable(match),
                        on_end=partial(self._answer, match),
                    )
            self._count(match, played)
        except Halted:
            self._claims.give_back(self.identity, match.id)
        except ClaimLost as error:
            _log.warning("%s", error)
        finally:
            self._store.forget(match)

    def _answer(self, match: Match, played: Played) -> None:
        self._claims.answer(self.identity, match.id, dump_answer(played))

    def _answer_again(self, match: Match, played: Played) -> None:
        """Answers for a match that was recorded before."""
        try:
            self._answer(match, played)
        except TransactionLost:
            with suppress(ClaimLost):  # as if it had been taken
                self._answer(match, played)

    def _count(self, match: Match, played: Played) -> None:
        self.played += 1
        if played.outcome.status == VOID:
            self._error = played.error
            _log.warning("match %d is void: %s", match.number, (played.error.strip().splitlines() or [""])[0])

    def _take_turn(self, match: Match, turn: Turn) -> None:
        self._turns += 1
        if load_environment(match.environment).declaration.is_rated(turn.agent):
            policy = self._players.seats(match)[turn.agent]
            if warning := self._watch.add(match.environment, policy, turn):
                _log.error("%s", warning)
        self._halt.check()

    @property
    def _computed_at_once(self) -> int:
        return _AHEAD * self._executors.computing

    @property
    def _capacity(self) -> int:
        """How many matches it holds at most."""
        return self._executors.asking + self._computed_at_once

    def _counts(self) -> Counts:
        return Counts(len(self._asking) + len(self._computing), self.played, self._turns, self._error)

    def _on_send(self, call: Call) -> None:
        try:
            self._log.begin(self._logged(call))
        except StoreError as error:
            self._fail(error)
            raise Halted(str(error)) from error  # what could not be noted is not sent

    def _on_call(self, call: Call) -> None:
        telemetry.record(call)
        try:
            self._log.write(self._logged(call))
        except StoreError as error:  # no fault of the policy, which goes on until everything ends
            self._fail(error)

    def _logged(self, call: Call) -> LoggedCall:
        match = MATCH.get()
        return logged(call, match, self._players.caller(call, match))
