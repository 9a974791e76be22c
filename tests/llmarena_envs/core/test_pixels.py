"""render_mode="rgb_array": arrays of one size and type, drawn with fonts that are there, or a clear error."""

import importlib
import sys
from typing import Any

import numpy as np
import pytest
from gymnasium.error import DependencyNotInstalled

from llmarena_envs import connect_four_v0
from llmarena_envs.catalogue import CATALOGUE
from llmarena_envs.core.pixels import pixels_of
from llmarena_envs.core.svg import Svg

WITH_PIXELS = [
    entry.name
    for entry in CATALOGUE
    if "rgb_array" in importlib.import_module(f"llmarena_envs.{entry.name}").raw_env.metadata["render_modes"]
]


def frames(name: str, **options: Any) -> list[np.ndarray]:
    """Returns the first frame of a random match, one of its middle and the last."""
    env = importlib.import_module(f"llmarena_envs.{name}").env(render_mode="rgb_array", **options)
    env.reset(seed=0)
    rng = np.random.default_rng(0)
    shown = [env.render()]
    while not any(env.terminations.values()):
        env.step(env.unwrapped.random_action(env.agent_selection, rng))
        if len(env.unwrapped.game.view("player_0").legal) == 0 or len(shown) < 2:
            shown = [*shown[:2], env.render()]
    return shown


@pytest.mark.slow_except(1)
@pytest.mark.parametrize("name", WITH_PIXELS)
def test_all_frames_of_a_match_have_one_size(name: str) -> None:
    shown = frames(name)
    assert {(frame.dtype, frame.shape) for frame in shown} == {(np.dtype("uint8"), (*shown[0].shape[:2], 3))}
    assert not np.array_equal(shown[0], shown[-1])


def test_a_frame_is_as_large_as_the_picture_and_the_same_each_time() -> None:
    env = connect_four_v0.env(render_mode="rgb_array")
    env.reset(seed=0)
    frame = env.render()
    assert f'width="{frame.shape[1]}" height="{frame.shape[0]}"' in env.unwrapped.draw()
    assert np.array_equal(frame, env.render())
    frame[:] = 0  # a frame is the reader's own


def test_letters_are_drawn_with_any_installed_fonts() -> None:
    blank, written = Svg(80, 40, "a picture"), Svg(80, 40, "a picture")
    written.text(10, 30, "Ah 7")
    difference = pixels_of(str(blank)).astype(int) - pixels_of(str(written))
    assert (difference > 100).sum() > 100


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    env = connect_four_v0.env(render_mode="rgb_array")
    env.reset(seed=0)
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(DependencyNotInstalled, match=r'pip install "llmarena-envs\[pictures\]"'):
        env.render()
