"""Positions and rules of OpenSpiel's board games as players read them."""

import re
from typing import Any

import numpy as np
import pytest

from llmarena_envs.core.grid import Grid, text_of
from llmarena_envs.openspiel.game import SpielGame
from llmarena_envs.openspiel.listing import LISTED, rules_of
from llmarena_envs.openspiel.rendering.boards import RENDERINGS

pytestmark = pytest.mark.needs("pyspiel")

HIDDEN = ("battleship", "dark_chess", "dark_hex", "kriegspiel", "phantom_go", "phantom_ttt")
CHINESE = ("backgammon", "checkers", "chess", "connect_four", "go", "hex", "othello")
OPTIONS: dict[str, list[dict[str, Any]]] = {
    "amazons": [{"board_size": 6}],
    "backgammon": [{"hyper_backgammon": True}],
    "battleship": [{"board_width": 4, "board_height": 3, "ship_sizes": "[1;2]", "ship_values": "[1;1]"}],
    "breakthrough": [{"rows": 6, "columns": 5}],
    "checkers": [{"rows": 10, "columns": 10}],
    "chinese_checkers": [{"players": 6}],
    "connect_four": [{"rows": 5, "columns": 11}],
    "dots_and_boxes": [{"num_rows": 3, "num_cols": 4}],
    "go": [{"board_size": 13}],
    "gomoku": [{"dims": 3, "size": 4, "connect": 4}],
    "havannah": [{"board_size": 4, "swap": True}],
    "hex": [
        {"num_rows": 4, "num_cols": 6},
        {"board_size": 5, "swap": True},
        {"string_rep": "explicit", "board_size": 5},
    ],
    "hive": [{"uses_mosquito": False}],
    "mnk": [{"m": 30, "n": 5}],
    "nim": [{"pile_sizes": "12;3"}],
    "oware": [{"num_houses_per_player": 4}],
    "quoridor": [{"players": 4, "board_size": 7, "ansi_color_output": True}],
    "twixt": [{"ansi_color_output": False, "board_size": 12}],
    "y": [{"board_size": 5}],
}
"""Options of further variants."""

VARIANTS = [(game, options) for game in sorted(RENDERINGS) for options in ({}, *OPTIONS.get(game, []))]


def played(game: str, options: dict[str, Any], seed: int, turns: int):
    """Yields the positions of a random match."""
    listed = LISTED[game]
    position = SpielGame(game, {**listed.parameters, **options}, seed_parameter=listed.seed_parameter)
    rng = np.random.default_rng(seed)
    position.reset(rng)
    for _ in range(turns):
        yield position
        if not position.to_move:
            return
        position.apply((position.random_action(position.to_move[0], rng),))


def text(game: str, view, language: str = "en") -> str:
    return text_of(RENDERINGS[game].render(view, language))


def position_after(game: str, moves: str, **options: Any) -> SpielGame:
    """Returns the position after moves by their names for players."""
    position = next(played(game, options, 0, 1))
    for move in moves.split(", "):
        view = position.view(position.to_move[0])
        names = [RENDERINGS[game].name(name) for name in view.names]
        position.apply((view.legal[names.index(move)],))
    return position


@pytest.mark.parametrize(("game", "options"), VARIANTS)
def test_rendering_of_random_matches_has_board_and_distinct_names(game, options):
    rendering = RENDERINGS[game]
    for seed in range(2):
        for position in played(game, options, seed, 120):
            for agent in position.agents:
                view = position.view(agent)
                for language in rules_of(game).texts:
                    parts = rendering.render(view, language)
                    assert text_of(parts).strip()
                names = [rendering.name(name) for name in view.names]
                assert len(set(names)) == len(names)
                assert not any(", " in name or name != name.strip() for name in names)
                for part in parts:
                    if isinstance(part, Grid):
                        assert part.rows
                        assert not any(" " in cell for row in part.rows for cell in row)


@pytest.mark.parametrize("game", HIDDEN)
def test_rendering_of_hidden_games_depends_on_strings_of_the_reader(game):
    seen: dict[tuple[Any, ...], str] = {}
    for seed in range(30):
        for position in played(game, {}, seed, 12):
            for agent in position.agents:
                view = position.view(agent)
                known = (agent, view.observation, view.information, view.legal)
                assert seen.setdefault(known, text(game, view)) == text(game, view)


