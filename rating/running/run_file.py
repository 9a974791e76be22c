"""The run file: what is played by whom, in TOML, checked key by key."""

import itertools
import json
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal

import tomlkit
from pydantic import BaseModel, Field, PrivateAttr, ValidationError

from agents.models import ModelService
from agents.models.service import Target
from agents.player import Player
from agents.registry import make_policy
from agents.turn import TurnSettings
from llmarena_envs.core.declaration import Declaration
from llmarena_envs.core.options import OptionError, check_choice, nearest
from rating.accounting.prices import Price, PriceTable
from rating.records.environments import admit, check_file, load_environment, make_environment
from rating.running.price_file import read_prices
from rating.running.run_tables import (
    BudgetConfig,
    Count,
    EnvironmentConfig,
    ExecutorName,
    PolicyConfig,
    RatingsConfig,
    ScheduleName,
    StopConfig,
    Table,
    TurnsConfig,
)
from rating.running.tournament_config import TournamentConfig
from rating.schemes.registry import find_scheme
from rating.schemes.scheme import ADAPTIVE, ROUND_ROBIN

DEADLINE = 600.0
"""Seconds a policy has for a reply unless the run says otherwise: a run must end."""

PERSON = "human"
"""Spec of a person, at the terminal or in a browser."""

Preset = Literal["standard", "llmarena"]
"""The two sets of rules for bad replies."""

MAX_TITLE = 200
"""Characters of a policy's name: it stands in tables."""


