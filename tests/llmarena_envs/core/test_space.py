import copy
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from gymnasium.spaces import Dict, Discrete, Text
from gymnasium.spaces.utils import flatdim, flatten, flatten_space, unflatten
from hypothesis import given
from hypothesis import strategies as st

from llmarena_envs.core.space import UnicodeText

DRAW = (
    "from llmarena_envs.core.space import UnicodeText;"
    "print([UnicodeText(40, seed=3).sample() for _ in range(3)], UnicodeText(9, examples=('a', 'b', 'c'), seed=1).sample())"
)


@given(st.text(st.characters(), max_size=60))
def test_any_text_that_is_short_enough_is_contained(text: str) -> None:
    assert UnicodeText(60).contains(text)
    assert UnicodeText(len(text)).contains(text)
    assert not text or not UnicodeText(len(text) - 1).contains(text)


@pytest.mark.parametrize("value", [None, 1, b"x", ["x"], "x" * 101])
def test_other_values_are_not_contained(value: object) -> None:
    assert not UnicodeText(100).contains(value)


def test_samples_are_members_and_depend_on_the_seed() -> None:
    space = UnicodeText(200, seed=0)
    samples = [space.sample() for _ in range(50)]
    space.seed(0)
    assert samples == [space.sample() for _ in range(50)]
    assert all(space.contains(sample) for sample in samples)
    assert len(set(samples)) > 40
    assert all(len(UnicodeText(2, seed=seed).sample()) <= 2 for seed in range(20))


def test_samples_come_from_the_examples() -> None:
    space = UnicodeText(20, examples=("Deal", "vote: player_1"), seed=0)
    assert {space.sample() for _ in range(30)} == {"Deal", "vote: player_1"}


@pytest.mark.slow
def test_samples_are_the_same_in_every_process() -> None:
    outputs = {
        subprocess.run(
            [sys.executable, "-c", DRAW], capture_output=True, check=True, env={"PYTHONHASHSEED": hash_seed}
        ).stdout
        for hash_seed in ("1", "2")
    }
    assert len(outputs) == 1


@pytest.mark.parametrize("arguments", [{"mask": np.ones(3, np.int8)}, {"probability": np.ones(3)}])
def test_masks_are_refused(arguments: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="takes no mask"):
        UnicodeText(5).sample(**arguments)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda space: pickle.loads(pickle.dumps(space))])
def test_copies_continue_like_the_original(duplicate: Callable[[Any], Any]) -> None:
    space = UnicodeText(50, examples=("a", "b", "c", "d"), seed=4)
    space.sample()
    twin = duplicate(space)
    assert twin == space
    assert [twin.sample() for _ in range(20)] == [space.sample() for _ in range(20)]


def test_pickles_are_small() -> None:
    assert len(pickle.dumps(UnicodeText(1_000_000))) < 10_000


def test_equality_is_by_type_and_length() -> None:
    assert UnicodeText(5) == UnicodeText(5, examples=("x",), seed=1)
    assert UnicodeText(5) != UnicodeText(6)
    assert UnicodeText(5) != Text(5)
    assert len({UnicodeText(5), UnicodeText(5), UnicodeText(6)}) == 2
    assert repr(UnicodeText(5)) == "UnicodeText(5)"


def test_flattening_is_refused_with_advice() -> None:
    assert not UnicodeText(5).is_np_flattenable
    for space in (UnicodeText(5), Dict({"text": UnicodeText(5), "number": Discrete(2)})):
        for function in (flatten_space, lambda space: flatten(space, space.sample())):
            with pytest.raises(NotImplementedError, match="obs_type='vector'"):
                function(space)
    with pytest.raises(NotImplementedError, match="obs_type='vector'"):
        flatdim(UnicodeText(5))
    with pytest.raises(NotImplementedError, match="obs_type='vector'"):
        unflatten(UnicodeText(5), np.zeros(3))
