"""The recorded state of a run: the facts of its store, read and written as typed values."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from agents.turn import TurnSettings
from rating.errors import RunError

if TYPE_CHECKING:
    from rating.store.store import Store

T = TypeVar("T")

_IDENTITY = "players"
_RUN_FILE = "run_file"
_VERSIONS = "versions"
_RULES = "rules:"
_SOURCES = "sources:"
_DISTRIBUTION = "distribution:"
_STOPPED = "stopped:"
_SCHEDULED = "scheduled:"
_STOPPED_AFTER = "stopped_after:"
_PHASES = "phases:"
_SUSPENDED = "suspended:"

THEN = ", then "
"""Separator between the package versions of an environment."""

_SHOWN = 80
"""Maximum characters shown of a damaged value."""


class Identity(BaseModel):
    """The settings of a run that must not change, and all its players so far.

    Attributes:
        players: by name: ``spec`` and the options that decide how the policy plays.
        environments: fixed settings of each environment.
        turns: invalid-reply policy of each environment.
        tournament: tournament rules of each environment.
        schedule: schedule of each environment.
        pools: rated policies of each environment, by phase.
        operational: options that decide how a policy is reached, by its name.
        people: names of policies that are people.
        seed: root seed.
        ahead: how many batches play can run ahead of the stopping rule.
    """

    model_config = ConfigDict(frozen=True, strict=True)

    players: dict[str, dict[str, Any]]
    environments: dict[str, dict[str, Any]]
    turns: dict[str, dict[str, Any]]
    tournament: dict[str, dict[str, Any]]
    schedule: dict[str, str]
    pools: dict[str, list[list[str]]]
    operational: dict[str, list[str]] = {}
    people: list[str] = []
    seed: int
    ahead: int

    def spec(self, player: str) -> str:
        """Returns the recorded spec of a player."""
        return str(self.players[player].get("spec", ""))

    def turn_settings(self) -> dict[str, TurnSettings]:
        """Returns the invalid-reply policy of each environment.

        Raises:
            RunError: if the record is damaged.
        """
        try:
            return {environment: TurnSettings(**settings) for environment, settings in self.turns.items()}
        except (TypeError, ValueError) as error:
            raise RunError(f"the record of a run is damaged: expected invalid-reply policies, got {error}") from error


@dataclass(frozen=True)
class ScheduleState:
    """State of the schedule of one environment.

    Attributes:
        stop_reason: why it stopped; empty while it is played.
        scheduled: number of matches after which it ended; ``None`` while it continues or if policies were missing.
        stopped_after: number of outcomes it had received when it stopped; ``None`` if it never did.
        starts: number of the first match of each phase after the first that has begun.
    """

    stop_reason: str = ""
    scheduled: int | None = None
    stopped_after: int | None = None
    starts: tuple[int, ...] = ()


class RunState:
    """The recorded state of a run at one moment. Reading a damaged value raises ``RunError``.

    Args:
        facts: the facts of its store, by name.
    """

    def __init__(self, facts: Mapping[str, str]) -> None:
        self.facts = facts

    @cached_property
    def identity(self) -> Identity | None:
        """The settings that must not change; ``None`` if the run was killed before they were recorded."""
        text = self.facts.get(_IDENTITY)
        try:
            return None if text is None else Identity.model_validate_json(text)
        except ValidationError as error:
            raise RunError(_damage(_IDENTITY, "players and settings of a run", text or "")) from error

    @property
    def run_file(self) -> str | None:
        """Text of the run file of the last session."""
        return self.facts.get(_RUN_FILE)

    @property
    def suspended(self) -> dict[str, str]:
        """Why policies were suspended in the last session, by name."""
        return {name: reason for name, reason in self._by_suffix(_SUSPENDED).items() if reason}

    def schedule(self, environment: str) -> ScheduleState:
        """Returns the state of the schedule of an environment."""
        return ScheduleState(
            self.facts.get(_STOPPED + environment, ""),
            self._number(_SCHEDULED + environment),
            self._number(_STOPPED_AFTER + environment),
            self._parsed(_PHASES + environment, "[]", "numbers of matches", lambda starts: tuple(map(int, starts))),
        )

    def stop_reasons(self) -> dict[str, str]:
        """Returns why each schedule stopped, by environment; empty for those that continue."""
        return self._by_suffix(_STOPPED)

    def versions(self) -> dict[str, str]:
        """Returns the recorded package versions."""
        return self._table(_VERSIONS)

    def rules(self, environment: str) -> dict[str, str]:
        """Returns the rules that each agent of an environment reads; empty if none were recorded."""
        return self._table(_RULES + environment)

    def all_rules(self) -> dict[str, dict[str, str]]:
        """Returns the rules of all environments."""
        return {environment: self.rules(environment) for environment in self._by_suffix(_RULES)}

    def sources(self, environment: str) -> dict[str, str]:
        """Returns the sources of the data of an environment, by name."""
        return self._table(_SOURCES + environment)

    def all_sources(self) -> dict[str, dict[str, str]]:
        """Returns the sources of all environments that have some."""
        return {environment: self.sources(environment) for environment in self._by_suffix(_SOURCES)}

    def distributions(self) -> dict[str, str]:
        """Returns package and versions of third-party environments, by environment."""
        return self._by_suffix(_DISTRIBUTION)

    def _by_suffix(self, prefix: str) -> dict[str, str]:
        return {name.removeprefix(prefix): value for name, value in self.facts.items() if name.startswith(prefix)}

    def _number(self, name: str) -> int | None:
        text = self.facts.get(name, "")
        if text and not text.isdecimal():
            raise RunError(_damage(name, "a number of matches", text))
        return int(text) if text else None

    def _table(self, name: str) -> dict[str, Any]:
        return self._parsed(name, "{}", "a table", dict)

    def _parsed(self, name: str, default: str, expected: str, convert: Callable[[Any], T]) -> T:
        text = self.facts.get(name, default)
        try:
            return convert(json.loads(text))
        except (ValueError, TypeError, RecursionError) as error:
            raise RunError(_damage(name, expected, text)) from error


def _damage(name: str, expected: str, text: str) -> str:
    return f"the record of a run is damaged: expected {expected} as fact {name!r}, got {text[:_SHOWN]!r}"


class StateWriter:
    """Records the state of a run.

    Args:
        store: of the run.
    """

    def __init__(self, store: "Store") -> None:
        self._store = store

    def begin(self, versions: Mapping[str, str], identity: Identity, run_file: str) -> None:
        """Records the settings of a new run."""
        self._store.set_fact(_VERSIONS, json.dumps(versions))
        self.set_identity(identity)
        self.set_run_file(run_file)

    def set_identity(self, identity: Identity) -> None:
        """Records the settings that must not change, and all players so far."""
        self._store.set_fact(_IDENTITY, json.dumps(identity.model_dump(), sort_keys=True))

    def set_run_file(self, text: str) -> None:
        """Records the text of the run file of this session."""
        self._store.set_fact(_RUN_FILE, text)

    def describe(self, environment: str, rules: Mapping[str, str], sources: Mapping[str, str], package: str) -> None:
        """Records facts common to all matches of an environment.

        Args:
            environment: its name.
            rules: that each agent reads.
            sources: of its data, by name.
            package: name and version of the package of a third-party environment, which can change between sessions; or empty.
        """
        self._store.set_fact(_RULES + environment, json.dumps(rules, ensure_ascii=False))
        if sources:
            self._store.set_fact(_SOURCES + environment, json.dumps(sources, ensure_ascii=False))
        known = self._store.facts().get(_DISTRIBUTION + environment, "")
        if package and package not in known.split(THEN):
            self._store.set_fact(_DISTRIBUTION + environment, f"{known}{THEN if known else ''}{package}")

    def set_starts(self, environment: str, starts: Sequence[int]) -> None:
        """Records the number of the first match of each phase after the first that has begun."""
        self._store.set_fact(_PHASES + environment, json.dumps(starts))

    def go_on(self, environment: str) -> None:
        """Records that the schedule of an environment continues after its earlier end."""
        self._store.set_fact(_SCHEDULED + environment, "")
        self.reopen(environment)

    def reopen(self, environment: str) -> None:
        """Records that the schedule of an environment has not stopped."""
        self._store.set_fact(_STOPPED + environment, "")

    def set_stopped_after(self, environment: str, outcomes: int) -> None:
        """Records the number of outcomes a schedule had received when it stopped."""
        self._store.set_fact(_STOPPED_AFTER + environment, str(outcomes))

    def stop(self, environment: str, reason: str, scheduled: int | None) -> None:
        """Records why a schedule stopped, and after how many matches it ended."""
        self._store.set_fact(_STOPPED + environment, reason)
        self._store.set_fact(_SCHEDULED + environment, "" if scheduled is None else str(scheduled))

    def suspend(self, policy: str, reason: str) -> None:
        """Records that a policy is suspended."""
        self._store.set_fact(_SUSPENDED + policy, reason)

    def lift(self, policies: Iterable[str]) -> None:
        """Records that policies are suspended no more."""
        for policy in policies:
            self.suspend(policy, "")
