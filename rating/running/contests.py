"""From the run file to what is compared: the scheme of each environment of a run."""

from llmarena_envs.catalogue import load_environment, make_environment, option_names
from llmarena_envs.core.options import check_choice
from rating.running.run_file import RunConfig
from rating.schemes.registry import find_scheme
from rating.schemes.scheme import Scheme, Setting


def make_scheme(config: RunConfig, environment: str) -> Scheme:
    """Makes the scheme of an environment.

    Raises:
        OptionError: if the environment cannot be rated with the policies of the run, or has no statistic of the name asked for.
    """
    declaration = load_environment(environment).declaration
    item = config.find_environment(environment)
    scheme = find_scheme(environment, item.scheme or declaration.scheme)
    options = config.options(environment)
    env = make_environment(environment, options)
    agents, references, cases = tuple(env.possible_agents), env.unwrapped.references(), env.unwrapped.cases()
    if item.value:
        env.reset(seed=0)
        check_choice(f"{environment}: value", item.value, env.unwrapped.infos[agents[0]].keys() - {"illegal"})
    env.close()
    return scheme(
        Setting(
            environment=environment,
            agents=agents,
            declaration=declaration,
            policies=tuple(config.pool(environment)),
            options=options,
            takes=tuple(option_names(environment)),
            by_deal={**{name: values for name, values in cases.items() if name not in options}, **item.by_deal},
            seed=config.seed,
            staff=item.staff,
            opponent=item.opponent,
            stop=config.stop.rule(),
            matches=config.stop.matches,
            ahead=config.ahead,
            references=references,
            value=item.value,
            half_width=config.stop.half_width,
            still=config.stop.still,
            tournament=item.tournament.rules() if item.tournament else None,
        )
    )
