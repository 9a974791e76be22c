"""The text of an observation."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from llmarena_envs.core.grid import Grid, Part

MAX_BOARD = 26
"""Maximum number of rows and of columns of an array shown as a board."""

MAX_BOARDS = 16
"""Maximum number of boards shown of one array."""

MAX_ENTRIES = 400
"""Maximum number of entries shown of one array."""


def observed(observation: Any, name: str = "observation") -> tuple[Part, ...]:
    """Returns the parts of an observation: boards, non-zero entries, numbers and texts; action masks are left out."""
    if isinstance(observation, Mapping):
        parts: tuple[Part, ...] = ()
        for key, value in observation.items():
            if key != "action_mask":
                parts += observed(value, str(key) if name == "observation" else f"{name}.{key}")
        return parts
    if isinstance(observation, tuple | list) and any(isinstance(each, np.ndarray | Mapping) for each in observation):
        return sum((observed(each, f"{name}[{index}]") for index, each in enumerate(observation)), ())
    if isinstance(observation, str):
        return (f"{name}: {observation}",)
    array = np.asarray(observation)
    if array.dtype.kind not in "biuf":
        return (f"{name}: {observation}",)
    if array.ndim == 0:
        return (f"{name}: {_number(array)}",)
    if array.ndim == 2 and max(array.shape) <= MAX_BOARD:
        return (f"{name}:", _board(array))
    if array.ndim == 3:
        planes = _planes(array)
        shown = [index for index, plane in enumerate(planes) if plane.any()]
        if max(planes.shape[1:]) <= MAX_BOARD and len(shown) <= MAX_BOARDS:
            return _boards(name, planes, shown)
    return (_entries(name, array),)


def _planes(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Returns the planes of an array: along its first axis if only the other two have the same length, else along its last."""
    if array.shape[1] == array.shape[2] != array.shape[0]:
        return array
    return np.moveaxis(array, 2, 0)


def _boards(name: str, planes: np.ndarray[Any, Any], shown: list[int]) -> tuple[Part, ...]:
    parts: list[Part] = [f"{name}: {len(planes)} planes of {planes.shape[1]} rows and {planes.shape[2]} columns"]
    for index in shown:
        plane = planes[index]
        if (plane == plane.flat[0]).all():
            parts.append(f"plane {index}: {_number(plane.flat[0])} everywhere")
        else:
            parts += [f"plane {index}:", _board(plane)]
    return (*parts, "The other planes are 0 everywhere.") if len(shown) < len(planes) else tuple(parts)


def _board(plane: np.ndarray[Any, Any]) -> Grid:
    rows, columns = plane.shape
    cells = tuple([tuple([_number(value) if value else "." for value in row]) for row in plane])
    return Grid(cells, tuple(map(str, range(rows))), tuple(map(str, range(columns))))


def _entries(name: str, array: np.ndarray[Any, Any]) -> str:
    entries = np.argwhere(array)
    some = [f"[{', '.join(map(str, index))}] = {_number(array[tuple(index)])}" for index in entries[:MAX_ENTRIES]]
    size = " x ".join(map(str, array.shape))
    more = f", and {len(entries) - MAX_ENTRIES} more" if len(entries) > MAX_ENTRIES else ""
    return f"{name}: {size} {'number' if size == '1' else 'numbers'}, non-zero: {', '.join(some) or 'none'}{more}"


def _number(value: Any) -> str:
    return f"{float(value):.6g}"
