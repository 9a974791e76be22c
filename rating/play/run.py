"""A run: its configuration, what earlier sessions began, its schemes and its leaderboards."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import partial

from llmarena_envs.core.options import OptionError, check_choice
from rating.config.resume import Earlier
from rating.config.run_file import RunConfig
from rating.prices import Price
from rating.schemes.base import Scheme
from rating.schemes.leaderboard import Leaderboard
from rating.schemes.setting import ADAPTIVE, ROUND_ROBIN, Begun, EnvironmentSetting, Pool, Setting
from rating.schemes.stopping import PAUSED
from rating.store.environments import load_environment, make_environment, option_names
from rating.store.records import Outcome
from rating.store.state import RunState


class Run:
    """A run. Its stopping rule and the scheme of each environment are made once.

    Args:
        config: its settings.
        earlier: what earlier sessions left, by environment; by default nothing.
    """

    def __init__(self, config: RunConfig, earlier: Mapping[str, Earlier] | None = None) -> None:
        self.config = config
        self._earlier = earlier or {}
        self._stopping = config.stop.stopping()
        self._schemes: dict[str, Scheme] = {}

    def phases(self, environment: str) -> tuple[tuple[str, ...], ...]:
        """Returns the rated policies of an environment in all sessions by phase, including withdrawn ones."""
        return self._left(environment).phases

    def pool(self, environment: str) -> tuple[str, ...]:
        """Returns the rated policies of an environment in all sessions, in order of phases."""
        return (*itertools.chain(*self.phases(environment)),)

    def begun(self, environment: str) -> Begun:
        """Returns the matches of an environment that earlier sessions began."""
        return self._left(environment).begun

    def _left(self, environment: str) -> Earlier:
        return self._earlier.get(environment) or Earlier((tuple(self.config.pool(environment)),))

    def withdrawn(self, environment: str) -> frozenset[str]:
        """Returns the policies of the pool that were withdrawn."""
        return frozenset(self.pool(environment)).difference(self.config.pool(environment))

    def scheme(self, environment: str) -> Scheme:
        """Returns the scheme of an environment.

        Raises:
            OptionError: if the environment cannot be rated with the policies of the run, or lacks the configured statistic.
        """
        if environment not in self._schemes:
            self._schemes[environment] = self._make_scheme(environment)
        return self._schemes[environment]

    def schemes(self) -> dict[str, Scheme]:
        """Returns the scheme of each environment. Raises like ``scheme``."""
        return {item.name: self.scheme(item.name) for item in self.config.environment}

    def _make_scheme(self, environment: str) -> Scheme:
        config = self.config
        item = config.find_environment(environment)
        options = config.options(environment)
        env = make_environment(environment, options)
        agents, references, cases = tuple(env.possible_agents), env.unwrapped.references(), env.unwrapped.cases()
        if item.value:
            env.reset(seed=0)
            check_choice(f"{environment}: value", item.value, env.unwrapped.infos[agents[0]].keys() - {"illegal"})
        env.close()
        return config.scheme_of(environment)(
            Setting(
                environment=EnvironmentSetting(
                    name=environment,
                    agents=agents,
                    declaration=load_environment(environment).declaration,
                    options=options,
                    takes=tuple(option_names(environment)),
                    by_deal={**{name: values for name, values in cases.items() if name not in options}, **item.by_deal},
                    references=references,
                ),
                pool=Pool(
                    policies=self.pool(environment),
                    newcomers=self.phases(environment)[1:],
                    withdrawn=self.withdrawn(environment),
                    staff=item.staff,
                    seats=tuple(item.seats),
                    opponent=item.opponent,
                    prices=partial(self._prices, environment),
                ),
                stopping=self._stopping,
                begun=self.begun(environment),
                seed=config.seed,
                schedule=config.schedule_of(environment),
                ahead=config.ahead,
                value=item.value,
                tournament=item.tournament.rules() if item.tournament else None,
                max_fallbacks=config.ratings.max_fallbacks,
            )
        )

    def _prices(self, environment: str) -> dict[str, Price | None]:
        """Returns the newest price of each policy that asks a model; choices must not depend on the day."""
        table = self.config.price_table()
        if not table:
            return {}
        return {
            name: table.find(target.model, target.base_url, date.max)
            for (where, name), target in self.config.targets().items()
            if where == environment and name in self.pool(environment)
        }

    def check(self) -> None:
        """Checks that every environment can be rated, and that the run's schedule suits at least one.

        Raises:
            OptionError: if not.
        """
        schemes = self.schemes().values()
        if self.config.schedule == ADAPTIVE and not any(scheme.can_adapt for scheme in schemes):
            raise OptionError(
                f"schedule: expected {ROUND_ROBIN!r}, since an adaptive one suits policies compared by duels or mean rewards,"
                f" and no environment has such; got {self.config.schedule!r}"
            )

    def idle_stop_rules(self) -> list[str]:
        """Returns a line for each environment that ignores settings of ``[stop]``."""
        said = self.config.stop.model_fields_set
        if not said:
            return []
        notes = ((name, scheme.idle_stop_note(said)) for name, scheme in self.schemes().items())
        return [f"{name}: {note}" for name, note in notes if note]

    def paused(self, state: RunState) -> list[str]:
        """Returns the environments that are paused."""
        names = (item.name for item in self.config.environment)
        return [name for name in names if state.schedule(name).stop_reason == PAUSED]

    def leaderboard(self, environment: str, outcomes: Iterable[Outcome], state: RunState) -> Leaderboard:
        """Makes the leaderboard of an environment.

        Args:
            environment: its name.
            outcomes: of the run, at least one of the environment.
            state: the recorded state of the run.
        """
        schedule = state.schedule(environment)
        return self.scheme(environment).leaderboard(
            outcomes,
            schedule.stop_reason,
            scheduled=schedule.scheduled,
            stopped_after=schedule.stopped_after,
            absent={
                **suspensions(state),
                **dict.fromkeys(self.withdrawn(environment), "withdrawn: its row is of what it had played"),
            },
        )

    def leaderboards(self, outcomes: Sequence[Outcome], state: RunState) -> list[Leaderboard]:
        """Makes the leaderboards of all environments with outcomes; arguments as in ``leaderboard``."""
        played = {outcome.environment for outcome in outcomes}
        names = [item.name for item in self.config.environment if item.name in played]
        return [self.leaderboard(name, outcomes, state) for name in names]


def suspensions(state: RunState) -> dict[str, str]:
    """Returns what to say of the policies that were suspended in the last session, by name."""
    return {
        name: f"suspended: {reason}; repair it and resume, or take it out of the run file"
        for name, reason in state.suspended.items()
    }