@pytest.mark.parametrize("game", sorted(RENDERINGS))
def test_rules_have_length_of_a_short_page(game):
    rules = rules_of(game)
    assert 80 <= len(rules.texts["en"].split()) <= 230
    assert set(rules.title) == set(rules.texts) == set(rules.position)
    assert set(rules.texts) == ({"en", "zh"} if game in CHINESE else {"en"})
    assert len({tuple(sorted(words)) for words in rules.position.values()}) == 1


@pytest.mark.parametrize(
    "game", ["go", "othello", "hex", "gomoku", "mnk", "tic_tac_toe", "phantom_ttt", "dark_hex", "phantom_go"]
)
def test_names_of_placing_moves_are_cells_without_stone(game):
    for position in played(game, {}, 3, 40):
        for agent in position.to_move:
            view = position.view(agent)
            grid = next(part for part in RENDERINGS[game].render(view, "en") if isinstance(part, Grid))
            cells = {
                column + row: grid.rows[y][x]
                for y, row in enumerate(grid.row_names)
                for x, column in enumerate(grid.column_names)
            }
            for name in map(RENDERINGS[game].name, view.names):
                assert name == "pass" or cells[name] == "."


@pytest.mark.parametrize("game", ["breakthrough", "checkers", "clobber", "lines_of_action", "xiangqi"])
def test_names_of_moves_begin_at_own_pieces(game):
    own = {
        "breakthrough": "bw",
        "checkers": ("oO", "xX"),
        "clobber": "ox",
        "lines_of_action": "xo",
        "xiangqi": ("RHEAGCS", "rheagcs"),
    }[game]
    for position in played(game, {}, 4, 60):
        for agent in position.to_move:
            view = position.view(agent)
            grid = RENDERINGS[game].render(view, "en")[1]
            for name in map(RENDERINGS[game].name, view.names):
                column, row = re.match(r"([a-z])(\d+)", name).groups()
                cell = grid.rows[grid.row_names.index(row)][grid.column_names.index(column)]
                assert cell in own[view.player]


def test_backgammon_counts_fifteen_checkers_of_each_side():
    for seed in range(6):
        for position in played("backgammon", {}, seed, 300):
            shown = text("backgammon", position.view(position.agents[seed % 2]))
            for mark in "xo":
                facts = [int(number) for number in re.findall(rf"(?:bar|off).*{mark} (\d+)", shown)]
                points = [int(number) for number in re.findall(rf"\b{mark}(\d+)", shown.partition("\n")[2])]
                assert sum(points) + sum(facts) == 15


def test_backgammon_names_are_steps_in_the_order_of_the_dice():
    for position in played("backgammon", {}, 1, 200):
        for agent in position.to_move:
            view = position.view(agent)
            dice = sorted(map(int, re.search(r"Dice: (\d)(\d)", view.observation).groups()))
            for name, action in zip(view.names, view.legal, strict=True):
                steps = RENDERINGS["backgammon"].name(name).split()
                if "pass" in steps or "off" in name or "Off" in name:
                    continue
                lengths = [
                    int(start.replace("bar", "25")) - int(end) for start, end in (step.split("/") for step in steps)
                ]
                assert lengths == (dice if action >= 26 * 26 else dice[::-1])


def test_hive_moves_lead_to_free_places_beside_shown_pieces():
    from llmarena_envs.openspiel.rendering.boards.pieces import _hive_place, _hive_stacks

    for position in played("hive", {}, 6, 60):
        for agent in position.to_move:
            view = position.view(agent)
            stacks = _hive_stacks(view.observation.split(";")[3:])
            places = {piece: place for place, stack in stacks.items() for piece in stack}
            for name in view.names:
                piece, _, beside = name.partition(" ")
                if beside and beside[0] + beside[-1] != beside and any(sign in beside for sign in "-/\\"):
                    target = _hive_place(beside, places)
                    assert [other for other in stacks.get(target, []) if other != piece] == []


def _crosses(first, second) -> bool:
    """Says whether two links, each of two holes, cross."""
    (a, b), (c, d) = first, second

    def side(p, q, r):
        return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])

    return side(a, b, c) * side(a, b, d) < 0 and side(c, d, a) * side(c, d, b) < 0


