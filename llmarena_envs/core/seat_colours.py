"""Colours of seats in drawings and pages; each is legible as background of white text and as text on white."""

from collections.abc import Sequence

SEAT_COLOURS = (
    "#0969da",  # blue
    "#bc4c00",  # orange
    "#1a7f37",  # green
    "#8250df",  # purple
    "#bf3989",  # pink
    "#0b6e80",  # teal
    "#805900",  # ochre
    "#cf222e",  # red
    "#4b4ba8",  # indigo
    "#57606a",  # grey
)


def seat_colour(agents: Sequence[str], agent: str) -> str:
    """Returns the colour of a seat, the same in all drawings and pages of an environment.

    Colours repeat after ten seats; they are always shown with the name.

    Args:
        agents: all seats of the environment, in order.
        agent: the seat.
    """
    return SEAT_COLOURS[agents.index(agent) % len(SEAT_COLOURS)]
