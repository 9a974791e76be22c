"""Environments and policies of a run, made once and lent to one match at a time."""

import json
from collections import defaultdict
from collections.abc import Iterator

from pettingzoo import AECEnv

from agents.play import close_policies
from agents.policy import Policy, ScriptedPolicy
from agents.registry import make_policy
from llmarena_envs.catalogue import make_environment
from rating.records.match import Match
from rating.running.run_file import RunConfig


class Players:
    """Lends what a match needs, so that prompts and models are not loaded again for every match.

    Args:
        config: the run.
    """

    def __init__(self, config: RunConfig) -> None:
        self._config = config
        self._idle_environments: dict[str, list[AECEnv]] = defaultdict(list)
        self._idle_policies: dict[tuple[str, str], list[Policy]] = defaultdict(list)

    def borrow_environment(self, match: Match) -> AECEnv:
        """Returns an environment for the match that nobody else uses."""
        idle = self._idle_environments[_key(match)]
        return idle.pop() if idle else make_environment(match.environment, match.options)

    def return_environment(self, match: Match, env: AECEnv) -> None:
        """Gives an environment back; one in which something went wrong is dropped instead."""
        self._idle_environments[_key(match)].append(env)

    def borrow_policy(self, name: str, environment: str) -> Policy:
        """Returns a policy that nobody else uses."""
        idle = self._idle_policies[name, environment]
        if idle:
            return idle.pop()
        config = self._config.find_policy(name)
        return make_policy(config.spec, environment, config.options)

    def return_policy(self, name: str, environment: str, policy: Policy) -> None:
        """Gives a policy back."""
        self._idle_policies[name, environment].append(policy)

    def is_scripted(self, match: Match) -> bool:
        """Says whether every seat of the match is a baseline, which computes and waits for nothing."""
        return all(isinstance(policy, ScriptedPolicy) for policy in self._look_at(match))

    def has_person(self, match: Match) -> bool:
        """Says whether a person plays, who can only be asked in the process that has the terminal."""
        return any(getattr(policy, "unlimited_reasks", False) for policy in self._look_at(match))

    def _look_at(self, match: Match) -> Iterator[Policy]:
        for name in sorted(set(match.policies)):
            policy = self.borrow_policy(name, match.environment)
            self.return_policy(name, match.environment, policy)
            yield policy

    async def close(self) -> None:
        """Closes every environment and policy that was given back."""
        for environments in self._idle_environments.values():
            for env in environments:
                env.close()
        for policies in self._idle_policies.values():
            await close_policies(policies)


def _key(match: Match) -> str:
    return f"{match.environment} {json.dumps(match.options, sort_keys=True)}"
