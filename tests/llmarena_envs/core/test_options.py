import re

import pytest

from llmarena_envs.core.options import OptionError, check_bool, check_choice, check_int, nearest


def test_wrong_choice_is_reported_with_nearest_ones() -> None:
    with pytest.raises(
        OptionError, match=re.escape("mode: expected one of 'text', 'vector', got 'vectro'; did you mean 'vector'?")
    ):
        check_choice("mode", "vectro", ["text", "vector"])
    with pytest.raises(OptionError, match=re.escape("mode: expected one of 'text', 'vector', got 7") + "$"):
        check_choice("mode", 7, ["text", "vector"])


@pytest.mark.parametrize("value", [0, 6, -1, True, 1.0, "1", None])
def test_wrong_integers(value: object) -> None:
    with pytest.raises(OptionError, match=re.escape(f"rounds: expected an integer from 1 to 5, got {value!r}")):
        check_int("rounds", value, 1, 5)


@pytest.mark.parametrize("value", [0, 1, "true", None])
def test_wrong_flags(value: object) -> None:
    with pytest.raises(OptionError, match="hint: expected True or False, got"):
        check_bool("hint", value)


def test_nearest_names_up_to_three() -> None:
    assert nearest("minmax", ["minimax", "random"]) == "; did you mean 'minimax'?"
    assert nearest("xyz", ["minimax", "random"]) == ""
    assert nearest("ab", ["ab1", "ab2", "ab3", "ab4"]).count(" or ") == 2
