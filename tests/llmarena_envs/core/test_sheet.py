"""Sheets of blocks, and the colours of seats."""

from functools import partial

import pytest

from llmarena_envs.core.seat_colours import SEAT_COLOURS
from llmarena_envs.core.sheet import MAX_HEIGHT, Bubble, Caption, Note, Sheet
from llmarena_envs.core.sheet_table import LIGHT, STRONG, Cell, Table
from llmarena_envs.core.svg import INK
from tests.support.pictures import height, shown


@pytest.mark.parametrize(("language", "told"), [("en", "{} earlier entries"), ("zh", "之前还有 {} 条")])
def test_long_history_shows_its_end_and_the_omitted_count(language, told):
    sheet = Sheet("A talk", language)
    sheet.add(Caption("Before"))
    sheet.history([partial(Bubble, f"player_{number}", f"entry {number} {'x' * 1000}") for number in range(100)])
    sheet.add(Caption("After"))
    picture = str(sheet)
    text = shown(picture)
    numbers = [number for number in range(100) if f"entry {number} " in text]
    assert numbers and numbers == list(range(numbers[0], 100))
    assert told.format(numbers[0]) in text
    assert text.index("Before") < text.index("entry 99") < text.index("After")
    assert MAX_HEIGHT - 200 < height(picture) <= MAX_HEIGHT


def test_note_of_several_lines_is_described_with_its_blanks():
    assert Note("word " * 60, lines=9).words == " ".join(["word"] * 60)


def test_screen_readers_get_all_agents_to_move():
    sheet = Sheet("A talk", "en")
    players = [f"player_{number}" for number in range(20)]
    sheet.head("Round 1", players)
    assert all(f"{player}" in shown(str(sheet)) for player in players)


def test_empty_cells_are_described_as_dashes():
    table = Table(["", "Round 1"], [[Cell("player_0"), Cell()], [Cell(), Cell("clue")], [Cell(), Cell()]], [1, 1])
    assert table.words == "-, Round 1; player_0, -; -, clue"


def test_of_a_long_history_only_what_may_find_room_is_made():
    made = []

    def block(number):
        made.append(number)
        return Bubble("player_0", f"entry {number}")

    sheet = Sheet("A talk", "en")
    sheet.history([partial(block, number) for number in range(1000)])
    assert "990" in shown(str(sheet)) and made[-1] > 950


def luminance(colour):
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize(
    ("one", "other"), [*[(colour, "#ffffff") for colour in SEAT_COLOURS], (INK, LIGHT), (INK, STRONG)]
)
def test_texts_can_be_read_on_their_ground(one, other):
    """WCAG 2.1, success criterion 1.4.3 (level AA)."""
    darker, lighter = sorted([luminance(one), luminance(other)])
    assert (lighter + 0.05) / (darker + 0.05) >= 4.5
