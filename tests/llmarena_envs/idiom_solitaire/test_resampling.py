"""The chain that a judge does not read, and the idiom in question, drawn anew."""

import copy
from itertools import pairwise

import numpy as np
import pytest

from llmarena_envs import idiom_solitaire_v0
from llmarena_envs.idiom_solitaire.game import JUDGE
from tests.llmarena_envs.draws import redrawn
from tests.llmarena_envs.idiom_solitaire.lists import match, played

OUTSIDE = "意中之人"


@pytest.mark.parametrize("dead_end", ["must_answer", "wins", "forbidden"])
def test_a_redrawn_chain_keeps_the_rules(dead_end):
    env = idiom_solitaire_v0.raw_env(accept_outside=True, dead_end=dead_end)
    rng = np.random.default_rng(0)
    changed = 0
    for seed in range(6):
        env.reset(seed=seed)
        game = env.game
        for _ in range(int(rng.integers(6))):
            game.apply((game.random_action(game.to_move[0], rng),))
        if seed % 2:
            asked = next(
                word
                for word in ("".join((game.chain[-1][-1], *"中之人")), "中之人人")
                if not game.links.lexicon.find(word)
            )
            game.apply((asked,))
        if game.to_move:
            other = copy.copy(game)
            other.resample(JUDGE, rng)
            links = game.links
            chain = (*other.chain, other.asked) if other.asked else other.chain
            assert all(links.may_follow(after, before) for before, after in pairwise(chain))
            assert len({links.lexicon.key(idiom) for idiom in chain}) == len(chain)
            assert len(other.chain) == len(game.chain)
            if dead_end != "must_answer":
                assert all(
                    set(links.continuations(idiom)) - set(other.chain[: place + 1])
                    for place, idiom in enumerate(other.chain)
                )
            changed += other.chain != game.chain
    assert changed > 2


def test_judge_does_not_know_the_chain_before_the_idiom():
    game = match(accept_outside=True)
    game.apply((OUTSIDE,))
    assert game.asked == OUTSIDE
    chains = redrawn(game, JUDGE, lambda other: other.chain, draws=100)
    assert set(chains) == {("一心一意",)}  # no other idiom of this list ends on the first character in question
    game = match({"一心一意": 1.0, "三心二意": 2.0, "大开眼界": 3.0, "意气风发": 4.0}, accept_outside=True)
    game.apply((OUTSIDE,))
    chains = redrawn(game, JUDGE, lambda other: other.chain, draws=100)
    assert set(chains) == {("一心一意",), ("三心二意",)}


def test_idioms_that_a_judge_has_ruled_on_stay():
    game = played(match(accept_outside=True), OUTSIDE, "yes")
    assert {chain[1] for chain in redrawn(game, JUDGE, lambda other: other.chain, draws=50)} == {OUTSIDE}


def test_another_player_does_not_know_the_idiom_in_question():
    game = played(match(accept_outside=True, n_players=3), OUTSIDE)
    assert set(redrawn(game, "player_0", lambda other: other.asked, draws=50)) == {OUTSIDE}
    asked = redrawn(game, "player_1", lambda other: other.asked, draws=50)
    assert len(asked) > 10
    for idiom in asked:
        assert game.links.lexicon.find(idiom) is None
        assert game.why_illegal("player_0", idiom) is None
        assert game.links.may_follow(idiom, game.chain[-1])


def test_without_judge_no_information_is_hidden():
    assert match().perfect_information
    assert not match(accept_outside=True).perfect_information
