"""What a command sets for the whole process while a run is played is as it was afterwards."""

import gc

import pytest

from rating.cli.process import rare_collections


def test_garbage_is_searched_for_seldom_and_then_as_before():
    before = gc.get_threshold()
    with pytest.raises(KeyboardInterrupt), rare_collections():
        assert gc.get_threshold()[0] > before[0]
        assert gc.get_freeze_count()
        raise KeyboardInterrupt
    assert gc.get_threshold() == before
    assert not gc.get_freeze_count()
