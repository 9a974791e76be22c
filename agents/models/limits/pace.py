"""Rate limiting with the generic cell rate algorithm (ITU-T I.371)."""

MINUTE = 60.0
_BURST = 12  # a twelfth of the limit per minute is allowed in a burst


class Pace:
    """A rate limiter.

    Args:
        rate: units per second, above 0.
        slack: tolerated earliness in seconds; allows a burst after a pause.
    """

    def __init__(self, rate: float, slack: float) -> None:
        self.rate = rate
        self.slack = slack
        self._due = float("-inf")

    @property
    def ready_at(self) -> float:
        """Earliest time of the next unit."""
        return self._due - self.slack

    def is_behind(self, now: float) -> bool:
        """Returns whether the rate is currently limiting: more was taken than is due."""
        return self._due > now

    def take(self, now: float, units: float = 1.0) -> None:
        """Counts units sent now."""
        self._due = max(self._due, now) + units / self.rate

    def correct(self, units: float) -> None:
        """Adds a correction for earlier units: actual minus expected cost."""
        self._due += units / self.rate


def per_minute(limit: int) -> Pace:
    """Returns a rate limiter for at most ``limit`` units in any minute, a twelfth of them in a burst.

    Units that come together, as the tokens of a request do, can exceed the limit by the last request of a minute.
    """
    burst = limit // _BURST
    rate = (limit - burst) / MINUTE
    return Pace(rate, burst / rate)
