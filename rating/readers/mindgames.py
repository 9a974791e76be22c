"""Logs of MindGames and TextArena: a row for each player of a game, as JSON lines.

The public rows of MindGames (arXiv 2605.29512) have these fields; others are ignored:

| field | content |
|---|---|
| ``game_id``, ``env_name`` | the game and its kind, e.g. ``SecretMafia-v0`` |
| ``player_id``, ``model_name`` | the player and its model |
| ``opponent_names`` | model by player id of the others |
| ``rewards`` | reward by player id |
| ``observations`` | by time, an object with the ``observation`` and the ``action`` |
| ``status``, ``reason`` | ``finished``, and why the game ended |

Objects may be JSON texts. An *error* is an invalid move reported in an observation. A *forfeit* is an error that decides the
result: the game eliminates the player, its ``reason`` names the invalid move, or the game ended with the player's next move after
a warning (in a game of two only if the player lost and ``reason`` states no win; the log does not show the last move's effect).
Only lines of the game count, which begin with ``[-1]`` or ``[GAME]``.
"""

import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from llmarena_envs.core.options import OptionError
from rating.readers.results import (
    MOST_BATTLES,
    Rejected,
    Result,
    battle_of,
    case_name,
    finite_number,
    name_of,
    read_each,
)
from rating.stats.results import SeatConduct

COLUMNS = ("game_id", "env_name", "player_id", "model_name", "rewards")

_MOST_PLAYERS = 64
_TEAMS = ("Codenames", "SecretMafia")
"""Games of teams: equal rewards are of one team, not a tie."""

_GAME = r"^\[(?:-1|GAME)\] ?"
_GAME_LINE = re.compile(_GAME, re.MULTILINE)
_WARNED = re.compile(_GAME + r"Player (\d{1,3}) attempted an invalid move", re.MULTILINE)
_ELIMINATED = re.compile(_GAME + r"Player (\d{1,3}) has been eliminated by making an invalid move", re.MULTILINE)
_REASON = re.compile(r"Player (\d{1,3}) (?:made an invalid move|mentioned a clue that is a subset)")
_REGULAR = re.compile(r"\b(?:wins?|won|ties?|tied|draw)\b", re.IGNORECASE)


@dataclass
class _Game:
    """A game, as its rows are read.

    Attributes:
        where: file and place of its first row.
        rewards: by player.
        models: by player.
        erred: players with an invalid move.
        forfeited: players with an invalid move that decided the result.
        last: time of the last observation, whether it ends with a warning of its player, and the player.
        reason: why it ended.
    """

    where: tuple[Path, str]
    rewards: dict[int, float]
    models: dict[int, str] = field(default_factory=dict)
    erred: set[int] = field(default_factory=set)
    forfeited: set[int] = field(default_factory=set)
    last: tuple[str, bool, int] = ("", False, -1)
    reason: str = ""


def read_mindgames(paths: Sequence[Path], metric: str = "") -> Iterator[Result | Rejected]:
    """Yields the results of all pairs of models in each game, and the errors and forfeits of every seat.

    Raises:
        OptionError: if there are too many results.
    """
    games: dict[tuple[str, str], _Game] = {}
    yield from filter(None, read_each(paths, partial(_add, games)))
    pairs = 0
    for (environment, identity), game in games.items():
        unnamed = game.rewards.keys() - game.models.keys()
        if unnamed:
            yield Rejected(*game.where, f"game {identity}: no row or opponent_names names player {min(unnamed)}")
        _complete(game)
        deal = case_name(f"game {identity}")
        yield Result(None, environment, conduct=_conduct(game, deal))
        for one, other in itertools.combinations(sorted(game.models), 2):
            lead = game.rewards[one] - game.rewards[other]
            is_team = lead == 0 and environment.startswith(_TEAMS)
            if game.models[one] == game.models[other] or is_team:
                continue
            pairs += 1
            if pairs > MOST_BATTLES:
                raise OptionError(f"{game.where[0]}: expected at most {MOST_BATTLES} pairs of players, got more")
            score = 0.5 + 0.5 * ((lead > 0) - (lead < 0))
            battle = battle_of((game.models[one], game.models[other]), score, deal)
            yield Result(battle._replace(is_forfeited=bool(game.forfeited)), environment)


