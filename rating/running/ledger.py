"""The ledger of a run: every call is written down and added to the bill."""

import logging
from datetime import UTC, datetime
from pathlib import Path

from agents.models.calls import Call
from rating.accounting.bill import Bill
from rating.accounting.prices import PriceTable
from rating.records.calls import CALLS, CallLog, LoggedCall, LoggedCalls
from rating.records.match import Match

_log = logging.getLogger(__name__)


class Ledger:
    """What the calls of all sessions of a run took.

    Args:
        directory: of the run.
        prices: of its models.

    Attributes:
        bill: the sums.

    Raises:
        RunError: if the log of an earlier session cannot be read.
    """

    def __init__(self, directory: Path, prices: PriceTable) -> None:
        self.bill = Bill(prices)
        self._log = CallLog(directory / CALLS)
        earlier = LoggedCalls(directory / CALLS)
        for logged in earlier:
            self.bill.add(logged.environment, logged.policy, logged.call, logged.time)
        if earlier.damage:
            _log.warning("%s: %d lines are left out of the bill: %s", CALLS, len(earlier.damage), earlier.damage[0])

    def add(self, call: Call, match: Match | None, policy: str) -> None:
        """Enters a call.

        Args:
            call: the call.
            match: for which it was made, if it was for one.
            policy: name of the policy that made it.

        Raises:
            OSError: if it cannot be written down; it is on the bill all the same.
        """
        time = datetime.now(UTC)
        environment, match_id = (match.environment, match.id) if match else ("", "")
        self.bill.add(environment, policy, call, time)
        self._log.write(LoggedCall(time, environment, match_id, policy, call))

    def close(self) -> None:
        """Closes the log."""
        self._log.close()
