"""The scheme and the leaderboard of each environment of a run."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import partial

from llmarena_envs.core.options import OptionError, check_choice
from rating.config.run_file import RunConfig
from rating.play import absences
from rating.prices import Price
from rating.schemes.base import Scheme
from rating.schemes.leaderboard import Leaderboard
from rating.schemes.setting import ADAPTIVE, ROUND_ROBIN, Begun, EnvironmentSetting, Pool, Setting
from rating.schemes.stopping import PAUSED
from rating.store.environments import load_environment, make_environment, option_names
from rating.store.records import Outcome

STOPPED_AFTER = "stopped_after:"
"""Prefix of the fact that holds the number of outcomes a schedule had when it stopped."""

SCHEDULED = "scheduled:"
"""Prefix of the fact that holds the number of matches after which a schedule ended; empty while it continues."""


def make_scheme(config: RunConfig, environment: str) -> Scheme:
    """Makes the scheme of an environment.

    Raises:
        OptionError: if the environment cannot be rated with the policies of the run, or lacks the configured statistic.
    """
    declaration = load_environment(environment).declaration
    item = config.find_environment(environment)
    scheme = config.scheme_of(environment)
    options = config.options(environment)
    env = make_environment(environment, options)
    agents, references, cases = tuple(env.possible_agents), env.unwrapped.references(), env.unwrapped.cases()
    if item.value:
        env.reset(seed=0)
        check_choice(f"{environment}: value", item.value, env.unwrapped.infos[agents[0]].keys() - {"illegal"})
    env.close()
    return scheme(
        Setting(
            environment=EnvironmentSetting(
                name=environment,
                agents=agents,
                declaration=declaration,
                options=options,
                takes=tuple(option_names(environment)),
                by_deal={**{name: values for name, values in cases.items() if name not in options}, **item.by_deal},
                references=references,
            ),
            pool=Pool(
                policies=tuple(config.pool(environment)),
                newcomers=config.phases(environment)[1:],
                withdrawn=config.withdrawn(environment),
                staff=item.staff,
                seats=tuple(item.seats),
                opponent=item.opponent,
                prices=partial(_prices, config, environment),
            ),
            stopping=config.stop.stopping(),
            begun=Begun(
                count=config.begun(environment),
                starts=config.starts(environment),
                seats=config.recorded(environment),
            ),
            seed=config.seed,
            schedule=config.schedule_of(environment),
            ahead=config.ahead,
            value=item.value,
            tournament=item.tournament.rules() if item.tournament else None,
            max_fallbacks=config.ratings.max_fallbacks,
        )
    )


def _prices(config: RunConfig, environment: str) -> dict[str, Price | None]:
    """Returns the newest price of each policy that asks a model; choices must not depend on the day."""
    table = config.price_table()
    if not table:
        return {}
    return {
        name: table.find(target.model, target.base_url, date.max)
        for (where, name), target in config.targets().items()
        if where == environment and name in config.pool(environment)
    }


def check_schedule(config: RunConfig) -> None:
    """Checks that the run's schedule suits at least one environment.

    Raises:
        OptionError: if it does not.
    """
    if config.schedule == ADAPTIVE and not any(make_scheme(config, item.name).can_adapt for item in config.environment):
        raise OptionError(
            f"schedule: expected {ROUND_ROBIN!r}, since an adaptive one suits policies compared by duels or mean rewards,"
            f" and no environment has such; got {config.schedule!r}"
        )


def idle_stop_rules(config: RunConfig) -> list[str]:
    """Returns a line for each environment that ignores settings of ``[stop]``."""
    said = config.stop.model_fields_set
    if not said:
        return []
    notes = ((item.name, make_scheme(config, item.name).idle_stop_note(said)) for item in config.environment)
    return [f"{name}: {note}" for name, note in notes if note]


def scheduled_matches(facts: Mapping[str, str], environment: str) -> int | None:
    """Returns the number of matches after which the schedule of an environment ended, or ``None`` if unknown."""
    return _number(facts, f"{SCHEDULED}{environment}")


def _number(facts: Mapping[str, str], name: str) -> int | None:
    known = facts.get(name, "")
    return int(known) if known.isdecimal() else None


def paused(config: RunConfig, facts: Mapping[str, str]) -> list[str]:
    """Returns the environments of a run that are paused."""
    return [item.name for item in config.environment if facts.get(f"stopped:{item.name}") == PAUSED]


def make_leaderboard(
    config: RunConfig, environment: str, outcomes: Iterable[Outcome], facts: Mapping[str, str]
) -> Leaderboard:
    """Makes the leaderboard of an environment.

    Args:
        config: the run.
        environment: its name.
        outcomes: of the run, at least one of the environment.
        facts: of the run's store.
    """
    return make_scheme(config, environment).leaderboard(
        outcomes,
        facts.get(f"stopped:{environment}", ""),
        scheduled=scheduled_matches(facts, environment),
        stopped_after=_number(facts, f"{STOPPED_AFTER}{environment}"),
        absent={
            **absences.reasons(facts),
            **dict.fromkeys(config.withdrawn(environment), "withdrawn: its row is of what it had played"),
        },
    )


def make_leaderboards(config: RunConfig, outcomes: Sequence[Outcome], facts: Mapping[str, str]) -> list[Leaderboard]:
    """Makes the leaderboards of all environments with outcomes; arguments as in ``make_leaderboard``."""
    played = {outcome.environment for outcome in outcomes}
    names = [item.name for item in config.environment if item.name in played]
    return [make_leaderboard(config, name, outcomes, facts) for name in names]
