"""Going on with a run whose run file was edited since: what that may change, and what the schedule keeps of before.

Options that decide how a policy is reached may change at any time (``OPERATIONAL`` of its class says which these are), and so may
how much is played. A policy that is taken out of the run file stays in the pool that the schedule knows, and its unplayed matches
are left void. A policy that is added plays in a phase of its own after those who were there before.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from agents.registry import split_spec
from rating.errors import RunError
from rating.records.environments import load_environment
from rating.running.run_file import RunConfig
from rating.running.run_tables import PolicyConfig
from rating.schemes.tournament import Tournament

IDENTITY = "players"
"""Name of the fact that holds what must not change, and who has ever played."""

RUN_FILE_TEXT = "run_file"
"""Name of the fact that holds the run file with which the run was played last."""

PHASES = "phases:"
"""Beginning of the name of the fact that holds the number of the first match of each phase after the first."""


def continued(config: RunConfig, facts: Mapping[str, str], begun: Mapping[str, int]) -> RunConfig:
    """Returns a run as it goes on: with the names, the pool and the phases of before.

    Args:
        config: what the run file says now.
        facts: of the run's store.
        begun: number of matches that the store has of each environment.

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
        if is_tournament(config, item.name):
            phases[item.name] = (tuple(sorted({*before, *present})),)
        elif known:
            added = tuple(name for name in present if name not in before)
            phases[item.name] = (*known, added) if added else (*known,)
        starts[item.name] = _starts(facts.get(f"{PHASES}{item.name}", "[]"))
    return config.with_phases(phases, starts, begun)


def is_tournament(config: RunConfig, environment: str) -> bool:
    """Says whether an environment is played as a tournament."""
    scheme = config.find_environment(environment).scheme or load_environment(environment).declaration.scheme
    return scheme == Tournament.name


def _starts(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(number) for number in json.loads(text))
    except (ValueError, TypeError) as error:
        raise RunError(f"the record of a run is damaged: expected numbers of matches, got {text[:80]!r}") from error


def with_names(config: RunConfig, recorded: Mapping[str, Any]) -> RunConfig:
    """Lets a policy without a name keep the one it had if only operational options in its spec have changed."""
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
    """Says whether a policy plays as one that was recorded."""
    reached = _operational(recorded, title)
    return _playing(item.spec, item.options, reached) == _playing(*_recorded(recorded["players"][title]), reached)


def differences(config: RunConfig, recorded: Mapping[str, Any], *, admit: bool = False) -> Iterator[str]:
    """Yields what a run file says otherwise than it may, given what was recorded of the run.

    What names code comes first: where something of that differs, nothing is imported.

    Args:
        config: the run, with the names of before.
        recorded: what was recorded of it.
        admit: whether the run may then have imported what it names.
    """
    found = [*_named(config, recorded)]
    yield from found
    if admit and not found:
        config.admit()
    if not found:
        yield from _settled(config, recorded)


def _named(config: RunConfig, recorded: Mapping[str, Any]) -> Iterator[str]:
    """Yields what differs of environments and policies as they are named."""
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
    """Yields what differs of what the environments have a say in."""
    current = json.loads(config.identity())
    for name in recorded["turns"]:
        yield from _changes(f"{name}: turns: ", recorded["turns"][name], current["turns"][name])
        yield from _changes(
            f"{name}: ", {"schedule": recorded["schedule"][name]}, {"schedule": current["schedule"][name]}
        )
        before = recorded["tournament"][name]
        now, added = _without_newcomers(current["tournament"][name], len(before["newcomers"]))
        yield from _changes(f"{name}: tournament: ", before, now)
        if is_tournament(config, name):
            pools = recorded["pools"][name]
            for policy in sorted({*config.present(name)} - {policy for pool in pools for policy in pool} - added):
                yield f"{name}: {policy!r} was added; a tournament takes it with: llmarena tournament add DIR POLICY"


def identity(config: RunConfig, recorded: Mapping[str, Any]) -> str:
    """Returns what is recorded of a run that goes on: whoever has ever played stays in it."""
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
    """Returns the options of a policy that decide how it is reached, as its class said when it was made."""
    return frozenset({"base_url", *recorded["operational"].get(title, ())})


def _playing(spec: str, options: Mapping[str, Any], operational: frozenset[str]) -> dict[str, Any]:
    """Returns what of a spec and of the options beside it decides how a policy plays."""
    name, own = split_spec(spec)
    merged = json.loads(json.dumps({**own, **options}, default=str))
    return {"spec": name, **{key: value for key, value in merged.items() if key not in operational}}


def _without_newcomers(rules: Mapping[str, Any], known: int) -> tuple[dict[str, Any], set[str]]:
    """Returns the rules of a tournament without the newcomers behind the first ``known``, and these."""
    added = set(rules["newcomers"][known:])
    tables = {
        key: {name: value for name, value in rules[key].items() if name not in added} for key in ("prior", "families")
    }
    return {**rules, **tables, "newcomers": rules["newcomers"][:known]}, added
