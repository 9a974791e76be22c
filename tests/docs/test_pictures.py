"""Pictures of the documentation that are made without a browser."""

import make_pictures
from tests.docs.pages import DOCS

MOVING = DOCS / "pictures" / "connect_four-playing.svg"


def test_the_moving_board_is_up_to_date(tmp_path):
    made = tmp_path / MOVING.name
    make_pictures.moving_board(made)
    assert made.read_bytes() == MOVING.read_bytes(), "run python docs/make_pictures.py --only connect_four-playing"
    assert len(made.read_bytes()) < 40_000
