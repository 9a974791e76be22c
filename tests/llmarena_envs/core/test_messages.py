import copy

import pytest

from llmarena_envs.core.messages import Message, MessagePool

PUBLIC = Message(1, "player_0", "hello")
PRIVATE = Message(1, "host", "your word is cat", frozenset({"player_1"}))
LATER = Message(2, "player_1", "meow", frozenset())


def _pool() -> MessagePool:
    pool = MessagePool()
    for message in (PUBLIC, PRIVATE, LATER):
        pool.append(message)
    return pool


def test_readers_see_what_is_public_theirs_or_for_them() -> None:
    pool = _pool()
    assert pool.visible_to("player_0") == (PUBLIC,)
    assert pool.visible_to("player_1") == (PUBLIC, PRIVATE, LATER)
    assert pool.visible_to("player_2") == (PUBLIC,)
    assert pool.visible_to("host") == (PUBLIC, PRIVATE)


def test_the_pool_keeps_the_order() -> None:
    assert list(_pool()) == [PUBLIC, PRIVATE, LATER]
    assert len(_pool()) == 3


@pytest.mark.parametrize("number", [0, -1])
def test_rounds_count_from_one(number: int) -> None:
    with pytest.raises(ValueError, match="round: expected at least 1"):
        MessagePool().append(PUBLIC._replace(round=number))


def test_nothing_is_put_into_an_earlier_round() -> None:
    with pytest.raises(ValueError, match="expected at least 2, got 1"):
        _pool().append(PUBLIC)


def test_copies_are_independent() -> None:
    pool = _pool()
    twin = copy.copy(pool)
    twin.append(LATER)
    assert (len(pool), len(twin)) == (3, 4)
