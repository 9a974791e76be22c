"""Going on with a run whose run file was edited since: what that may change, and what the schedule keeps of before.

Options that decide how a policy is reached may change at any time (``OPERATIONAL`` of its class says which these are), and so may
how much is played. A policy that is taken out of the run file stays in the pool that the schedule knows, and its unplayed matches
are left void. A policy that is added plays in a phase of its own after those who were there before.
"""

import json
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from pydantic import ValidationError

from agents.registry import make_policy, split_spec
from llmarena_envs.catalogue import load_environment
from llmarena_envs.core.options import OptionError
from rating.errors import RunError
from rating.running.run_file import RunConfig
from rating.running.run_tables import PolicyConfig
from rating.schemes.scheme import ROUND_ROBIN
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
        players, pools = recorded["players"], recorded.get("pools") or _pools_of(facts, config)
    except (KeyError, ValueError, TypeError):  # nothing was played yet, or the record is damaged
        return config
    config = _with_names(config, players)
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


def _pools_of(facts: Mapping[str, str], config: RunConfig) -> dict[str, list[list[str]]]:
    """Returns the pools of a run that did not record them, from the run file with which it was played last."""
    with suppress(KeyError, tomllib.TOMLDecodeError, ValidationError):
        config = RunConfig.model_validate(tomllib.loads(facts[RUN_FILE_TEXT]))
    return {item.name: [config.present(item.name)] for item in config.environment}


def _with_names(config: RunConfig, players: Mapping[str, Any]) -> RunConfig:
    """Lets a policy without a name keep the one it had if only operational options in its spec have changed."""
    titles = {item.title for item in config.policy}
    missing = [title for title in players if title not in titles]
    policies = []
    for item in config.policy:
        if item.title not in players and not item.name and missing:
            own = _playing(config, item, item.spec, item.options)
            same = [title for title in missing if _playing(config, item, *_recorded(players[title])) == own]
            if len(same) == 1:
                missing.remove(same[0])
                item = item.model_copy(update={"name": same[0]})
        policies.append(item)
    return config.model_copy(update={"policy": policies})


def differences(config: RunConfig, recorded: Mapping[str, Any]) -> Iterator[str]:
    """Yields what a run file says otherwise than it may, given what was recorded of the run.

    Args:
        config: the run, as ``continued`` returns it.
        recorded: what was recorded of it, parts of which the first versions did not know.
    """
    current = json.loads(config.identity())
    names = [item.name for item in config.environment]
    for name in sorted(recorded["turns"].keys() ^ set(names)):
        yield f"{name}: the environment was {'added' if name in names else 'taken out'}"
    common = [name for name in names if name in recorded["turns"]]
    for item in config.policy:
        if (before := recorded["players"].get(item.title)) is not None:
            now = current["players"][item.title]
            if before != now:
                yield from _changes(
                    f"policy {item.title!r}: ",
                    _playing(config, item, *_recorded(before)),
                    _playing(config, item, *_recorded(now)),
                )
    for name in common:
        yield from _changes(f"{name}: turns: ", recorded["turns"][name], current["turns"][name])
        yield from _changes(f"{name}: staff: ", recorded.get("staff", {}).get(name, {}), current["staff"][name])
        before = recorded.get("schedule", {}).get(name, ROUND_ROBIN)  # the first versions had no other
        yield from _changes(f"{name}: ", {"schedule": before}, {"schedule": current["schedule"][name]})
        yield from _changes(
            f"{name}: ", {"seats": recorded.get("seats", {}).get(name, [])}, {"seats": current["seats"][name]}
        )
        if name in recorded.get("tournament", {}):
            before = recorded["tournament"][name]
            now, added = _without_newcomers(current["tournament"][name], len(before["newcomers"]))
            yield from _changes(f"{name}: tournament: ", before, now)
        else:
            added = set()
        if is_tournament(config, name) and (pools := recorded.get("pools", {}).get(name)):
            for policy in sorted({*config.present(name)} - {policy for pool in pools for policy in pool} - added):
                yield f"{name}: {policy!r} was added; a tournament takes it with: llmarena tournament add DIR POLICY"
    if "ahead" in recorded:
        yield from _changes("", {"ahead": recorded["ahead"]}, {"ahead": current["ahead"]})


def identity(config: RunConfig, recorded: Mapping[str, Any]) -> str:
    """Returns what is recorded of a run that goes on: whoever has ever played stays in it."""
    current = json.loads(config.identity())
    return json.dumps({**current, "players": {**recorded["players"], **current["players"]}}, sort_keys=True)


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


def _playing(config: RunConfig, item: PolicyConfig, spec: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns what of a spec and of options decides how a policy plays.

    Args:
        config: the run.
        item: the policy as the run file has it, whose class says which options do not.
        spec: what is looked at.
        options: that stand beside the spec.
    """
    name, own = split_spec(spec)
    environments = item.environments or [entry.name for entry in config.environment]
    operational = {"base_url"}
    for environment in environments[:1]:
        try:
            operational |= getattr(make_policy(item.spec, environment, item.options), "OPERATIONAL", frozenset())
        except OptionError:  # it only serves, elsewhere
            continue
    merged = json.loads(json.dumps({**own, **options}, default=str))
    return {"spec": name, **{key: value for key, value in merged.items() if key not in operational}}


def _without_newcomers(rules: Mapping[str, Any], known: int) -> tuple[dict[str, Any], set[str]]:
    """Returns the rules of a tournament without the newcomers behind the first ``known``, and these."""
    added = set(rules["newcomers"][known:])
    tables = {
        key: {name: value for name, value in rules[key].items() if name not in added} for key in ("prior", "families")
    }
    return {**rules, **tables, "newcomers": rules["newcomers"][:known]}, added
