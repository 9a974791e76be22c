"""The wrapper around every environment; checks the order of calls."""

import inspect
from collections.abc import Callable, Iterator
from typing import Any, ParamSpec

from pettingzoo.utils.env import AECEnv
from pettingzoo.utils.env_logger import EnvLogger
from pettingzoo.utils.wrappers import OrderEnforcingWrapper

Options = ParamSpec("Options")


class OrderWrapper(OrderEnforcingWrapper):
    """PettingZoo's order check with the hot calls delegated.

    The parent leaves ``last`` and ``agent_iter`` to ``AECEnv``, where each attribute access goes through a chain of
    ``__getattr__`` calls, which costs more than a turn of a board game. Here all calls of a loop over the turns go directly to
    the environment; ``last`` returns the same as ``AECEnv.last``, with one call less. The check for agents comes first because
    it is fast: an environment before ``reset`` has none.
    """

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Returns observation, cumulative reward, termination, truncation and info of the selected agent."""
        env = self.env
        if not env.agents and not self._has_reset:
            EnvLogger.error_observe_before_reset()
        agent = env.agent_selection
        return (
            env.observe(agent) if observe else None,
            env._cumulative_rewards[agent],
            env.terminations[agent],
            env.truncations[agent],
            env.infos[agent],
        )

    def step(self, action: Any) -> None:
        """Acts for the selected agent; warns if no agent is left."""
        env = self.env
        if env.agents:
            self._has_updated = True
            env.step(action)
        else:
            super().step(action)

    def agent_iter(self, max_iter: int = 2**63) -> Iterator[str]:
        """Yields the agent to act, until no agent is left or after ``max_iter`` turns.

        Raises:
            AssertionError: if neither ``step`` nor ``reset`` was called since the previous agent.
        """
        if not self._has_reset:
            EnvLogger.error_agent_iter_before_reset()
        return self._turns(max_iter)

    def _turns(self, left: int) -> Iterator[str]:
        env = self.env
        while left > 0 and env.agents:
            if not self._has_updated:
                raise AssertionError("expected step() or reset() between two turns of a loop over agent_iter()")
            self._has_updated = False
            yield env.agent_selection
            left -= 1

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


def order_checked(raw_env: Callable[Options, AECEnv]) -> Callable[Options, OrderWrapper]:
    """Returns the function ``env`` of a module, which makes the environment with its order check from the options of ``raw_env``.

    Args:
        raw_env: the environment class; the module must call the result ``env``, so that other processes can import it.
    """

    def env(*args: Options.args, **options: Options.kwargs) -> OrderWrapper:
        """Returns the environment with its order check; accepts the options of ``raw_env``."""
        return OrderWrapper(raw_env(*args, **options))

    env.__module__, env.__qualname__ = raw_env.__module__, env.__name__
    options = list(inspect.signature(raw_env).parameters.values())
    env.__signature__ = inspect.Signature(options, return_annotation=OrderWrapper)  # type: ignore[attr-defined]
    return env
