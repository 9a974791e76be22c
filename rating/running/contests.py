"""From the run file to what is compared: the scheme of each environment of a run."""

from llmarena_envs.catalogue import load_environment, make_environment
from rating.running.run_file import RunConfig
from rating.schemes.registry import find_scheme
from rating.schemes.scheme import Scheme, Setting


def make_scheme(config: RunConfig, environment: str) -> Scheme:
    """Makes the scheme of an environment.

    Raises:
        OptionError: if the environment cannot be rated with the policies of the run.
    """
    declaration = load_environment(environment).declaration
    scheme = find_scheme(environment, declaration.scheme)
    options = config.options(environment)
    env = make_environment(environment, options)
    agents, references = tuple(env.possible_agents), env.unwrapped.references()
    env.close()
    return scheme(
        Setting(
            environment=environment,
            agents=agents,
            declaration=declaration,
            policies=tuple(config.pool(environment)),
            options=options,
            seed=config.seed,
            staff=config.staff(environment),
            opponent=config.opponent(environment),
            stop=config.stop.rule(),
            matches=config.stop.matches,
            ahead=config.ahead,
            references=references,
        )
    )