class RunConfig(Table):
    """A whole run.

    Attributes:
        environment: what is played.
        policy: who plays.
        seed: root seed, from which every match draws.
        preset: ``standard`` or ``llmarena``, the two sets of rules for bad replies.
        turns: treatment of bad replies where it differs from the preset.
        stop: when to stop.
        ratings: when a rating is shown.
        ahead: how many batches play may run ahead of the stop rule: a batch is chosen from the outcomes of the batches that
            come at least so many before it. With 1 every batch waits for the last match of the one before; with 2 the next
            batch is under way meanwhile, and the batch after the one that satisfied the rule is played too. The limit
            ``max_matches`` holds in any case. What is known beforehand (a number of matches, the first ``min_matches``) is
            not waited for; so it limits how many matches are under way only where a rule waits for ratings, to so many batches.
        schedule: of all environments whose scheme has it and that do not say otherwise; see ``EnvironmentConfig``.
        executor: where matches are played: ``asyncio`` (this process), ``process`` (a pool), ``ray`` (a Ray cluster) or ``auto``:
            the pool for matches between scripted policies, this process for all others. Matches of a person and of a model are
            played in this process in any case. It changes no result and may be changed while a run is under way.
        workers: processes of the pool, or in the Ray cluster; 0 for one a core.
        concurrency: matches under way at once in this process.
        max_errors: provider failures and environment bugs after which the run stops; it can be resumed.
        keep_going: play on where the first 30 matches of an environment give no information.
        tries: how often a match is begun within one run if a provider fails.
        price: what models cost.
        prices: path of a file that says so instead. A new run keeps the prices instead of the path.
        budget: how much the run may take.
    """

    environment: Annotated[list[EnvironmentConfig], Field(min_length=1)]
    policy: Annotated[list[PolicyConfig], Field(min_length=1)]
    seed: Annotated[int, Field(ge=0)] = 0
    preset: Preset = "standard"
    turns: TurnsConfig = TurnsConfig()
    stop: StopConfig = StopConfig()
    ratings: RatingsConfig = RatingsConfig()
    ahead: Count = 2
    schedule: ScheduleName | None = None
    executor: ExecutorName = "auto"
    workers: Annotated[int, Field(ge=0, le=1024)] = 0
    concurrency: Count = 64
    max_errors: Annotated[int, Field(ge=0)] = 20
    keep_going: bool = False
    tries: Count = 3
    price: list[Price] = Field(default_factory=list)
    prices: str = ""
    budget: BudgetConfig = BudgetConfig()

    _phases: dict[str, tuple[tuple[str, ...], ...]] = PrivateAttr(default_factory=dict)
    _starts: dict[str, tuple[int, ...]] = PrivateAttr(default_factory=dict)
    _begun: dict[str, int] = PrivateAttr(default_factory=dict)
    _recorded: dict[str, tuple[tuple[str, ...], ...]] = PrivateAttr(default_factory=dict)
    _operational: dict[str, set[str]] = PrivateAttr(default_factory=dict)
    _people: set[str] = PrivateAttr(default_factory=set)

    def check_names(self) -> None:
        """Checks what can be checked without making anything: a run that is only read goes no further.

        Raises:
            OptionError: if two have the same name, or a name cannot stand in a table.
        """
        _check_distinct("environment", [item.name for item in self.environment])
        _check_distinct("policy", [item.title for item in self.policy])
        for item in self.policy:
            _check_title(item.title)
        for environment in self.environment:
            for name in self._others(environment):
                _check_title(name)

    def admit(self) -> None:
        """Lets the run have imported and opened what it names: the user plays it."""
        files = [self.prices, *(item.tournament.prior_file for item in self.environment if item.tournament)]
        for item in self.environment:
            files += [value for _, value in (*item.options.items(), *_by_deal(item)) if isinstance(value, str)]
        others = [name for item in self.environment for name in self._others(item)]
        specs = [*others, *(item.spec for item in self.policy)]
        admit([item.name for item in self.environment], specs, files)

    def check(self, *, offline: bool = False) -> "RunConfig":
        """Makes every environment and policy once, so that a bad name or option fails before anything is played.

        Args:
            offline: whether no model will be asked anything, so that no keys are needed.

        Returns:
            The run with what its policies say of themselves, which ``identity`` records.

        Raises:
            OptionError: if one cannot be made.
        """
        self.admit()
        config = self.model_copy()
        config._operational, config._people = {}, set()
        for environment in self.environment:
            self._check_environment(environment)
        for item in self.policy:
            for name in item.environments:
                check_choice(f"policy {item.title!r}: environments", name, [entry.name for entry in self.environment])
        service = ModelService(offline=offline)
        for item in self.policy:
            config._check_policy(item, service)
        for environment in self.environment:
            for name in self._others(environment):
                config._make(self.find_policy(name), environment.name, service)
        self.price_table()
        if self.budget.cost is not None:
            self.check_priced()
        return config

    def check_priced(self) -> None:
        """Checks that every model has a price today, without which no budget on cost can be kept.

        Raises:
            OptionError: if one has none.
        """
        prices, today = self.price_table(), datetime.now(UTC).date()
        for target in self.targets().values():
            if prices.find(target.model, target.endpoint.split()[0] or "", today) is None:
                raise OptionError(
                    f"budget: a limit on cost needs a price for every model, but {target.model!r} has none; write into the run"
                    " file, with amounts for a million tokens:\n[[price]]\n"
                    f"model = {json.dumps(target.model)}\ninput = 0.50\noutput = 1.50"
                )

    def targets(self) -> dict[tuple[str, str], Target]:
        """Returns which model is asked, by environment and name of the policy, for those that say so."""
        found, unasked = {}, ModelService(offline=True)
        for environment in self.environment:
            for name in self.seated(environment.name):
                policy = self.find_policy(name)
                made = make_policy(policy.spec, environment.name, policy.options, service=unasked)
                target = getattr(made, "target", None)
                if isinstance(target, Target):
                    found[environment.name, name] = target
        return found

    def policies_by_model(self) -> dict[str, str]:
        """Returns the name of the first policy that asks a model, by the name of the model."""
        found: dict[str, str] = {}
        for (_, name), target in self.targets().items():
            found.setdefault(target.model, name)
        return found

    def seated(self, environment: str) -> list[str]:
        """Returns the names of all who still play or serve in an environment, sorted."""
        return sorted({*self.present(environment), *self._others(self.find_environment(environment))})

    @staticmethod
    def _others(environment: EnvironmentConfig) -> list[str]:
        """Returns the names of all who only serve in an environment."""
        opponent = [environment.opponent] if environment.opponent else []
        return [*opponent, *itertools.chain(*environment.staff.values())]

    def _make(self, policy: PolicyConfig, environment: str, service: ModelService) -> None:
        """Makes a policy, and keeps what those who only read the run are to know of it.

        Raises:
            OptionError: if it cannot be made.
        """
        made = make_policy(policy.spec, environment, policy.options, service=service)
        self._operational.setdefault(policy.title, set()).update(getattr(made, "OPERATIONAL", ()))
        if Player(made).is_person:
            self._people.add(policy.title)

    def price_table(self) -> PriceTable:
        """Returns the prices.

        Raises:
            OptionError: if they contradict each other, or their file cannot be read.
        """
        if self.price and self.prices:
            raise OptionError("prices: expected [[price]] tables or the path of a file that holds them, got both")
        if self.prices:
            check_file(self.prices, "prices")
        return PriceTable(read_prices(Path(self.prices)) if self.prices else self.price)

    def _check_environment(self, environment: EnvironmentConfig) -> None:
        """Makes an environment, and one with each of the values that an option takes in turn.

        Raises:
            OptionError: if one cannot be made, or an option has both a value and values in turn.
        """
        options = self.options(environment.name)
        make_environment(environment.name, options).close()
        for name, value in _by_deal(environment):
            if name in environment.options:
                raise OptionError(
                    f"{environment.name}: by_deal: expected options that have no value, got {name!r}, which has one in options"
                )
            make_environment(environment.name, {**options, name: value}).close()

    def _check_policy(self, policy: PolicyConfig, service: ModelService) -> None:
        """Makes a policy for every environment it plays.

        Raises:
            OptionError: if it cannot be made; the message says how to restrict a policy that plays some of them only.
        """
        plays, not_played = [], {}
        for environment in self.environment:
            if policy.title in self.pool(environment.name):
                try:
                    self._make(policy, environment.name, service)
                    plays.append(environment.name)
                except OptionError as error:
                    not_played[environment.name] = error
        if not_played and plays and not policy.environments:
            raise OptionError(
                f"policy {policy.title!r} plays {', '.join(plays)}, but not {', '.join(not_played)}: restrict it with"
                f" environments = {json.dumps(plays)} in the run file, or"
                f" {' '.join(f'--policy {policy.spec}@{name}' for name in plays)} on the command line"
                f" ({next(iter(not_played.values()))})"
            )
        for refusal in not_played.values():
            raise refusal

    def identity(self) -> str:
        """Returns what is recorded of a run that goes on: see ``rating.running.resumption`` for what of it may change.

        That is all that decides which matches are played and how, who is a person, and which options of policies may change.
        """
        players = {
            item.title: {"spec": item.spec, **{key: item.options[key] for key in item.options if key != "base_url"}}
            for item in self.policy
        }
        turns = {item.name: asdict(self.turn_settings(item.name)) for item in self.environment}
        rules = {item.name: asdict((item.tournament or TournamentConfig()).rules()) for item in self.environment}
        identity = {"players": players, "turns": turns, "tournament": rules, "seed": self.seed, "ahead": self.ahead}
        identity["environments"] = {item.name: item.fixed() for item in self.environment}
        identity["schedule"] = {item.name: self.schedule_of(item.name) for item in self.environment}
        identity["operational"] = {title: sorted(names) for title, names in self._operational.items() if names}
        identity["people"] = sorted(self._people)
        identity["pools"] = {item.name: self.phases(item.name) for item in self.environment}
        return json.dumps(identity, sort_keys=True, default=str)

    def options(self, environment: str) -> dict[str, Any]:
        """Returns the constructor options of an environment in this run."""
        item = self.find_environment(environment)
        declared = load_environment(environment).declaration.rated_options if item.rated_options else {}
        return {**declared, **item.options}

    def schedule_of(self, environment: str) -> str:
        """Returns the schedule of an environment: its own, the run's if its scheme has it, or the standard one of its scheme.

        Raises:
            OptionError: if its scheme is none.
        """
        item = self.find_environment(environment)
        if item.schedule:
            return item.schedule
        scheme = find_scheme(environment, item.scheme or load_environment(environment).declaration.scheme)
        if not scheme.can_adapt or item.seats:
            return ROUND_ROBIN
        return self.schedule or scheme.standard_schedule

    def pool(self, environment: str) -> list[str]:
        """Returns the names of the policies that are compared in an environment: sorted, later phases behind earlier ones."""
        return [*itertools.chain(*self.phases(environment))]

    def phases(self, environment: str) -> tuple[tuple[str, ...], ...]:
        """Returns the pool by the phases in which it came, those who were withdrawn included."""
        return self._phases.get(environment, (tuple(self.present(environment)),))

    def starts(self, environment: str) -> tuple[int, ...]:
        """Returns the number of the first match of each phase but the first that has begun."""
        return self._starts.get(environment, ())

    def withdrawn(self, environment: str) -> frozenset[str]:
        """Returns those of the pool who play no more."""
        return frozenset(self.pool(environment)).difference(self.present(environment))

    def begun(self, environment: str) -> int:
        """Returns the number of matches of an environment that were begun in earlier sessions."""
        return self._begun.get(environment, 0)

    def recorded(self, environment: str) -> tuple[tuple[str, ...], ...]:
        """Returns the policies on the seats of each match of an environment that was begun in earlier sessions, by number.

        They are known where the schedule depends on them.
        """
        return self._recorded.get(environment, ())

    def with_phases(
        self,
        phases: Mapping[str, tuple[tuple[str, ...], ...]],
        starts: Mapping[str, tuple[int, ...]],
        begun: Mapping[str, int],
    ) -> "RunConfig":
        """Returns the run with the phases in which its pools came, by environment, where they begin, and how far it is."""
        config = self.model_copy()
        config._phases, config._starts, config._begun = dict(phases), dict(starts), dict(begun)
        return config

    def with_recorded(self, seats: Callable[[str], Sequence[tuple[str, ...]]]) -> "RunConfig":
        """Returns the run with what was scheduled of its adaptive environments; ``seats`` is asked for it by name."""
        config = self.model_copy()
        config._recorded = {
            item.name: tuple(seats(item.name)) for item in self.environment if self.schedule_of(item.name) == ADAPTIVE
        }
        return config

    def present(self, environment: str) -> list[str]:
        """Returns the names of the policies that the run file has compared in an environment, sorted."""
        return sorted(
            item.title
            for item in self.policy
            if item.rated and not item.withdrawn and (not item.environments or environment in item.environments)
        )

    def find_policy(self, title: str) -> PolicyConfig:
        """Returns the policy that tables call ``title``; a title of nobody in the pool is the spec of one that only serves."""
        return next((item for item in self.policy if item.title == title), PolicyConfig(spec=title))

    def people(self) -> list[str]:
        """Returns the names of the persons who play or serve, sorted."""
        seated = {name for item in self.environment for name in self.seated(item.name)}
        return sorted(name for name in seated if self.find_policy(name).spec == PERSON)

    def turn_settings(self, environment: str) -> TurnSettings:
        """Returns what happens to bad replies in an environment."""
        settings = preset_turns(self.preset, load_environment(environment).declaration)
        for turns in (self.turns, self.find_environment(environment).turns):
            settings = replace(settings, **turns.model_dump(exclude_none=True))
        return settings

    def find_environment(self, name: str) -> EnvironmentConfig:
        """Returns what the run says of an environment."""
        return next(item for item in self.environment if item.name == name)


