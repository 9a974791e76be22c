from llmarena_envs import hanabi_v0
from tests.llmarena_envs.hanabi.positions import DECK


def test_fixed_deck_is_dealt_in_order_under_any_seed():
    first, second = hanabi_v0.raw_env(deck=DECK), hanabi_v0.raw_env(deck=DECK)
    first.reset(seed=1)
    second.reset(seed=2)
    assert first.game.hands == second.game.hands


def test_a_deck_seed_deals_the_same_in_every_match():
    env = hanabi_v0.raw_env(deck_seed=3)
    decks = set()
    for seed in range(5):
        env.reset(seed=seed)
        decks.add(env.game.deck)
    assert len(decks) == 1
