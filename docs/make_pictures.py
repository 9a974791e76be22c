"""Makes the pictures of the documentation.

``python docs/make_pictures.py`` writes into ``docs/pictures`` a match that moves, and screenshots of the site, of a match in the
browser, of the board of a run under way and of a report; ``--only play`` makes one of them. ``--only tabs`` makes a contact sheet
of all tabs of a report for each theme and screen; ``--tabs DIR`` also writes each tab in full size. Screenshots need Chromium and
the extras ``docs``, ``web``, ``pictures`` and ``browser``, and differ in their bytes with the fonts of the machine.
"""

import argparse
import asyncio
from collections.abc import Callable
from pathlib import Path

from agents.play import play_and_close
from agents.registry import make_policy
from llmarena_envs.catalogue import make_environment
from site_builder.moving import moving_picture
from site_builder.scenes import MOVING_POLICIES, MOVING_SEED

FOLDER = Path(__file__).parent / "pictures"
_GAME = "connect_four_v0"


def moving_board(picture: Path) -> None:
    """Writes a match as a picture that moves."""
    env = make_environment(_GAME, {})
    policies = {agent: make_policy(spec, _GAME) for agent, spec in MOVING_POLICIES.items()}
    positions: list[str] = []
    asyncio.run(play_and_close(env, policies, MOVING_SEED, on_turn=lambda turn: positions.append(env.unwrapped.draw())))
    first, second = MOVING_POLICIES.values()
    words = f"{first}, X, plays {second}, O; four O in a row end the match after {len(positions)} moves."
    picture.write_text(
        moving_picture(positions, "A match of connect four, move by move", words), encoding="utf-8", newline="\n"
    )


def _screenshot(name: str) -> Callable[[Path], None]:
    def take(picture: Path) -> None:
        from site_builder import screenshots  # needs Playwright

        with screenshots.chromium() as browser:
            getattr(screenshots, name)(browser, picture)

    return take


def _tabs(folder: Path, singles: Path | None) -> list[Path]:
    from site_builder import screenshots  # needs Playwright

    if singles is not None:
        singles.mkdir(parents=True, exist_ok=True)
    with screenshots.chromium() as browser:
        return screenshots.tabs(browser, folder, singles)


PICTURES: dict[str, Callable[[Path], None]] = {
    "connect_four-playing.svg": moving_board,
    **{f"{name}.png": _screenshot(name) for name in ("home", "play", "board", "answer", "report")},
}
"""What makes each picture, by the name of its file."""


def main() -> None:
    """Makes all pictures, or those that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = [*(Path(name).stem for name in PICTURES), "tabs"]
    parser.add_argument("--only", choices=names, metavar="NAME", help=f"one picture: {', '.join(names)}")
    parser.add_argument("--out", type=Path, default=FOLDER, metavar="DIR", help="folder of the pictures")
    parser.add_argument("--tabs", type=Path, metavar="DIR", help="folder for each tab of a report in full size")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    for name, make in PICTURES.items():
        if args.only in (None, Path(name).stem):
            make(args.out / name)
            print(f"{args.out / name}: {(args.out / name).stat().st_size} bytes")
    if args.only in (None, "tabs"):
        for sheet in _tabs(args.out, args.tabs):
            print(f"{sheet}: {sheet.stat().st_size} bytes")


if __name__ == "__main__":
    main()
