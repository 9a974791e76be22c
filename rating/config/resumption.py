"""Resuming a run with an edited run file: the allowed changes, and the recorded state of the schedule.

Options that decide how a policy is reached may change at any time (``OPERATIONAL`` of its class lists them), and so may the
number of matches. A policy removed from the run file stays in the pool of the schedule, and its unplayed matches are void. An
added policy plays in a new phase after the earlier ones.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from agents.registry import split_spec
from rating.config.run_file import RunConfig
from rating.config.run_tables import PolicyConfig
from rating.errors import RunError

IDENTITY = "players"
"""Name of the fact with the settings that must not change, and all players so far."""

RUN_FILE_TEXT = "run_file"
"""Name of the fact with the run file of the last session."""

PHASES = "phases:"
"""Prefix of the fact with the number of the first match of each phase after the first."""


def continued(config: RunConfig, facts: Mapping[str, str], begun: Mapping[str, int]) -> RunConfig:
    """Returns a resumed run, with its recorded names, pools and phases.

    Args:
        config: the run, from its run file.
        facts: of the run's store.
        begun: number of recorded matches of each environment.

    Raises:
        RunError: if the facts are damaged.
    """
    try:
        recorded = json.loads(facts[IDENTITY])
        config = with_names(config, recorded)
        pools = recorded["pools"]
    except (KeyError, ValueError, TypeError, AttributeError):  # nothing was played yet, or the record is damaged
        return config
    phases: dict[str, tuple[tuple[str, ...], ...]] = {}
    starts: dict[str, tuple[int, ...]] = {}
    for item in config.environment:
        known = [tuple(names) for names in pools.get(item.name, [])]
        present = config.present(item.name)
        before = {name for names in known for name in names}
        if config.scheme_of(item.name).places_newcomers:
            phases[item.name] = (tuple(sorted({*before, *present})),)
        elif known:
            added = tuple(name for name in present if name not in before)
            phases[item.name] = (*known, added) if added else (*known,)
        starts[item.name] = _starts(facts.get(f"{PHASES}{item.name}", "[]"))
    return config.with_phases(phases, starts, begun)


def _starts(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(number) for number in json.loads(text))
    except (ValueError, TypeError) as error:
        raise RunError(f"the record of a run is damaged: expected numbers of matches, got {text[:80]!r}") from error


def with_names(config: RunConfig, recorded: Mapping[str, Any]) -> RunConfig:
    """Keeps the recorded name of an unnamed policy if only operational options in its spec have changed."""
    players: Mapping[str, Any] = recorded["players"]
    titles = {item.title for item in config.policy}
    missing = [title for title in players if title not in titles]
    policies = []
    for item in config.policy:
        if item.title not in players and not item.name:
            same = [title for title in missing if _is_same(item, title, recorded)]
            if len(same) == 1:
                missing.remove(same[0])
                item = item.model_copy(update={"name": same[0]})
        policies.append(item)
    return config.model_copy(update={"policy": policies})


def _is_same(item: PolicyConfig, title: str, recorded: Mapping[str, Any]) -> bool:
    """Returns whether a policy plays like a recorded one."""
    reached = _operational(recorded, title)
    return _playing(item.spec, item.options, reached) == _playing(*_recorded(recorded["players"][title]), reached)


def differences(config: RunConfig, recorded: Mapping[str, Any], *, admit: bool = False) -> Iterator[str]:
    """Yields the changes of a run file that a resumed run does not allow.

    Settings that name code are compared first; if one differs, nothing is imported.

    Args:
        config: the run, with its recorded names.
        recorded: the recorded identity.
        admit: whether the run may then import what it names.
    """
    found = [*_named(config, recorded)]
    yield from found
    if admit and not found:
        config.admit()
    if not found:
        yield from _settled(config, recorded)


def _named(config: RunConfig, recorded: Mapping[str, Any]) -> Iterator[str]:
    """Yields changes of environments and policies, compared by name without importing them."""
    now = {item.name: json.loads(json.dumps(item.fixed(), default=str)) for item in config.environment}
    for name in sorted(recorded["turns"].keys() ^ now.keys()):
        yield f"{name}: the environment was {'added' if name in now else 'taken out'}"
    for name, settings in recorded["environments"].items():
        for key, before in settings.items() if name in now else ():
            after = now[name].get(key)
            if isinstance(before, dict) and isinstance(after, dict):
                yield from _changes(f"{name}: {key}: ", before, after)
            else:
                yield from _changes(f"{name}: ", {key: before}, {key: after})
    for item in config.policy:
        if (before := recorded["players"].get(item.title)) is not None:
            reached = _operational(recorded, item.title)
            after = _playing(item.spec, item.options, reached)
            yield from _changes(f"policy {item.title!r}: ", _playing(*_recorded(before), reached), after)
    for key, value in (("seed", config.seed), ("ahead", config.ahead)):
        yield from _changes("", {key: recorded[key]}, {key: value})


def _settled(config: RunConfig, recorded: Mapping[str, Any]) -> Iterator[str]:
    """Yields changes of settings that also depend on the code of an environment."""
    current = json.loads(config.identity())
    for name in recorded["turns"]:
        yield from _changes(f"{name}: turns: ", recorded["turns"][name], current["turns"][name])
        yield from _changes(
            f"{name}: ", {"schedule": recorded["schedule"][name]}, {"schedule": current["schedule"][name]}
        )
        before = recorded["tournament"][name]
        now, added = _without_newcomers(current["tournament"][name], len(before["newcomers"]))
        yield from _changes(f"{name}: tournament: ", before, now)
        if config.scheme_of(name).places_newcomers:
            pools = recorded["pools"][name]
            for policy in sorted({*config.present(name)} - {policy for pool in pools for policy in pool} - added):
                yield f"{name}: {policy!r} was added; add it with: llmarena resume DIR --add POLICY"


def identity(config: RunConfig, recorded: Mapping[str, Any]) -> str:
    """Returns the identity to record for a resumed run; it keeps all earlier players."""
    current = json.loads(config.identity())
    for key in ("players", "operational"):
        current[key] = {**recorded.get(key, {}), **current[key]}
    current["people"] = sorted({*recorded.get("people", ()), *current["people"]})
    return json.dumps(current, sort_keys=True)


def _changes(where: str, before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    for key in sorted(before.keys() | now.keys()):
        old, new = before.get(key), now.get(key)
        if old != new:
            yield f"{where}{key}: {_shown(old)} became {_shown(new)}"


def _shown(value: Any) -> str:
    return "nothing" if value is None else json.dumps(value, ensure_ascii=False)


def _recorded(player: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Returns spec and options of a recorded policy."""
    return player["spec"], {name: value for name, value in player.items() if name != "spec"}


def _operational(recorded: Mapping[str, Any], title: str) -> frozenset[str]:
    """Returns the options that decide how a policy is reached, as recorded from its class."""
    return frozenset({"base_url", *recorded["operational"].get(title, ())})


def _playing(spec: str, options: Mapping[str, Any], operational: frozenset[str]) -> dict[str, Any]:
    """Returns the parts of a spec and its options that decide how a policy plays."""
    name, own = split_spec(spec)
    merged = json.loads(json.dumps({**own, **options}, default=str))
    return {"spec": name, **{key: value for key, value in merged.items() if key not in operational}}


def _without_newcomers(rules: Mapping[str, Any], known: int) -> tuple[dict[str, Any], set[str]]:
    """Returns the rules of a tournament without newcomers after the first ``known``, and the removed newcomers."""
    added = set(rules["newcomers"][known:])
    tables = {
        key: {name: value for name, value in rules[key].items() if name not in added} for key in ("prior", "families")
    }
    return {**rules, **tables, "newcomers": rules["newcomers"][:known]}, added
