"""Rules about the course of a match: its end, the selected agent, infos."""

import math

import numpy as np

from llmarena_envs.testing.trial import Trial, agents_to_move, is_over, random_move


def matches_end_within_max_turns(trial: Trial) -> None:
    """A match of random legal moves ends within ``env.unwrapped.max_turns`` agent turns."""
    bound = trial.make().unwrapped.max_turns
    trial.expect(isinstance(bound, int) and bound > 0, "max_turns to be a positive int", bound)
    for _ in trial.positions():
        pass


def random_and_default_actions_are_legal(trial: Trial) -> None:
    """``random_action`` and ``default_action``, if there is one, never forfeit a match."""
    for default in (False, True):
        for seed in trial.seeds:
            trial.seed, env = seed, trial.make()
            env.reset(seed=seed)
            rng = np.random.default_rng(seed)
            trial.turn = 0
            while not is_over(env) and trial.turn < env.unwrapped.max_turns:
                agent = env.agent_selection
                action = env.unwrapped.default_action(agent) if default else None
                env.step(random_move(env, rng) if action is None else action)
                trial.turn += 1
                illegal = {name: info["illegal"] for name, info in env.infos.items()}
                trial.expect(not any(illegal.values()), "nobody to have acted illegally", illegal, agent)


def all_agents_stay_until_the_end(trial: Trial) -> None:
    """All agents, including eliminated ones, stay in ``env.agents`` and end together."""
    for env in trial.positions():
        ended = [env.terminations[agent] or env.truncations[agent] for agent in env.agents]
        if any(ended):
            trial.expect(all(ended), "all agents to end together", {**env.terminations, **env.truncations})
        elif env.agents:
            trial.expect(env.agents == env.possible_agents, f"agents = {env.possible_agents}", env.agents)


def agents_to_move_act_before_others(trial: Trial) -> None:
    """The selected agent is to move; in a simultaneous stage the rest of the stage acts next, in seat order."""
    for seed in trial.seeds:
        env = trial.make()
        pending: list[str] = []
        for _ in trial.play(env, seed):
            stage = agents_to_move(env)
            if is_over(env):
                trial.expect(not stage, "nobody to be to move once the match is over", stage)
                continue
            if pending:
                trial.expect(stage == pending, f"{pending} to be to move: their stage is not complete", stage)
            trial.expect(
                stage[:1] == [env.agent_selection],
                "the selected agent to be the first of those whose view says to_move",
                f"selected: {env.agent_selection}, to move: {stage}",
            )
            pending = stage[1:]


def infos_hold_numbers_only(trial: Trial) -> None:
    """Infos are flat dicts of numbers and flags, with an integer ``illegal``; no texts, no objects, no secrets."""
    for env in trial.positions():
        for agent, info in env.infos.items():
            trial.expect(isinstance(info.get("illegal"), int), "infos with an int called 'illegal'", info, agent)
            for key, value in info.items():
                trial.expect(
                    isinstance(key, str) and isinstance(value, bool | int | float | np.number) and math.isfinite(value),
                    "names of finite numbers or flags",
                    {key: value},
                    agent,
                )


def infos_keep_their_keys(trial: Trial) -> None:
    """The infos of every agent have the same keys from the first position of a match to the last."""
    for seed in trial.seeds:
        env = trial.make()
        keys: dict[str, list[str]] = {}
        for _ in trial.play(env, seed):
            for agent, info in env.infos.items():
                first = keys.setdefault(agent, list(info))
                trial.expect(list(info) == first, f"the keys {first} of the beginning", list(info), agent)


def infos_are_the_statistics_of_the_game(trial: Trial) -> None:
    """During a match, infos hold exactly ``illegal`` and the agent's ``game.statistics``."""
    for env in trial.positions():
        if not hasattr(env.unwrapped, "game"):
            return
        for agent in () if is_over(env) else env.agents:
            expected = {"illegal": 0, **env.unwrapped.game.statistics(agent)}
            trial.expect(env.infos[agent] == expected, f"the infos {expected}", env.infos[agent], agent)


RULES = (
    matches_end_within_max_turns,
    random_and_default_actions_are_legal,
    all_agents_stay_until_the_end,
    agents_to_move_act_before_others,
    infos_hold_numbers_only,
    infos_keep_their_keys,
    infos_are_the_statistics_of_the_game,
)
