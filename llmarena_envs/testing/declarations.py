"""Rules about the declaration of an environment, which tournaments rely on."""

import inspect
from typing import Any

from llmarena_envs.core.declaration import Declaration, role_of
from llmarena_envs.core.text_env import TextEnv
from llmarena_envs.testing.trial import Trial, is_over


def the_declaration_fits_the_environment(trial: Trial) -> None:
    """``declaration`` names existing roles, options and statistics, and rated matches can be created.

    ``rated_roles`` are roles of agents; ``rated_options`` and the option of ``hidden_role`` are constructor arguments; at the
    end of a match, the statistic of ``hidden_role`` holds the role of every rated agent.
    """
    env = trial.make()
    raw = env.unwrapped
    if not isinstance(raw, TextEnv):
        return
    declaration: Any = raw.declaration
    trial.expect(isinstance(declaration, Declaration), "a Declaration as declaration", declaration)
    arguments = list(inspect.signature(type(raw).__init__).parameters)[1:]
    unknown = [option for option in declaration.rated_options if option not in arguments]
    trial.expect(not unknown, f"rated_options among the arguments of the constructor {arguments}", unknown)
    trial.env_fn(**declaration.rated_options).close()
    roles = {role_of(agent) for agent in raw.possible_agents}
    strangers = [role for role in declaration.rated_roles if role not in roles]
    trial.expect(not strangers, f"rated_roles among the roles {sorted(roles)} of {raw.possible_agents}", strangers)
    hidden = declaration.hidden_role
    if hidden is None:
        return
    option = hidden.option
    trial.expect(
        option in arguments, f"the option of hidden_role to be an argument of the constructor {arguments}", option
    )
    for _ in trial.play(env, trial.seeds[0]):
        if is_over(env):
            _check_roles(trial, env, hidden.statistic, list(hidden.values.values()))
            return


def _check_roles(trial: Trial, env: Any, statistic: str, values: list[float]) -> None:
    for agent in filter(env.unwrapped.declaration.is_rated, env.possible_agents):
        info = env.infos[agent]
        expected = f"infos with {statistic!r}, the statistic of hidden_role, as one of {values} at the end"
        trial.expect(info.get(statistic) in values, expected, info, agent)


RULES = (the_declaration_fits_the_environment,)
