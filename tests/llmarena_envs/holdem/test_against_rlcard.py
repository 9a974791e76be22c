"""RLCard's rules beside recorded games of RLCard 1.2.0, the library behind PettingZoo's texas_holdem_no_limit.

``rlcard_hands.json`` holds random games of ``rlcard.games.nolimitholdem.Game``: the seat of its dealer, the cards in the order
in which ``deck`` takes them, each turn as ``seat:legal actions:action``, and the payoffs.
"""

import json
from pathlib import Path

import numpy as np

from llmarena_envs.holdem.game import Holdem

RECORDED = json.loads((Path(__file__).parent / "rlcard_hands.json").read_text(encoding="utf-8"))


def test_same_turns_and_payoffs_as_rlcard() -> None:
    assert len(RECORDED) == 300
    for hand in RECORDED:
        game = Holdem(rules="rlcard", button=hand["button"], deck=hand["deck"])
        game.reset(np.random.default_rng(0))
        for turn in hand["turns"].split():
            seat, legal, action = turn.split(":")
            assert game.to_move == (f"player_{seat}",), (hand, turn)
            assert "".join(map(str, game.choices.legal)) == legal, (hand, turn)
            game.apply((int(action),))
        assert game.to_move == (), hand
        assert list(game.rewards) == hand["net"], hand


def test_recorded_games_come_to_every_street_and_action() -> None:
    turns = [turn for hand in RECORDED for turn in hand["turns"].split()]
    assert {turn[-1] for turn in turns} == set("01234")
    assert max(len(hand["turns"].split()) for hand in RECORDED) > 12
