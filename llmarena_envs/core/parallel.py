"""The parallel form of simultaneous games."""

from collections.abc import Callable, Mapping
from typing import Any

from pettingzoo.utils.conversions import aec_to_parallel_wrapper
from pettingzoo.utils.env_logger import EnvLogger

from llmarena_envs.core.order import Options


class ParallelForm(aec_to_parallel_wrapper):
    """PettingZoo's conversion, with a check for missing actions before any action is applied."""

    def step(self, actions: Mapping[str, Any]) -> Any:
        """Acts for every agent at once; warns and returns empty dicts if no agent is left.

        Args:
            actions: one action for each agent of ``agents``. Actions of other agents are ignored, as in PettingZoo: clients
                also send them for agents that have left the match.

        Returns:
            Observations, rewards, terminations, truncations and infos, each by agent.

        Raises:
            ValueError: if an agent has no action; no action is applied then.
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


def parallel_form(env_fn: Callable[Options, Any]) -> Callable[Options, ParallelForm]:
    """Returns a function that makes the parallel form of ``env_fn``'s environments, from the same options."""

    def parallel_env(*args: Options.args, **options: Options.kwargs) -> ParallelForm:
        return ParallelForm(env_fn(*args, **options))

    return parallel_env
