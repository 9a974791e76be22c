"""The one wrapper around every environment: it checks the order of calls."""

from typing import Any

from pettingzoo.utils.env_logger import EnvLogger
from pettingzoo.utils.wrappers import OrderEnforcingWrapper


class OrderWrapper(OrderEnforcingWrapper):
    """PettingZoo's order check with the hot attributes delegated.

    The parent leaves ``last`` to ``AECEnv``, so that each attribute it needs climbs a chain of ``__getattr__`` calls,
    which costs more than a turn of a board game. Here ``last``, ``agents`` and ``agent_selection`` go straight to the
    environment.
    """

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Returns observation, cumulative reward, termination, truncation and info of the selected agent."""
        if not self._has_reset:
            EnvLogger.error_observe_before_reset()
        return self.env.last(observe)

    @property
    def agents(self) -> list[str]:
        """The agents still in the match."""
        self._check_reset("agents")
        return self.env.agents

    @property
    def agent_selection(self) -> str:
        """The agent to act."""
        self._check_reset("agent_selection")
        return self.env.agent_selection

    def _check_reset(self, name: str) -> None:
        if not self._has_reset:
            raise AttributeError(f"{name} cannot be accessed before reset")
