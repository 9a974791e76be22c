"""Pictures of the two board games: their content at known positions."""

from types import ModuleType
from typing import Any

import pytest

from llmarena_envs import connect_four_v0, tictactoe_v0
from tests.support.pictures import described, replies, texts, texts_outside


def after(module: ModuleType, moves: list[int | None], **options: Any) -> Any:
    env = module.env(**options)
    env.reset(seed=0)
    for move in moves:
        env.step(move)
    return env.unwrapped


def test_free_cells_can_be_pointed_at_by_the_player_to_move_only() -> None:
    env = after(tictactoe_v0, [4, 0])
    assert replies(env.draw("player_0")) == [f"X: ({cell // 3 + 1}, {cell % 3 + 1})" for cell in (1, 2, 3, 5, 6, 7, 8)]
    assert replies(env.draw("player_1")) == replies(env.draw()) == []


def test_full_columns_cannot_be_pointed_at() -> None:
    env = after(connect_four_v0, [0, 0, 0, 0, 0, 0, 3])
    assert replies(env.draw("player_1")) == [f"O: {column}" for column in range(2, 8)]


@pytest.mark.parametrize(
    ("module", "moves", "told"),
    [
        (tictactoe_v0, [4], ["X: player_0", "O: player_1 to move"]),
        (tictactoe_v0, [0, 3, 1, 4, 2], ["X: player_0 wins", "O: player_1"]),
        (tictactoe_v0, [0, 2, 1, 3, 5, 4, 6, 7, 8], ["X: player_0 draw", "O: player_1 draw"]),
        (connect_four_v0, [0, 1, 0, 1, 0, 1, 5, 1], ["X: player_0", "O: player_1 wins"]),
        (connect_four_v0, [0, 1, 1, 2, 2, 3, 2, 3, 3, 5, 3], ["X: player_0 wins", "O: player_1"]),
        (connect_four_v0, [0, None], ["X: player_0", "O: player_1"]),
    ],
    ids=["to move", "row", "full", "column", "diagonal", "forfeited"],
)
def test_drawing_shows_player_to_move_or_winner(module: ModuleType, moves: list[int | None], told: list[str]) -> None:
    assert described(after(module, moves).draw())[:2] == told


@pytest.mark.parametrize("module", [tictactoe_v0, connect_four_v0])
def test_forfeited_match_has_no_player_to_move(module: ModuleType) -> None:
    env = after(module, [0, None])
    assert described(env.draw("player_0"))[:2] == ["X: player_0 (you)", "O: player_1 forfeits"]
    assert described(env.draw("player_1"))[:2] == ["X: player_0", "O: player_1 (you) forfeits"]


def test_a_winning_line_reaches_over_all_its_marks() -> None:
    # Row 1, columns 1 to 3: from the middle of the first cell to the middle of the last.
    picture = after(tictactoe_v0, [0, 3, 1, 4, 2]).draw()
    assert '<line x1="96" y1="142" x2="320" y2="142"' in picture
    assert "<line" not in after(tictactoe_v0, [0, 3, 1, 4]).draw()


def test_drawing_names_the_reader_in_the_games_language() -> None:
    picture = after(connect_four_v0, [3], language="zh").draw("player_1")
    assert {"player_1（你）", "行动中"} <= set(texts(picture))
    assert "player_0" in texts(picture)


@pytest.mark.parametrize("module", [tictactoe_v0, connect_four_v0])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_texts_stay_within_the_picture_and_whole(module: ModuleType, language: str) -> None:
    for agent in (None, "player_0", "player_1"):
        picture = after(module, [4, 0], language=language).draw(agent)
        assert texts_outside(picture) == []
        assert not any("…" in text for text in texts(picture))
