import copy

import pytest

from llmarena_envs.core.declaration import Channel
from llmarena_envs.core.messages import HOST, MessagePool

CHANNELS = {
    "deal": Channel(HOST, ("player",)),
    "talk": Channel("player", ("player", "judge")),
    "score": Channel("judge"),
}
AGENTS = ("player_0", "player_1", "judge_0")


def _pool() -> MessagePool[str]:
    pool: MessagePool[str] = MessagePool(CHANNELS, AGENTS)
    pool = pool.with_message("deal", HOST, "your word is cat", ["player_1"])
    return pool.with_message("talk", "player_0", "hello").with_message("score", "judge_0", "7")


def test_visible_to_shows_own_and_readable_messages() -> None:
    pool = _pool()
    assert pool.visible_to("player_0") == ("hello",)
    assert pool.visible_to("player_1") == ("your word is cat", "hello")
    assert pool.visible_to("judge_0") == ("hello", "7")
    assert pool.visible_to("judge_0", "score", "deal") == ("7",)
    assert pool.of("talk", "deal") == ("your word is cat", "hello")
    assert (list(pool), len(pool)) == (["your word is cat", "hello", "7"], 3)


@pytest.mark.parametrize(
    ("kind", "sender", "readers", "message"),
    [
        ("shout", "player_0", None, r"expected a declared channel \(deal, talk, score\), got 'shout'"),
        ("deal", "player_0", None, "deal: expected a sender in the role 'host', got 'player_0'"),
        ("talk", "judge_0", None, "talk: expected a sender in the role 'player', got 'judge_0'"),
        ("score", "judge_0", ["player_0"], r"score: expected readers among \[\], got \['player_0'\]"),
        ("talk", "player_0", ["player_0"], r"expected readers among \['player_1', 'judge_0'\]"),
        ("talk", "player_0", ["player_7"], r"got \['player_7'\]"),
    ],
)
def test_with_message_refuses_undeclared_messages(
    kind: str, sender: str, readers: list[str] | None, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        _pool().with_message(kind, sender, "text", readers)


def test_with_message_leaves_the_pool_as_it_was() -> None:
    pool = _pool()
    twin = copy.copy(pool).with_message("talk", "player_1", "hi")
    assert (len(pool), len(twin)) == (3, 4)