def test_twixt_links_equal_links_of_replayed_pegs():
    for seed in range(20):
        *_, position = played("twixt", {}, seed, 45)
        view = position.view("player_0")
        pegs: list[set[tuple[int, int]]] = [set(), set()]
        links: list[tuple[int, Any]] = []
        for number, move in enumerate(view.moves):
            hole = ord(move.name[1]) - 97, int(move.name[2:])
            if number == 1 and hole in pegs[0]:
                pegs[0].clear()
                hole = 8 - hole[1], hole[0] + 1
            own = [peg for peg in pegs[move.player] if sorted((abs(peg[0] - hole[0]), abs(peg[1] - hole[1]))) == [1, 2]]
            for peg in own:
                if not any(_crosses((hole, peg), link) for _, link in links):
                    links.append((move.player, (hole, peg)))
            pegs[move.player].add(hole)
        for player, mark in enumerate("xo"):
            expected = {
                "-".join(f"{chr(97 + x)}{y}" for x, y in sorted(link, key=lambda end: (end[1], end[0])))
                for owner, link in links
                if owner == player
            }
            line = re.search(rf"Links of {mark}: (.*)", text("twixt", view))
            assert set(line[1].split(", ") if line else []) == expected


def test_chess_after_open_game_reads_as_board_and_rights():
    view = position_after("chess", "e4, e5, Nf3, Nc6, Ke2").view("player_0")
    assert text("chess", view).split("\n")[1:] == [
        "8 r . b q k b n r",
        "7 p p p p . p p p",
        "6 . . n . . . . .",
        "5 . . . . p . . .",
        "4 . . . . P . . .",
        "3 . . . . . N . .",
        "2 P P P P K P P P",
        "1 R N B Q . B . R",
        "  a b c d e f g h",
        "Castling rights: Black O-O, Black O-O-O",
        "Half-moves since the last capture or pawn move: 3",
    ]


def test_go_in_chinese_reads_as_board_and_komi():
    view = position_after("go", "c3, j1, pass", board_size=9).view("player_1")
    assert text("go", view, "zh").split("\n") == [
        "你执白（O）。黑方是 X，. 是空点。",
        *[f"{row} . . . . . . . . ." for row in range(9, 3, -1)],
        "3 . . X . . . . . .",
        "2 . . . . . . . . .",
        "1 . . . . . . . . O",
        "  a b c d e f g h j",
        "白方贴目：7.5",
    ]


def test_hex_rows_are_shifted_by_half_a_cell():
    view = position_after("hex", "b1, c3", board_size=3).view("player_0")
    assert text("hex", view).split("\n")[1:] == ["  a b c", "1 . x .", "2  . . .", "3   . . o"]


def test_quoridor_walls_stand_between_named_squares():
    view = position_after("quoridor", "b1v, a3h", board_size=4, wall_count=2).view("player_0")
    assert text("quoridor", view).split("\n")[1:] == [
        "1 .   . | 1   .",
        "        +",
        "2 .   . | .   .",
        "",
        "3 .   .   .   .",
        "  - + -",
        "4 .   .   0   .",
        "  a   b   c   d",
        "Walls left: player_0 1, player_1 1",
    ]


def test_dots_and_boxes_names_ends_of_lines():
    view = position_after("dots_and_boxes", "a1-b1, a1-a2, b1-b2, a2-b2").view("player_0")
    assert text("dots_and_boxes", view).split("\n")[1:] == [
        "1 o - o   o",
        "  | 2 |",
        "2 o - o   o",
        "",
        "3 o   o   o",
        "  a   b   c",
        "Boxes: player_0 0, player_1 1",
    ]


def test_kriegspiel_names_no_attempt_of_the_opponent():
    for seed in range(3):
        for position in played("kriegspiel", {}, seed, 60):
            shown = text("kriegspiel", position.view("player_0"))
            board = shown.split("Attempts")[0].split("\n", 1)[1]
            assert not re.search(
                "[PNBRQK]", board.replace("Black O-O-O", "").replace("Black O-O", "").partition("rights")[0]
            )


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("468 - 24/20 6/5", "24/20 6/5"),
        ("863 - 8/2 6/2", "6/2 8/2"),
        ("297 - 13/11(2)", "13/11 13/11"),
        ("1350 - Bar/22* Pass", "bar/22 pass"),
        ("Pass", "pass"),
    ],
)
def test_backgammon_name_writes_steps_in_order(name, shown):
    assert RENDERINGS["backgammon"].name(name) == shown
