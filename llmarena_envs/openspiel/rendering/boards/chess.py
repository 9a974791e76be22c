"""Renderings of Chess and its relatives."""

import re
from collections.abc import Iterable, Mapping

from llmarena_envs.core.grid import Grid, Part
from llmarena_envs.openspiel.game import SpielView
from llmarena_envs.openspiel.rendering.boards.common import Words, board, letter, lines_of, numbers, shown
from llmarena_envs.openspiel.rendering.rendering import Rendering

_MAX_LOG = 80
"""Maximum number of announcements in a text."""

_BLACK, _WHITE = "pnbrqk", "PNBRQK"


def _placed(placement: str) -> list[list[str]]:
    """Returns the rows of the first field of a FEN; a digit stands for that many empty places."""
    rows = []
    for row in placement.split("/"):
        cells = re.findall(r"\d+|\+?[a-zA-Z?]", row)
        rows.append([each for cell in cells for each in (["."] * int(cell) if cell.isdigit() else [cell])])
    return rows


def _squares(placement: str) -> Grid:
    rows = _placed(placement)
    return board(rows, numbers(len(rows))[::-1], _BLACK, _WHITE)


def _castling(rights: str, words: Words) -> list[str]:
    names = {"K": ("white", "O-O"), "Q": ("white", "O-O-O"), "k": ("black", "O-O"), "q": ("black", "O-O-O")}
    allowed = [" ".join((words(names[right][0]), names[right][1])) for right in rights if right in names]
    return [words("castling", rights=", ".join(allowed))] if allowed else []


def _chess(view: SpielView, words: Words) -> tuple[Part, ...]:
    placement, _, rights, passant, *clocks = view.observation.split()
    placement = placement.partition("[")[0]
    facts = _castling(rights, words)
    if passant != "-":
        facts.append(words("passant", square=passant))
    if clocks and clocks[0] != "0":
        facts.append(words("clock", moves=clocks[0]))
    return (_squares(placement), *facts)


def _crazyhouse(view: SpielView, words: Words) -> tuple[Part, ...]:
    hand = re.search(r"\[(\w*)\]", view.observation)
    pieces = hand[1] if hand else ""
    white, black = [re.sub(r"[^A-Z]", "", each) for each in (pieces, pieces.swapcase())]
    return (*_chess(view, words), words("hands", white=white or "-", black=black or "-"))


def _kriegspiel(view: SpielView, words: Words) -> tuple[Part, ...]:
    placement, _, *rights = lines_of(view.observation)[0].split()
    log = view.information.strip().split("\n")[2:]
    earlier = [words("earlier", count=len(log) - _MAX_LOG)] if len(log) > _MAX_LOG else []
    said = [words("log"), *earlier, *log[-_MAX_LOG:]] if log else []
    return (_squares(placement), *_castling("".join(rights), words), *said)


def _xiangqi(view: SpielView, words: Words) -> tuple[Part, ...]:
    rows = lines_of(view.observation)
    ranks = tuple([str(9 - number) for number in range(len(rows))])
    return (board(rows, ranks, "rheagcs", "RHEAGCS"),)


def _xiangqi_name(name: str) -> str:
    found = re.fullmatch(r"\w\((\d),(\d)\)-\((\d),(\d)\)", name)
    if not found:
        return name
    row, column, to_row, to_column = map(int, found.groups())
    return f"{letter(column)}{9 - row}{letter(to_column)}{9 - to_row}"


def _shogi(view: SpielView, words: Words) -> tuple[Part, ...]:
    placement, _, hands, *_ = view.observation.split()
    rows = _placed(placement)
    grid = board(rows, tuple(map(letter, range(9))), column_names=numbers(9)[::-1])
    pieces = {cell for row in rows for cell in row if cell != "."}
    black = tuple(sorted(piece for piece in pieces if piece.isupper()))
    white = tuple(sorted(pieces.difference(black)))
    return (
        grid._replace(dark=black, light=white),
        words("hands", black=_hand(re.findall(r"\d*[A-Z]", hands)), white=_hand(re.findall(r"\d*[a-z]", hands))),
    )


def _hand(pieces: Iterable[str]) -> str:
    """Returns the pieces in hand of one side, e.g. ``2P G``."""
    return " ".join(pieces).upper() or "-"


RENDERINGS: Mapping[str, Rendering] = {
    "antichess": shown("antichess", _chess),
    "chess": shown("chess", _chess),
    "crazyhouse": shown("crazyhouse", _crazyhouse),
    "dark_chess": shown("dark_chess", _chess),
    "kriegspiel": shown("kriegspiel", _kriegspiel),
    "shogi": shown("shogi", _shogi),
    "xiangqi": shown("xiangqi", _xiangqi, _xiangqi_name),
}
