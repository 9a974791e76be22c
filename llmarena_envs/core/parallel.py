"""The parallel form of games in which all move at once."""

from collections.abc import Callable, Mapping
from typing import Any

from pettingzoo.utils.conversions import aec_to_parallel_wrapper


class ParallelForm(aec_to_parallel_wrapper):
    """PettingZoo's conversion, which also says what is wrong with a set of actions before any of them is played."""

    def step(self, actions: Mapping[str, Any]) -> Any:
        """Acts for every agent at once.

        Args:
            actions: one action for each agent of ``agents``.

        Returns:
            Observations, rewards, terminations, truncations and infos, each by agent.

        Raises:
            ValueError: if an agent has no action, or an action no agent in the match; nothing is played then.
        """
        agents = self.aec_env.agents
        missing = [agent for agent in agents if agent not in actions]
        unknown = [agent for agent in actions if agent not in agents]
        if missing or unknown:
            parts = [f"missing: {missing}"] * bool(missing) + [f"not in the match: {unknown}"] * bool(unknown)
            over = "" if agents else "; the match is over, begin another with reset()"
            raise ValueError(f"actions: expected one for each of {agents}, got {'; '.join(parts)}{over}")
        return super().step(actions)


def parallel_form(env_fn: Callable[..., Any]) -> Callable[..., ParallelForm]:
    """Returns what makes the parallel form of the environments that ``env_fn`` makes, from the same options."""

    def parallel_env(**options: Any) -> ParallelForm:
        return ParallelForm(env_fn(**options))

    return parallel_env
