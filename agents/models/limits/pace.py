"""Spacing what is sent: so much a second, whatever comes at once (the generic cell rate algorithm, ITU-T I.371)."""

MINUTE = 60.0
_BURST = 12  # of what is allowed in a minute this part may come at once


class Pace:
    """A rate, and when the next may come that keeps it.

    Args:
        rate: units a second, above 0.
        slack: seconds by which one may be early; what was left out in that time may be made up for.
    """

    def __init__(self, rate: float, slack: float) -> None:
        self.rate = rate
        self.slack = slack
        self._due = float("-inf")

    @property
    def ready_at(self) -> float:
        """The time from which the next may come."""
        return self._due - self.slack

    def is_behind(self, now: float) -> bool:
        """Says whether more has been taken than is due, so that the pace, and nothing else, holds back what comes."""
        return self._due > now

    def take(self, now: float, units: float = 1.0) -> None:
        """Counts what is sent now."""
        self._due = max(self._due, now) + units / self.rate

    def correct(self, units: float) -> None:
        """Counts what earlier ones have turned out to be above what was taken for them; below it, if negative."""
        self._due += units / self.rate


def per_minute(limit: int) -> Pace:
    """Returns a pace that lets at most ``limit`` through in any minute, a twelfth of them at once.

    Where units come in lumps (the tokens of a request) the last lump of a minute may pass the limit.
    """
    burst = limit // _BURST
    rate = (limit - burst) / MINUTE
    return Pace(rate, burst / rate)
