import numpy as np
import pytest

from llmarena_envs.hanabi.cards import copies
from llmarena_envs.hanabi.variant import Variant
from llmarena_envs.hanabi.vector import VectorEncoder
from tests.llmarena_envs.hanabi.positions import DISCARD_2, FULL, PLAY_1, RANK_2, RED, YELLOW, random_game, small_game


def ones(array):
    return np.flatnonzero(array).tolist()


def parts(variant, vector):
    """Splits a vector as its documentation says."""
    players, size, colors, ranks = variant.players, variant.hand_size, variant.colors, variant.ranks
    lengths = {
        "hands": (players - 1) * size * colors * ranks,
        "knowledge": players * size * (colors + ranks + 2),
        "fireworks": colors * ranks,
        "info": variant.info_tokens,
        "lives": variant.life_tokens,
        "deck": variant.stock,
        "turns": players,
        "discards": variant.deck_size,
        "actor": players,
        "action": len(variant.actions),
        "card": colors * ranks,
        "scored": 1,
        "marked": size,
    }
    assert vector.shape == (sum(lengths.values()),)
    return dict(zip(lengths, np.split(vector, np.cumsum([*lengths.values()])[:-1]), strict=True))


def test_the_small_game():
    variant = Variant()
    encoder = VectorEncoder(variant)
    assert encoder.size == 134
    game = small_game()
    first = parts(variant, encoder.encode(game.view("player_0")))
    assert ones(first["hands"]) == [5, 16]  # Yellow 1, Yellow 2
    assert ones(first["knowledge"]) == [9 * card + place for card in range(4) for place in range(7)]
    assert (ones(first["info"]), ones(first["lives"]), ones(first["deck"])) == ([0, 1, 2], [0], [*range(16)])
    assert ones(first["turns"]) == [0, 1]
    assert not any(
        first[name].any() for name in ("fireworks", "discards", "actor", "action", "card", "scored", "marked")
    )

    game = small_game(PLAY_1, RANK_2)
    told = parts(variant, encoder.encode(game.view("player_1")))
    assert ones(told["hands"]) == [1, 12]  # Red 2, Red 3
    own, other = told["knowledge"].reshape(2, 2, 9)
    assert own.tolist() == [[1] * 7 + [0, 0]] * 2
    assert ones(other[0]) == [0, 1, 3, 8]  # hint: rank 2
    assert ones(other[1]) == [0, 1, 2, 4, 5, 6]
    assert ones(told["fireworks"]) == [0]
    assert ones(told["info"]) == [0, 1]
    assert ones(told["actor"]) == [0]
    assert ones(told["action"]) == [RANK_2]
    assert ones(told["marked"]) == [0]
    assert not told["card"].any()
    assert ones(parts(variant, encoder.encode(game.view("player_0")))["actor"]) == [1]

    game = small_game(RANK_2, RED, YELLOW, DISCARD_2)
    gone = parts(variant, encoder.encode(game.view("player_0")))
    assert ones(gone["discards"]) == [13]  # three Yellow 1 after the ten red cards, then Yellow 2
    assert ones(gone["card"]) == [6]
    assert ones(gone["scored"]) == []
    assert ones(parts(variant, encoder.encode(small_game(PLAY_1).view("player_0")))["scored"]) == [0]


@pytest.mark.parametrize(
    "variant",
    [
        Variant(),
        Variant(**FULL, players=3),
        Variant(players=4, colors=2, ranks=3, hand_size=1),
        Variant(colors=1, hand_size=5),
    ],
    ids=str,
)
def test_vector_matches_the_view(variant):
    encoder = VectorEncoder(variant)
    for game in random_game(variant, np.random.default_rng(1)):
        for agent in game.agents:
            view = game.view(agent)
            vector = encoder.encode(view)
            assert vector.shape == (encoder.size,)
            assert vector.dtype == np.int8
            assert set(np.unique(vector)) <= {0, 1}
            part = parts(variant, vector)
            cards = part["hands"].reshape(-1, variant.hand_size, variant.top_score)
            for hand, encoded in zip(view.hands, cards, strict=True):
                assert [ones(row) for row in encoded] == [
                    *([card.color * variant.ranks + card.rank - 1] for card in hand),
                    *[[]] * (variant.hand_size - len(hand)),
                ]
            known = part["knowledge"].reshape(variant.players, variant.hand_size, -1)
            assert [int(row.any(axis=1).sum()) for row in known] == [len(hand) for hand in view.knowledge]
            assert part["fireworks"].reshape(variant.colors, -1).sum(axis=1).tolist() == list(view.fireworks)
            assert int(part["info"].sum()) == view.info_tokens
            assert int(part["lives"].sum()) == view.life_tokens
            assert int(part["deck"].sum()) == view.deck_size
            assert int(part["turns"].sum()) == view.turns_left
            assert int(part["discards"].sum()) == len(view.discards)
            assert int(part["actor"].sum()) == bool(view.history)


def test_discard_copies_match_the_deck():
    assert [copies(rank, 5) for rank in range(1, 6)] == [3, 2, 2, 2, 1]
    assert [copies(rank, 3) for rank in range(1, 4)] == [3, 2, 1]
