"""The parallel form of games in which all move at once."""

from collections.abc import Callable, Mapping
from typing import Any

from pettingzoo.utils.conversions import aec_to_parallel_wrapper
from pettingzoo.utils.env_logger import EnvLogger


class ParallelForm(aec_to_parallel_wrapper):
    """PettingZoo's conversion, which also says whose action is missing before any of them is played."""

    def step(self, actions: Mapping[str, Any]) -> Any:
        """Acts for every agent at once; warns if no agent is left, and returns nothing for anybody.

        Args:
            actions: one action for each agent of ``agents``. Others are ignored, as PettingZoo does: clients go on sending
                them for agents that have left the match.

        Returns:
            Observations, rewards, terminations, truncations and infos, each by agent.

        Raises:
            ValueError: if an agent has no action; nothing is played then.
        """
        agents = self.aec_env.agents
        missing = [agent for agent in agents if agent not in actions]
        if missing:
            unknown = [agent for agent in actions if agent not in agents]
            others = f"; not in the match: {unknown}" if unknown else ""
            raise ValueError(f"actions: expected one for each of {agents}, got missing: {missing}{others}")
        if not agents:
            EnvLogger.warn_step_after_terminated_truncated()
        return super().step(actions)


def parallel_form(env_fn: Callable[..., Any]) -> Callable[..., ParallelForm]:
    """Returns what makes the parallel form of the environments that ``env_fn`` makes, from the same options."""

    def parallel_env(**options: Any) -> ParallelForm:
        return ParallelForm(env_fn(**options))

    return parallel_env
