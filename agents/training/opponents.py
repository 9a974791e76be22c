"""Opponents drawn from a pool: earlier checkpoints, scripted policies and other models.

``pool:PATH`` names a pool wherever a deal names an opponent. ``PATH`` is a directory with a checkpoint in each subdirectory, or a
TOML file:

    draw = "prioritised"

    [[policy]]
    checkpoints = "checkpoints"  # relative to the file
    weight = 3

    [[policy]]
    spec = "minimax"

The draw depends on the deal's seed, the seat and the content of the pool only. Options follow the path:
``pool:runs/checkpoints:draw=latest``.
"""

import json
import random
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.registry import split_spec
from llmarena_envs.core.options import OptionError, check_choice, check_number

PREFIX = "pool:"
DRAWS = ("uniform", "latest", "prioritised")
UNKNOWN = 0.5
"""Win rate against a checkpoint without a recorded one."""


@dataclass(frozen=True)
class Entry:
    """A part of a pool.

    Attributes:
        weight: relative probability of the part.
        spec: name of a policy; see ``agents.registry``. Empty for checkpoints.
        checkpoints: directory of checkpoints, if there is no ``spec``.
    """

    weight: float = 1.0
    spec: str = ""
    checkpoints: Path = Path()

    def found(self) -> list[Path]:
        """Returns the complete checkpoints, the earliest first."""
        holders = [path.parent for path in self.checkpoints.glob("*/config.json")]
        return sorted((path for path in holders if any(path.glob("*.safetensors"))), key=_number)


@dataclass(frozen=True)
class Pool:
    """Policies to draw an opponent from: first an entry by its weight, then one of its checkpoints.

    Attributes:
        entries: the parts.
        draw: draw of a checkpoint: ``uniform``, ``latest``, or ``prioritised``, by ``(1 - win rate) ** power`` as in prioritised
            fictitious self-play (Vinyals et al., Nature 575, 2019).
        power: how strongly ``prioritised`` prefers opponents that the learner loses to.
        win_rates: the learner's win rate against a checkpoint, by name of its directory, 0 to 1.

    Raises:
        OptionError: if a value is invalid.
    """

    entries: tuple[Entry, ...]
    draw: str = "uniform"
    power: float = 2.0
    win_rates: Mapping[str, float] | None = None

    def __post_init__(self) -> None:
        check_choice("pool: draw", self.draw, DRAWS)
        check_number("pool: power", self.power, 0, 100)
        for entry in self.entries:
            check_number("pool: weight", entry.weight, 0, 1e9)
        for name, rate in (self.win_rates or {}).items():
            check_number(f"pool: win rate against {name!r}", rate, 0, 1)

    @classmethod
    def read(cls, path: str | Path, win_rates: Mapping[str, float] | None = None, **options: Any) -> "Pool":
        """Reads a pool.

        Args:
            path: a directory of checkpoints, or a TOML file.
            win_rates: win rates; by default those in the JSON file beside the pool: ``runs/checkpoints.json`` for
                ``runs/checkpoints``, ``pool.json`` for ``pool.toml``.
            options: further attributes; they take precedence over those in the file.

        Raises:
            OptionError: if there is no pool, or it is invalid.
        """
        path = Path(path)
        table: Any = {"policy": [{"checkpoints": "."}]} if path.is_dir() else _parse(path, tomllib.loads)
        rates = path.with_suffix(".json") if path.suffix == ".toml" else path.with_name(f"{path.name}.json")
        if win_rates is None and rates.exists():
            win_rates = _parse(rates, json.loads)
        if not isinstance(win_rates, Mapping | None):
            raise OptionError(f"{rates}: expected win rates by checkpoint, got {win_rates!r:.80}")
        policies = table.pop("policy", None)
        known = {"spec", "checkpoints", "weight"}
        if not isinstance(policies, list) or not all(
            isinstance(row, dict)
            and set(row) <= known
            and ("spec" in row) != ("checkpoints" in row)
            and all(isinstance(row.get(name, ""), str) for name in ("spec", "checkpoints"))
            for row in policies
        ):
            raise OptionError(
                f"{path}: expected tables [[policy]] with spec or checkpoints, and perhaps weight, got {policies!r:.200}"
            )
        folder = path if path.is_dir() else path.parent
        entries = tuple(
            Entry(row.get("weight", 1.0), row.get("spec", ""), folder / row.get("checkpoints", "")) for row in policies
        )
        given = {**table, **options}
        for name in given:
            check_choice(f"{path}: option", name, ("draw", "power"))
        return cls(entries, win_rates=win_rates, **given)

    def pick(self, seed: int, seat: str) -> str:
        """Returns the name of the policy for a seat of a deal.

        Raises:
            OptionError: if the pool is empty.
        """
        parts = [(entry, entry.found()) for entry in self.entries if entry.weight]
        parts = [(entry, found) for entry, found in parts if entry.spec or found]
        if not parts:
            places = ", ".join(str(entry.checkpoints) for entry in self.entries if not entry.spec)
            raise OptionError(
                f"pool: expected a policy or a checkpoint (config.json and *.safetensors in a subdirectory), found none"
                f" {f'in {places}' if places else 'with a weight'}: save the first model there, or add a policy to a TOML file"
            )
        rng = random.Random(f"{seed}:{seat}")
        ((entry, found),) = rng.choices(parts, [entry.weight for entry, _ in parts])
        if entry.spec:
            return entry.spec
        if self.draw == "latest":
            return f"hf:{found[-1]}"
        weights = [1.0] * len(found)
        if self.draw == "prioritised":
            rates = self.win_rates or {}
            weights = [(1 - rates.get(path.name, UNKNOWN)) ** self.power for path in found]
            weights = weights if any(weights) else [1.0] * len(found)
        return f"hf:{rng.choices(found, weights)[0]}"


def draw_opponent(spec: str, seed: int, seat: str) -> str:
    """Returns the policy for a seat of a deal: drawn if ``spec`` names a pool, else ``spec`` itself.

    Raises:
        OptionError: if the pool is invalid or empty.
    """
    if not spec.startswith(PREFIX):
        return spec
    name, options = split_spec(spec)
    return Pool.read(name.removeprefix(PREFIX), **options).pick(seed, seat)


def _number(path: Path) -> tuple[int, str]:
    """Returns the order of a checkpoint: by the last number in its name, e.g. 500 in ``checkpoint-500``."""
    numbers = re.findall(r"\d+", path.name)
    return (int(numbers[-1]) if numbers else -1, path.name)


def _parse(path: Path, parse: Any) -> Any:
    try:
        return parse(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise OptionError(f"{path}: expected a pool: a directory of checkpoints, or a TOML file ({error})") from None
