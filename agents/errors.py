"""What keeps a policy from replying, and a match from going on; the whole tree is described in ``llmarena_envs.core.errors``."""

from llmarena_envs.core.errors import ArenaError


class PolicyError(ArenaError):
    """A policy gave no reply."""


class ProviderError(PolicyError):
    """A reply could not be had for no fault of the player: the match is void and is played again.

    Attributes:
        fatal: whether asking this policy again is useless, whatever it is asked (authentication, quota, unknown model).
        final: whether asking the same again is useless for now: every attempt that was allowed has been made.
        agent: id of the seat whose policy failed, once whoever plays the match has said it.
    """

    def __init__(self, message: str, *, fatal: bool = False, final: bool = False) -> None:
        super().__init__(message)
        self.fatal = fatal
        self.final = fatal or final
        self.agent = ""


class TransientError(ProviderError):
    """A failure that may be over at the next attempt.

    Attributes:
        retry_after: seconds the server asked to wait, or 0.
    """

    def __init__(self, reason: str, retry_after: float = 0.0) -> None:
        super().__init__(reason)
        self.retry_after = retry_after


class Quit(PolicyError):
    """A person leaves: the match stays unfinished and nothing of it is lost."""


class MatchError(ArenaError):
    """A match that cannot go on."""


class EnvironmentBug(MatchError):
    """The environment broke a promise, e.g. its own bound on turns."""


class ReplayMismatch(MatchError):
    """A recorded match, played again, did not go as recorded."""
