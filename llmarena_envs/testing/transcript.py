"""All observable output of a match, as plain values for comparison and hashing."""

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np

from llmarena_envs.testing.trial import SHOWN, Trial, shown


def plain(value: Any) -> Any:
    """Returns a value as tuples, dicts, texts and bytes only; equal results mean equal content and types."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return (type(value).__name__, *(plain(item) for item in value))
    if isinstance(value, np.ndarray):
        return (value.dtype.str, value.shape, value.tobytes())
    if isinstance(value, set | frozenset):
        return (type(value).__name__, *sorted(map(repr, value)))
    if isinstance(value, str) or value is None:
        return value
    return repr(value)


def observations(env: Any) -> dict[str, Any]:
    """Returns the observations of all agents, whether selected, waiting or removed."""
    return {agent: plain(env.observe(agent)) for agent in env.possible_agents}


def snapshot(env: Any) -> dict[str, Any]:
    """Returns the present position as shown by PettingZoo's interface."""
    return {
        "agents": plain(env.agents),
        "agent_selection": env.agent_selection if env.agents else None,
        "observations": observations(env),
        "rewards": plain(env.rewards),
        "cumulative rewards": plain(env._cumulative_rewards),
        "terminations": plain(env.terminations),
        "truncations": plain(env.truncations),
        "infos": plain(env.infos),
    }


def digest(snapshots: Iterable[Any]) -> str:
    """Returns a hash of a course of positions: 64 hexadecimal digits."""
    state = hashlib.sha256()
    for value in snapshots:
        state.update(repr(value).encode("utf-8", "backslashreplace"))
    return state.hexdigest()


def difference(expected: Any, got: Any, path: str = "") -> tuple[str, str] | None:
    """Finds the first difference of two plain values.

    Returns:
        The differing part of each, with its path; ``None`` if they are equal.
    """
    if expected == got:
        return None
    if isinstance(expected, dict) and isinstance(got, dict) and list(expected) == list(got):
        parts = ((f"{path}[{key!r}]", expected[key], got[key]) for key in expected)
    elif isinstance(expected, tuple | list) and isinstance(got, tuple | list) and len(expected) == len(got):
        parts = ((f"{path}[{index}]", *pair) for index, pair in enumerate(zip(expected, got, strict=True)))
    else:
        if isinstance(expected, str) and isinstance(got, str) and max(len(expected), len(got)) > SHOWN:
            start = max(0, _first_difference(expected, got) - SHOWN // 2)
            path, expected, got = f"{path}[{start}:]", expected[start:], got[start:]
        return f"{path} = {shown(expected)}", f"{path} = {shown(got)}"
    return next(found for place, left, right in parts if (found := difference(left, right, place)) is not None)


def _first_difference(left: str, right: str) -> int:
    """Returns the index of the first different character of two texts."""
    pairs = enumerate(zip(left, right, strict=False))
    return next((index for index, (one, other) in pairs if one != other), min(len(left), len(right)))


def are_alike(left: Any, right: Any) -> bool:
    """Says whether two values are equal, down to the attributes of objects; shared objects are skipped.

    Of an object with its own ``__getstate__`` the returned state is compared.
    """
    return _are_alike(left, right, set())


def _are_alike(left: Any, right: Any, begun: set[tuple[int, int]]) -> bool:
    """Compares two values; pairs in ``begun``, e.g. of a reference cycle, are skipped."""
    if left is right:
        return True
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(_are_alike(left[key], right[key], begun) for key in left)
    if isinstance(left, tuple | list):
        pairs = zip(left, right, strict=False)
        return len(left) == len(right) and all(_are_alike(*pair, begun) for pair in pairs)
    if isinstance(left, np.ndarray):
        return plain(left) == plain(right)
    if isinstance(left, np.random.Generator):
        return repr(left.bit_generator.state) == repr(right.bit_generator.state)
    if left == right or (id(left), id(right)) in begun:
        return True
    if not hasattr(left, "__dict__"):
        return False
    begun.add((id(left), id(right)))
    if "__getstate__" in vars(type(left)):
        return _are_alike(left.__getstate__(), right.__getstate__(), begun)
    return _are_alike(vars(left), vars(right), begun)


def expect_equal(trial: Trial, expected: Any, got: Any, what: str, agent: str | None = None) -> None:
    """Fails with the first difference unless two plain values are equal."""
    found = difference(expected, got)
    if found is not None:
        trial.fail(f"{what}: {found[0]}", found[1], agent)


def expect_same_course(trial: Trial, expected: list[Any], got: list[Any], what: str) -> None:
    """Fails at the first position where two courses of a match differ."""
    for trial.turn, (left, right) in enumerate(zip(expected, got, strict=False)):
        expect_equal(trial, left, right, what)
    trial.expect(len(expected) == len(got), f"{what}: {len(expected)} positions", f"{len(got)} positions")
