"""Resuming a run with an edited run file: the allowed changes, and what earlier sessions began.

Options that decide how a policy is reached may change at any time (``OPERATIONAL`` of its class lists them), and so may the
number of matches. A policy removed from the run file stays in the pool of the schedule, and its unplayed matches are void. An
added policy plays in a new phase after the earlier ones.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from agents.registry import split_spec
from rating.config.run_file import Declared, RunConfig
from rating.config.run_tables import PolicyConfig
from rating.config.tournament_config import TournamentConfig
from rating.schemes.setting import ADAPTIVE, Begun
from rating.store.state import Identity, RunState

if TYPE_CHECKING:
    from rating.store.store import Store


@dataclass(frozen=True)
class Earlier:
    """What earlier sessions of a run left for an environment.

    Attributes:
        phases: the pool by phase, sorted within each, including withdrawn policies.
        begun: the matches that were begun.
    """

    phases: tuple[tuple[str, ...], ...]
    begun: Begun = field(default_factory=Begun)


def earlier(config: RunConfig, state: RunState, store: "Store") -> dict[str, Earlier]:
    """Returns what earlier sessions of a run left, by environment.

    Args:
        config: the run, with its recorded names.
        state: the recorded state of the run.
        store: of the run.

    Raises:
        RunError: if the state is damaged.
    """
    recorded, found, sizes = state.identity, {}, store.sizes()
    for item in config.environment:
        present = config.pool(item.name)
        known = [tuple(names) for names in recorded.pools.get(item.name, [])] if recorded else []
        before = {name for names in known for name in names}
        phases: tuple[tuple[str, ...], ...] = (tuple(present),)
        if recorded and config.scheme_of(item.name).places_newcomers:
            phases = (tuple(sorted({*before, *present})),)
        elif known:
            added = tuple(name for name in present if name not in before)
            phases = (*known, added) if added else (*known,)
        begun = Begun(
            count=sizes.get(item.name, 0) if recorded else 0,
            has_ended=state.schedule(item.name).scheduled is not None,
            starts=state.schedule(item.name).starts if recorded else (),
            seats=tuple(store.seatings(item.name)) if config.schedule_of(item.name) == ADAPTIVE else (),
        )
        found[item.name] = Earlier(phases, begun)
    return found


def identity_of(config: RunConfig, declared: Declared, pools: Mapping[str, Sequence[Sequence[str]]]) -> Identity:
    """Returns the identity to record for a run: everything that decides which matches are played and how.

    Args:
        config: the run.
        declared: what its policies declare.
        pools: rated policies of each environment, by phase.
    """
    table = {
        "players": {
            item.title: {"spec": item.spec, **{key: item.options[key] for key in item.options if key != "base_url"}}
            for item in config.policy
        },
        "environments": {item.name: item.fixed() for item in config.environment},
        "pools": pools,
        "operational": {title: sorted(names) for title, names in declared.operational.items() if names},
        "people": sorted(declared.people),
        "seed": config.seed,
        "ahead": config.ahead,
        **_settled(config),
    }
    return Identity.model_validate(_as_recorded(table))


def _settled(config: RunConfig) -> dict[str, Any]:
    """Returns the settings of each environment that also depend on its code."""
    names = [item.name for item in config.environment]
    rules = [asdict((item.tournament or TournamentConfig()).rules()) for item in config.environment]
    return {
        "turns": {name: asdict(config.turn_settings(name)) for name in names},
        "schedule": {name: config.schedule_of(name) for name in names},
        "tournament": dict(zip(names, rules, strict=True)),
    }


def _as_recorded(value: Any) -> Any:
    """Returns a value as JSON holds it."""
    return json.loads(json.dumps(value, default=str))


def merged(current: Identity, recorded: Identity | None) -> Identity:
    """Returns the identity to record for a resumed run; it keeps all earlier players."""
    if recorded is None:
        return current
    return current.model_copy(
        update={
            "players": {**recorded.players, **current.players},
            "operational": {**recorded.operational, **current.operational},
            "people": sorted({*recorded.people, *current.people}),
        }
    )


def with_names(config: RunConfig, recorded: Identity) -> RunConfig:
    """Keeps the recorded name of an unnamed policy if only operational options in its spec have changed."""
    titles = {item.title for item in config.policy}
    missing = [title for title in recorded.players if title not in titles]
    policies = []
    for item in config.policy:
        if item.title not in recorded.players and not item.name:
            same = [title for title in missing if _now(item, title, recorded) == _before(title, recorded)]
            if len(same) == 1:
                missing.remove(same[0])
                item = item.model_copy(update={"name": same[0]})
        policies.append(item)
    return config.model_copy(update={"policy": policies})


def differences(config: RunConfig, recorded: Identity, *, admit: bool = False) -> Iterator[str]:
    """Yields the changes of a run file that a resumed run does not allow.

    Settings that name code are compared first; if one differs, nothing is imported.

    Args:
        config: the run, with its recorded names.
        recorded: the recorded identity.
        admit: whether the run may then import what it names.
    """
    found = [*_named_differences(config, recorded)]
    yield from found
    if admit and not found:
        config.admit()
    if not found:
        yield from _settled_differences(config, recorded)


def _named_differences(config: RunConfig, recorded: Identity) -> Iterator[str]:
    """Yields changes of environments and policies, compared by name without importing them."""
    now = {item.name: _as_recorded(item.fixed()) for item in config.environment}
    for name in sorted(recorded.turns.keys() ^ now.keys()):
        yield f"{name}: the environment was {'added' if name in now else 'taken out'}"
    for name, settings in recorded.environments.items():
        for key, before in settings.items() if name in now else ():
            after = now[name].get(key)
            if isinstance(before, dict) and isinstance(after, dict):
                yield from _changes(f"{name}: {key}: ", before, after)
            else:
                yield from _changes(f"{name}: ", {key: before}, {key: after})
    for item in config.policy:
        if item.title in recorded.players:
            before, after = _before(item.title, recorded), _now(item, item.title, recorded)
            yield from _changes(f"policy {item.title!r}: ", before, after)
    for key, value, current in (("seed", recorded.seed, config.seed), ("ahead", recorded.ahead, config.ahead)):
        yield from _changes("", {key: value}, {key: current})


def _settled_differences(config: RunConfig, recorded: Identity) -> Iterator[str]:
    """Yields changes of settings that also depend on the code of an environment."""
    current = _as_recorded(_settled(config))
    for name in recorded.turns:
        yield from _changes(f"{name}: turns: ", recorded.turns[name], current["turns"][name])
        yield from _changes(f"{name}: ", {"schedule": recorded.schedule[name]}, {"schedule": current["schedule"][name]})
        before = recorded.tournament[name]
        now, added = _without_newcomers(current["tournament"][name], len(before["newcomers"]))
        yield from _changes(f"{name}: tournament: ", before, now)
        if config.scheme_of(name).places_newcomers:
            pool = {policy for phase in recorded.pools[name] for policy in phase}
            for policy in sorted({*config.pool(name)} - pool - added):
                yield f"{name}: {policy!r} was added; add it with: llmarena resume DIR --add POLICY"


def _changes(where: str, before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    for key in sorted(before.keys() | now.keys()):
        old, new = before.get(key), now.get(key)
        if old != new:
            yield f"{where}{key}: {_shown(old)} became {_shown(new)}"


def _shown(value: Any) -> str:
    return "nothing" if value is None else json.dumps(value, ensure_ascii=False)


def _before(title: str, recorded: Identity) -> dict[str, Any]:
    """Returns what decides how a recorded policy plays."""
    options = {name: value for name, value in recorded.players[title].items() if name != "spec"}
    return _playing(recorded.players[title]["spec"], options, title, recorded)


def _now(item: PolicyConfig, title: str, recorded: Identity) -> dict[str, Any]:
    """Returns what decides how a policy of the run file plays, given the operational options of a recorded one."""
    return _playing(item.spec, item.options, title, recorded)


def _playing(spec: str, options: Mapping[str, Any], title: str, recorded: Identity) -> dict[str, Any]:
    """Returns the parts of a spec and its options that do not just decide how the policy is reached."""
    operational = {"base_url", *recorded.operational.get(title, ())}
    name, own = split_spec(spec)
    merged = _as_recorded({**own, **options})
    return {"spec": name, **{key: value for key, value in merged.items() if key not in operational}}


def _without_newcomers(rules: Mapping[str, Any], known: int) -> tuple[dict[str, Any], set[str]]:
    """Returns the rules of a tournament without newcomers after the first ``known``, and the removed newcomers."""
    added = set(rules["newcomers"][known:])
    tables = {
        key: {name: value for name, value in rules[key].items() if name not in added} for key in ("prior", "families")
    }
    return {**rules, **tables, "newcomers": rules["newcomers"][:known]}, added