def preset_turns(preset: Preset, declared: Declaration) -> TurnSettings:
    """Returns what a preset has happen to bad replies in an environment that declares this."""
    settings = TurnSettings(unparsable=declared.unparsable, illegal=declared.illegal, deadline=DEADLINE)
    if preset == "standard":
        return settings
    return replace(
        settings,
        reasks=declared.llmarena_reasks,
        reask_illegal=False,
        feedback=False,
        illegal="forfeit",
        pay_opponents=False,
    )


def _by_deal(environment: EnvironmentConfig) -> Iterator[tuple[str, Any]]:
    """Yields each value of each option that changes from deal to deal."""
    for name, values in environment.by_deal.items():
        for value in values:
            yield name, value


def _check_distinct(kind: str, names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise OptionError(f"{kind}: expected distinct names, got {name!r} twice; give one of them another name")


def _check_title(title: str) -> None:
    if len(title) > MAX_TITLE or not title.isprintable():
        raise OptionError(
            f"policy: expected a name of at most {MAX_TITLE} characters on one line, got {title[:MAX_TITLE]!r};"
            " give a shorter or plainer one with: name"
        )


def parse_run_file(text: str, where: str) -> RunConfig:
    """Reads a run file; nothing is imported or opened that it names.

    Args:
        text: its text, TOML.
        where: its name for error messages.

    Raises:
        OptionError: if it is no TOML, or a key or value is not known.
    """
    try:
        config = RunConfig.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise OptionError(f"{where}: not a TOML file: {error}") from error
    except ValidationError as error:
        raise OptionError(f"{where}: {explanation(error)}") from error
    config = config.model_copy(update={"policy": [item for item in config.policy if not item.withdrawn]})
    config.check_names()
    return config


_TABLES: dict[str, type[BaseModel]] = {
    "environment": EnvironmentConfig,
    "policy": PolicyConfig,
    "stop": StopConfig,
    "ratings": RatingsConfig,
    "turns": TurnsConfig,
    "tournament": TournamentConfig,
    "price": Price,
    "budget": BudgetConfig,
}


def explanation(error: ValidationError) -> str:
    """Says what was expected in place of each wrong key or value, and what came."""
    return "; ".join(_explain(dict(item)) for item in error.errors())


def _explain(error: dict[str, Any]) -> str:
    """Says what was expected, what came, and the nearest known key."""
    path = ".".join(str(part) for part in error["loc"])
    if error["type"] == "extra_forbidden":
        tables = [_TABLES[part] for part in error["loc"][:-1] if part in _TABLES]
        fields = (tables[-1] if tables else RunConfig).model_fields
        known = sorted(field.alias or name for name, field in fields.items())
        return f"unknown key {path!r}; expected one of {', '.join(known)}{nearest(error['loc'][-1], known)}"
    got = "" if error["type"] == "missing" else f", got {error['input']!r}"
    return f"{path}: {error['msg'].lower()}{got}"


def write_run_file(config: RunConfig) -> str:
    """Writes the run file of a run, without what is as it is by default."""
    return tomlkit.dumps(config.model_dump(exclude_defaults=True, by_alias=True))


def run_file_text(
    environments: list[str],
    policies: list[str],
    settings: Mapping[str, Any],
    restricted: Mapping[str, list[str]] = MappingProxyType({}),
) -> str:
    """Writes the run file that says the same as command-line flags, right or wrong.

    Args:
        environments: names.
        policies: specs.
        settings: top-level keys.
        restricted: by spec the environments of a policy that does not play all of them.
    """
    players = [
        {"spec": spec, **({"environments": restricted[spec]} if spec in restricted else {})} for spec in policies
    ]
    return tomlkit.dumps({**settings, "environment": [{"name": name} for name in environments], "policy": players})
