"""Pictures of the documentation that are made without a browser."""

import xml.etree.ElementTree as ET

import make_pictures
from agents.play import play
from llmarena_envs.catalogue import make_environment
from site_builder.moving import moving_picture
from tests.docs.pages import DOCS

SVG = "{http://www.w3.org/2000/svg}"
MOVING = DOCS / "pictures" / "connect_four-playing.svg"


def test_the_moving_board_is_up_to_date(tmp_path):
    made = tmp_path / MOVING.name
    make_pictures.moving_board(made)
    assert made.read_bytes() == MOVING.read_bytes(), "run python docs/make_pictures.py --only connect_four-playing"
    assert len(made.read_bytes()) < 40_000


def elements(parent, progress=0.0):
    """Yields the shapes and texts of a picture that are shown when so much of its time has passed, in their order."""
    for child in parent:
        animation = child.find(f"{SVG}animate")
        if animation is not None:
            times = [float(time) for time in animation.get("keyTimes").split(";")]
            values = animation.get("values").split(";")
            if [value for time, value in zip(times, values, strict=True) if time <= progress][-1] == "hidden":
                continue
        if child.tag == f"{SVG}g":
            yield from elements(child, progress)
        elif child.tag.removeprefix(SVG) not in ("title", "desc", "style", "animate"):
            yield child.tag, child.attrib, child.text


def test_a_moving_picture_shows_one_position_after_the_other():
    env = make_environment("tictactoe_v0", {})
    positions = []

    class Watched:
        def __call__(self, observation):
            positions.append(env.unwrapped.draw())
            return observation["legal"][0]

        wants_legal = True

    play(env, {agent: Watched() for agent in env.possible_agents}, 0)
    positions.append(env.unwrapped.draw())
    moving = ET.fromstring(moving_picture(positions, "a <match>", "b & c"))
    assert moving.findtext(f"{SVG}title") == "a <match>" and moving.findtext(f"{SVG}desc") == "b & c"
    whole = float(moving.find(f".//{SVG}animate").get("dur").removesuffix("s"))
    step = (whole - 5) / (len(positions) - 1)
    for number, position in enumerate(positions):
        shown = [*elements(moving, (number + 0.5) * step / whole)]
        assert shown == [*elements(ET.fromstring(position))]
