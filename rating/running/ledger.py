"""The ledger of a run: every call is written down and added to the bill."""

import logging
from collections.abc import Iterator
from datetime import UTC, datetime

from agents.models.calls import Call
from rating.accounting.bill import Bill
from rating.accounting.prices import PriceTable
from rating.records.calls import Calls, CallWriter, LoggedCall
from rating.records.match import Match

_log = logging.getLogger(__name__)


def logged(call: Call, match: Match | None, policy: str) -> LoggedCall:
    """Returns a call as it is written down now.

    Args:
        call: the call.
        match: for which it is made, if it is for one.
        policy: name of the policy that makes it.
    """
    environment, match_id = (match.environment, match.id) if match else ("", "")
    return LoggedCall(datetime.now(UTC), environment, match_id, policy, call)


class Ledger:
    """What the calls of all sessions of a run took.

    Args:
        earlier: the calls that were written down so far.
        log: where those of this process are.
        prices: of the models.

    Attributes:
        bill: the sums.

    Raises:
        RunError: if the log of an earlier session cannot be read.
    """

    def __init__(self, earlier: Calls, log: CallWriter, prices: PriceTable) -> None:
        self.bill = Bill(prices)
        self._log = log
        self._calls = earlier
        self._add(iter(earlier))
        if earlier.damage:
            _log.warning("%d calls are left out of the bill: %s", len(earlier.damage), earlier.damage[0])

    def read_on(self) -> None:
        """Puts on the bill what other processes have written down since."""
        self._add(self._calls.further())

    def _add(self, calls: Iterator[LoggedCall]) -> None:
        for entry in calls:
            self._put_on_bill(entry)

    def _put_on_bill(self, entry: LoggedCall) -> None:
        self.bill.add(entry.environment, entry.policy, entry.call, entry.time)

    def begin(self, call: Call, match: Match | None, policy: str) -> None:
        """Notes a call before it is sent; see ``add``."""
        self._log.begin(logged(call, match, policy))

    def add(self, call: Call, match: Match | None, policy: str) -> None:
        """Enters a call.

        Args:
            call: the call.
            match: for which it was made, if it was for one.
            policy: name of the policy that made it.

        Raises:
            OSError: if it cannot be written down; it is on the bill all the same.
            StoreError: likewise.
        """
        entry = logged(call, match, policy)
        self._put_on_bill(entry)
        self._log.write(entry)

    def close(self) -> None:
        """Closes the log."""
        self._log.close()
