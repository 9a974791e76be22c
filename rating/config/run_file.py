"""The run file: environments, policies and settings of a run, in TOML, checked key by key."""

import itertools
import json
import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal

import tomlkit
from pydantic import BaseModel, Field, ValidationError

from agents.models import ModelService
from agents.models.service import Target
from agents.player import Player
from agents.registry import is_model, make_policy
from agents.turn import TurnSettings
from llmarena_envs.core.declaration import Declaration
from llmarena_envs.core.options import OptionError, check_choice, nearest
from rating.config.run_tables import (
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
from rating.config.tournament_config import TournamentConfig
from rating.prices import OPENAI, Price, PriceTable, read_prices, shipped_prices
from rating.schemes.base import Scheme
from rating.schemes.registry import find_scheme
from rating.schemes.setting import ROUND_ROBIN
from rating.store.environments import admit, check_file, load_environment, make_environment

DEADLINE = 600.0
"""Default seconds a policy has for a reply; without a deadline a run might never end."""

PERSON = "human"
"""Spec of a person, at the terminal or in a browser."""

Preset = Literal["standard", "llmarena"]
"""The presets of the invalid-reply policy."""

MAX_TITLE = 200
"""Maximum characters of a policy's name, which appears in tables."""


class RunConfig(Table):
    """A whole run.

    Attributes:
        environment: the environments.
        policy: the policies.
        seed: root seed of all matches.
        preset: ``standard`` or ``llmarena``, the presets of the invalid-reply policy.
        turns: changes to the invalid-reply policy of the preset.
        stop: when to stop.
        ratings: when a rating is shown.
        ahead: how many batches play can run ahead of the stopping rule: a batch depends on the outcomes of the batches at least
            this many before it. With 1 every batch waits for the last match of the previous one. With 2 the next batch is played
            meanwhile, and one more batch is played after the rule is met. The limit ``max_matches`` holds in any case. Matches
            known in advance (a fixed number, the first ``min_matches``) do not wait; therefore this limits concurrent matches
            only for rules that wait for ratings.
        schedule: of all environments whose scheme supports it, unless they set their own; see ``EnvironmentConfig``.
        executor: where matches are played: ``asyncio`` (this process), ``process`` (a process pool), ``ray`` (a Ray cluster) or
            ``auto``: the pool for matches between scripted policies, this process for all others. Matches of people and models
            are always played in this process. Does not affect results; can change when a run is resumed.
        workers: processes of the pool or in the Ray cluster; 0 for one per core.
        concurrency: maximum number of concurrent matches in this process.
        max_errors: provider failures and environment bugs after which the run stops; it can be resumed.
        keep_going: continue even if the first 30 matches of an environment give no information.
        tries: attempts at a match in one session if a provider fails.
        price: prices of models.
        prices: path of a file of prices, instead of ``price``. A new run stores the prices, not the path.
        budget: limits of the run.
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

    def check_names(self) -> None:
        """Checks all names without making anything; enough for a run that is only read.

        Raises:
            OptionError: if a name is used twice, too long or not printable.
        """
        _check_distinct("environment", [item.name for item in self.environment])
        check_policy_names(self.policy)
        for environment in self.environment:
            for name in self._others(environment):
                _check_title(name)

    def admit(self) -> None:
        """Allows the run to import and open everything it names; only for a run that the user plays."""
        files = [self.prices, *(item.tournament.prior_file for item in self.environment if item.tournament)]
        for item in self.environment:
            files += [value for _, value in (*item.options.items(), *_by_deal(item)) if isinstance(value, str)]
        others = [name for item in self.environment for name in self._others(item)]
        specs = [*others, *(item.spec for item in self.policy)]
        admit([item.name for item in self.environment], specs, files)

    def check(self, *, offline: bool = False) -> "Declared":
        """Makes every environment and policy once, to find bad names and options before any match.

        Args:
            offline: whether no model is asked; then no keys are needed.

        Returns:
            What the policies declare.

        Raises:
            OptionError: if one cannot be made.
        """
        self.admit()
        declared = Declared({}, set())
        for environment in self.environment:
            self._check_environment(environment)
        for item in self.policy:
            for name in item.environments:
                check_choice(f"policy {item.title!r}: environments", name, [entry.name for entry in self.environment])
        service = ModelService(offline=offline)
        for item in self.policy:
            self._check_policy(item, service, declared)
        for environment in self.environment:
            for name in self._others(environment):
                declared.make(self.find_policy(name), environment.name, service)
        self.price_table()
        if self.budget.cost is not None:
            self.check_priced()
        return declared

    def check_priced(self) -> None:
        """Checks that every model has a price today, as a budget on cost requires.

        Raises:
            OptionError: if one has none.
        """
        for model in self.unpriced():
            raise OptionError(
                f"budget: a limit on cost needs a price for every model, but {model!r} has none; write into the run file or a"
                " file for --prices, with amounts for a million tokens:\n[[price]]\n"
                f"model = {json.dumps(model)}\ninput = 0.50\noutput = 1.50"
            )

    def names_models(self) -> bool:
        """Returns whether a policy is a built-in language model."""
        return any(is_model(item.spec) for item in self.policy)

    def known_prices(self) -> list[Price]:
        """Returns the shipped prices of the models of a run without prices, as of today."""
        if self.price or self.prices or not self.names_models():
            return []
        table, today = PriceTable(shipped_prices()), datetime.now(UTC).date()
        found = {}
        for target in self.targets().values():
            address = target.base_url
            price = table.find(target.model, address or os.environ.get("OPENAI_BASE_URL") or OPENAI, today)
            if price is not None:
                found[target.model, address] = price.model_copy(update={"model": target.model, "base_url": address})
        return list(found.values())

    def unpriced(self) -> list[str]:
        """Returns the models without a price today, by name."""
        prices, today = self.price_table(), datetime.now(UTC).date()
        targets = self.targets().values()
        return sorted({one.model for one in targets if prices.find(one.model, one.base_url, today) is None})

    def targets(self) -> dict[tuple[str, str], Target]:
        """Returns the model of each policy that declares one, by environment and name of the policy."""
        found, unasked = {}, ModelService(offline=True)
        for environment in self.environment:
            for name in self.seated(environment.name):
                policy = self.find_policy(name)
                made = make_policy(policy.spec, environment.name, policy.options, service=unasked)
                target = getattr(made, "target", None)
                if isinstance(target, Target):
                    found[environment.name, name] = target
        return found

    def seated(self, environment: str) -> list[str]:
        """Returns the names of all policies that currently play or serve in an environment, sorted."""
        return sorted({*self.pool(environment), *self._others(self.find_environment(environment))})

    @staticmethod
    def _others(environment: EnvironmentConfig) -> list[str]:
        """Returns the names of all policies that only serve in an environment."""
        opponent = [environment.opponent] if environment.opponent else []
        return [*opponent, *itertools.chain(*environment.staff.values())]

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
        """Makes an environment, and one for each value of an option that varies across deals.

        Raises:
            OptionError: if one cannot be made, or an option has both a fixed value and varied ones.
        """
        options = self.options(environment.name)
        make_environment(environment.name, options).close()
        for name, value in _by_deal(environment):
            if name in environment.options:
                raise OptionError(
                    f"{environment.name}: by_deal: expected options that have no value, got {name!r}, which has one in options"
                )
            make_environment(environment.name, {**options, name: value}).close()

    def _check_policy(self, policy: PolicyConfig, service: ModelService, declared: "Declared") -> None:
        """Makes a policy for every environment it plays.

        Raises:
            OptionError: if it cannot be made; the message explains how to restrict a policy that plays only some of them.
        """
        plays, not_played = [], {}
        for environment in self.environment:
            if policy.title in self.pool(environment.name):
                try:
                    declared.make(policy, environment.name, service)
                    plays.append(environment.name)
                except OptionError as error:
                    not_played[environment.name] = error
        if not_played and plays and not policy.environments:
            raise OptionError(
                f"policy {policy.title!r} does not play {', '.join(not_played)}: restrict it with"
                f" environments = {json.dumps(plays)} in the run file, or"
                f" --policy {policy.spec}@{','.join(plays)} on the command line"
                f" ({next(iter(not_played.values()))})"
            )
        for refusal in not_played.values():
            raise refusal

    def options(self, environment: str) -> dict[str, Any]:
        """Returns the constructor options of an environment in this run."""
        item = self.find_environment(environment)
        declared = load_environment(environment).declaration.rated_options if item.rated_options else {}
        return {**declared, **item.options}

    def scheme_of(self, environment: str) -> type[Scheme]:
        """Returns the scheme of an environment: its own in this run, else the declared one.

        Raises:
            OptionError: if the scheme does not exist.
        """
        declared = load_environment(environment).declaration.scheme
        return find_scheme(environment, self.find_environment(environment).scheme or declared)

    def schedule_of(self, environment: str) -> str:
        """Returns the schedule of an environment: its own, else the run's if its scheme supports it, else its scheme's default.

        Raises:
            OptionError: if the scheme does not exist.
        """
        item = self.find_environment(environment)
        if item.schedule:
            return item.schedule
        scheme = self.scheme_of(environment)
        if not scheme.can_adapt or item.seats:
            return ROUND_ROBIN
        return self.schedule or scheme.standard_schedule

    def pool(self, environment: str) -> list[str]:
        """Returns the names of the rated policies of an environment in the run file, sorted."""
        return sorted(
            item.title
            for item in self.policy
            if item.rated and not item.withdrawn and (not item.environments or environment in item.environments)
        )

    def find_policy(self, title: str) -> PolicyConfig:
        """Returns the policy with this name in tables; any other title is the spec of a policy that only serves."""
        return next((item for item in self.policy if item.title == title), PolicyConfig(spec=title))

    def people(self) -> list[str]:
        """Returns the names of the people who play or serve, sorted."""
        seated = {name for item in self.environment for name in self.seated(item.name)}
        return sorted(name for name in seated if self.find_policy(name).spec == PERSON)

    def turn_settings(self, environment: str) -> TurnSettings:
        """Returns the invalid-reply policy of an environment."""
        settings = preset_turns(self.preset, load_environment(environment).declaration)
        for turns in (self.turns, self.find_environment(environment).turns):
            settings = replace(settings, **turns.model_dump(exclude_none=True))
        return settings

    def find_environment(self, name: str) -> EnvironmentConfig:
        """Returns the configuration of an environment."""
        return next(item for item in self.environment if item.name == name)


@dataclass
class Declared:
    """What the policies of a run declare.

    Attributes:
        operational: options that decide how a policy is reached, by its name.
        people: names of policies that are people.
    """

    operational: dict[str, set[str]]
    people: set[str]

    def make(self, policy: PolicyConfig, environment: str, service: ModelService) -> None:
        """Makes a policy, and adds what it declares.

        Raises:
            OptionError: if it cannot be made.
        """
        made = make_policy(policy.spec, environment, policy.options, service=service)
        self.operational.setdefault(policy.title, set()).update(getattr(made, "OPERATIONAL", ()))
        if Player(made).is_person:
            self.people.add(policy.title)


def preset_turns(preset: Preset, declared: Declaration) -> TurnSettings:
    """Returns the invalid-reply policy of a preset, given an environment's declaration."""
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
    """Yields each value of each option that varies across deals."""
    for name, values in environment.by_deal.items():
        for value in values:
            yield name, value


def check_policy_names(policies: Sequence[PolicyConfig]) -> None:
    """Checks the names of policies in tables.

    Raises:
        OptionError: if a name is used twice, too long or not printable.
    """
    _check_distinct("policy", [item.title for item in policies])
    for item in policies:
        _check_title(item.title)


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
    """Reads a run file without importing or opening anything it names.

    Args:
        text: its text, TOML.
        where: its name in error messages.

    Raises:
        OptionError: if it is not TOML, or a key or value is not valid.
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
    """Returns the expected and the actual value for each invalid key or value."""
    return "; ".join(_explain(dict(item)) for item in error.errors())


def _explain(error: dict[str, Any]) -> str:
    """Returns the expected and the actual value, and the nearest known key."""
    path = ".".join(str(part) for part in error["loc"])
    if error["type"] == "extra_forbidden":
        tables = [_TABLES[part] for part in error["loc"][:-1] if part in _TABLES]
        fields = (tables[-1] if tables else RunConfig).model_fields
        known = sorted(field.alias or name for name, field in fields.items())
        return f"unknown key {path!r}; expected one of {', '.join(known)}{nearest(error['loc'][-1], known)}"
    got = "" if error["type"] == "missing" else f", got {error['input']!r}"
    return f"{path}: {error['msg'].lower()}{got}"


def write_run_file(config: RunConfig) -> str:
    """Returns the text of the run file of a run, without defaults."""
    return tomlkit.dumps(config.model_dump(exclude_defaults=True, by_alias=True))


def run_file_text(
    environments: list[str],
    policies: list[str],
    settings: Mapping[str, Any],
    restricted: Mapping[str, list[str]] = MappingProxyType({}),
) -> str:
    """Returns the text of the run file equivalent to command-line flags, without checking it.

    Args:
        environments: names.
        policies: specs.
        settings: top-level keys.
        restricted: by spec, the environments of a policy that plays only some of them.
    """
    players = [
        {"spec": spec, **({"environments": restricted[spec]} if spec in restricted else {})} for spec in policies
    ]
    return tomlkit.dumps({**settings, "environment": [{"name": name} for name in environments], "policy": players})