def _add(games: dict[tuple[str, str], _Game], row: Mapping[str, Any], path: Path, where: str) -> None:
    """Adds a row to its game.

    Raises:
        OptionError: if a field is missing or wrong, or the row does not fit the rows of its game before.
    """
    status = row.get("status")
    if status not in (None, "finished"):
        raise OptionError(f"status: expected 'finished', got {str(status)!r:.60}")
    environment, identity = name_of(_text(row, "env_name")), _text(row, "game_id")
    rewards = {_player(key): finite_number("rewards", value) for key, value in _object(row, "rewards").items()}
    player, model = _player(_text(row, "player_id")), name_of(_text(row, "model_name"))
    if not 2 <= len(rewards) <= _MOST_PLAYERS or player not in rewards:
        raise OptionError(
            f"rewards: expected 2 to {_MOST_PLAYERS} players, with player {player}, got {sorted(rewards)}"
        )
    names = {player: model}
    for key, name in (_object(row, "opponent_names") if row.get("opponent_names") else {}).items():
        if name and _player(key) in rewards:
            names.setdefault(_player(key), name_of(str(name)))
    texts = [
        (time, str(turn.get("observation") or ""))
        for time, turn in sorted((_object(row, "observations") if row.get("observations") else {}).items())
        if isinstance(turn, dict)
    ]
    game = games.setdefault((environment, identity), _Game((path, where), rewards))
    if game.rewards != rewards:
        raise OptionError(f"game {identity}: expected the rewards of its first row, got other ones")
    if any(game.models.setdefault(number, name) != name for number, name in names.items()):
        raise OptionError(f"game {identity}: expected the models of its rows before, got other ones")
    game.reason = game.reason or str(row.get("reason") or "")
    for _, text in texts:
        game.erred.update(int(found) for found in _WARNED.findall(text))
        game.forfeited.update(int(found) for found in _ELIMINATED.findall(text))
    if texts:
        time, text = texts[-1]
        game.last = max(game.last, (time, _ends_with_warning(text, player), player))


def _ends_with_warning(text: str, player: int) -> bool:
    warnings = list(_WARNED.finditer(text))
    last = max((line.start() for line in _GAME_LINE.finditer(text)), default=-1)
    return bool(warnings) and warnings[-1].start() == last and int(warnings[-1][1]) == player


def _complete(game: _Game) -> None:
    """Adds the forfeits that only the whole game shows; players without a reward are dropped."""
    game.forfeited.update(int(found) for found in _REASON.findall(game.reason))
    _, is_warned, player = game.last
    has_lost = game.rewards.get(player, 0.0) < max(game.rewards.values()) and not _REGULAR.search(game.reason)
    if is_warned and (has_lost or len(game.rewards) > 2):
        game.forfeited.add(player)
    game.forfeited &= game.rewards.keys()
    game.erred = (game.erred & game.rewards.keys()) | game.forfeited


def _conduct(game: _Game, deal: str) -> tuple[SeatConduct, ...]:
    return tuple(
        SeatConduct(model, deal, player in game.erred, player in game.forfeited, bool(game.forfeited - {player}))
        for player, model in sorted(game.models.items())
    )


def _text(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise OptionError(f"{name}: expected a text or a whole number, got {str(value)!r:.60}")
    return str(value)[:1000]


def _player(value: str) -> int:
    if not (value.isascii() and value.isdecimal() and len(value) <= 3):
        raise OptionError(f"expected the number of a player, got {value!r:.60}")
    return int(value)


def _object(row: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Returns an object of a row, or of its JSON text."""
    value = row.get(name)
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError) as error:
            raise OptionError(f"{name}: expected a JSON object, but: {error}") from error
    if not isinstance(value, dict):
        raise OptionError(f"{name}: expected a JSON object, got {str(value)!r:.60}")
    return value
