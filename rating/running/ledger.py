"""The ledger of a run: every call is written down and added to the bill."""

import logging
from datetime import UTC, datetime

from agents.models.calls import Call
from rating.accounting.bill import Bill
from rating.accounting.prices import PriceTable
from rating.records.calls import Calls, CallWriter, LoggedCall
from rating.records.match import Match

_log = logging.getLogger(__name__)


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
        for entry in earlier:
            self._put_on_bill(entry)
        if earlier.damage:
            _log.warning("%d calls are left out of the bill: %s", len(earlier.damage), earlier.damage[0])

    def _put_on_bill(self, entry: LoggedCall) -> None:
        self.bill.add(entry.environment, entry.policy, entry.call, entry.time)

    def begin(self, call: Call, match: Match | None, policy: str) -> None:
        """Notes a call before it is sent; see ``add``."""
        self._log.begin(_logged(call, match, policy))

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
        entry = _logged(call, match, policy)
        self._put_on_bill(entry)
        self._log.write(entry)

    def close(self) -> None:
        """Closes the log."""
        self._log.close()


def _logged(call: Call, match: Match | None, policy: str) -> LoggedCall:
    """Returns a call as it is written down now."""
    environment, match_id = (match.environment, match.id) if match else ("", "")
    return LoggedCall(datetime.now(UTC), environment, match_id, policy, call)
