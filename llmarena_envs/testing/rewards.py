"""Rules about rewards: amounts and timing."""

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from llmarena_envs.testing.trial import Trial, agents_to_move, is_over, random_move

TOLERANCE = 1e-6
"""Tolerance of sums of rewards for rounding."""


def every_agent_has_a_float_reward(trial: Trial) -> None:
    """At every position exactly the agents of ``env.agents`` have a finite ``float`` in ``rewards``.

    PettingZoo's ``_clear_rewards`` writes ``int``.
    """
    for env in trial.positions():
        for name, table in (("rewards", env.rewards), ("_cumulative_rewards", env._cumulative_rewards)):
            trial.expect(set(table) == set(env.agents), f"{name} of {env.agents}", table)
            for agent, reward in table.items():
                is_one = isinstance(reward, float) and math.isfinite(reward)
                trial.expect(is_one, f"a finite float in {name}", {type(reward).__name__: reward}, agent)


def rewards_reach_every_agent(trial: Trial) -> None:
    """The rewards from ``last()`` add up to each agent's total reward, including the last one."""
    for seed in trial.seeds:
        env = trial.make()
        earned = dict.fromkeys(env.possible_agents, 0.0)
        delivered = dict.fromkeys(env.possible_agents, 0.0)
        env.reset(seed=seed)
        trial.seed, trial.turn = seed, 0
        rng = np.random.default_rng(seed)
        while env.agents and trial.turn <= env.unwrapped.max_turns + len(env.possible_agents):
            over = is_over(env)
            _receive(trial, env, delivered)
            env.step(random_move(env, rng))
            trial.turn += 1
            if not over:
                for agent, reward in env.rewards.items():
                    earned[agent] += reward
        for agent in env.possible_agents:
            trial.expect(
                math.isclose(earned[agent], delivered[agent], rel_tol=1e-9, abs_tol=1e-9),
                f"last() to deliver the {earned[agent]} that were earned",
                delivered[agent],
                agent,
            )


def _receive(trial: Trial, env: Any, delivered: dict[str, float]) -> None:
    """Adds the selected agent's reward from ``last()`` to its sum."""
    agent = env.agent_selection
    _, reward, terminated, truncated, info = env.last()
    trial.expect(type(terminated) is bool and type(truncated) is bool, "ends as bool", (terminated, truncated), agent)
    trial.expect(info == env.infos[agent], f"last() to show infos[{agent!r}] = {env.infos[agent]}", info, agent)
    delivered[agent] += reward


def rewards_are_those_of_the_game(trial: Trial) -> None:
    """``env.rewards`` equal ``game.rewards``, in the order of ``game.agents``, when a stage is complete, and 0 otherwise.

    ``reset`` gives no rewards.
    """
    for seed in trial.seeds:
        env = trial.make()
        if not hasattr(env.unwrapped, "game"):
            return
        complete = True
        for _ in trial.play(env, seed):
            if env.agents != env.possible_agents:
                break
            paid = env.unwrapped.game.rewards if complete else [0.0] * len(env.agents)
            trial.expect(
                env.rewards == named_rewards(env, paid), f"the rewards {named_rewards(env, paid)}", env.rewards
            )
            complete = len(agents_to_move(env)) == 1


def named_rewards(env: Any, rewards: Iterable[float]) -> dict[str, float]:
    """Returns rewards of a game by agent."""
    return {agent: float(reward) for agent, reward in zip(env.unwrapped.game.agents, rewards, strict=True)}


def totals_are_what_was_announced(trial: Trial) -> None:
    """The total reward of every agent is in ``reward_range``; with ``zero_sum`` the sum over all agents is 0.

    In a match played to its end the totals equal ``expected_totals``. A forfeited match must be ``zero_sum`` if there are two
    agents. By default nothing is checked.
    """
    if trial.reward_range is None and not trial.zero_sum and trial.expected_totals is None:
        return
    low, high = trial.reward_range or (-math.inf, math.inf)
    for env, totals, forfeited in _finished_matches(trial):
        for agent, total in totals.items():
            in_range = low - TOLERANCE <= total <= high + TOLERANCE
            trial.expect(in_range, f"rewards that add up to {low:g} to {high:g}", total, agent)
        if trial.zero_sum and (not forfeited or len(totals) == 2):
            trial.expect(math.isclose(sum(totals.values()), 0, abs_tol=TOLERANCE), "totals that add up to 0", totals)
        if trial.expected_totals is not None and not forfeited:
            expected = dict(trial.expected_totals(env.unwrapped.game))
            same = expected.keys() == totals.keys() and all(
                math.isclose(totals[agent], expected[agent], rel_tol=1e-9, abs_tol=TOLERANCE) for agent in totals
            )
            trial.expect(same, f"expected_totals: {expected}", totals)


def _finished_matches(trial: Trial) -> Iterator[tuple[Any, dict[str, float], bool]]:
    """Plays every match to its end and once to a forfeit; yields it with the total rewards and whether it was forfeited."""
    for seed in trial.seeds:
        for forfeited_at in (None, seed % 4):
            env, rng = trial.make(), np.random.default_rng(seed)
            env.reset(seed=seed)
            trial.seed, trial.turn = seed, 0
            totals = dict.fromkeys(env.possible_agents, 0.0)
            forfeited = False
            while not is_over(env):
                forfeits = trial.turn == forfeited_at
                forfeited = forfeited or forfeits
                env.step(None if forfeits else random_move(env, rng))
                totals = {agent: total + env.rewards[agent] for agent, total in totals.items()}
                trial.turn += 1
            yield env, totals, forfeited


RULES = (
    every_agent_has_a_float_reward,
    rewards_reach_every_agent,
    rewards_are_those_of_the_game,
    totals_are_what_was_announced,
)
