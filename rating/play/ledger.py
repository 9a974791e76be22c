"""The ledger of a run: logs every call and adds it to the bill."""

import logging
from datetime import UTC, datetime

from agents.models.calls import Call
from rating.prices import PriceTable
from rating.store.bill import Bill
from rating.store.calls import CallLog, Calls, LoggedCall
from rating.store.records import Match

_log = logging.getLogger(__name__)


class Ledger:
    """Usage of the calls of all sessions of a run.

    Args:
        earlier: the calls logged so far.
        log: writes the log of this process.
        prices: of the models.

    Attributes:
        bill: the sums.

    Raises:
        RunError: if the log of an earlier session cannot be read.
    """

    def __init__(self, earlier: Calls, log: CallLog, prices: PriceTable) -> None:
        self.bill = Bill(prices)
        self._log = log
        for entry in earlier:
            self._put_on_bill(entry)
        if earlier.damage:
            _log.warning("%d calls are left out of the bill: %s", len(earlier.damage), earlier.damage[0])

    def _put_on_bill(self, entry: LoggedCall) -> None:
        self.bill.add(entry.environment, entry.policy, entry.call, entry.time)

    def begin(self, call: Call, match: Match | None, policy: str) -> None:
        """Logs a call before it is sent; arguments as in ``add``."""
        self._log.begin(_logged(call, match, policy))

    def add(self, call: Call, match: Match | None, policy: str) -> None:
        """Logs a call and adds it to the bill.

        Args:
            call: the call.
            match: the match of the call, or ``None``.
            policy: name of the policy that made it.

        Raises:
            StoreError: if it cannot be logged; it is on the bill anyway.
        """
        entry = _logged(call, match, policy)
        self._put_on_bill(entry)
        self._log.write(entry)


def _logged(call: Call, match: Match | None, policy: str) -> LoggedCall:
    """Returns the log entry of a call, with the current time."""
    environment, match_id = (match.environment, match.id) if match else ("", "")
    return LoggedCall(datetime.now(UTC), environment, match_id, policy, call)
