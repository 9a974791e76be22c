"""What players read."""

import re
from typing import Any

import numpy as np
import pytest

from llmarena_envs import holdem_v0
from llmarena_envs.core.ending import Ending
from llmarena_envs.core.failures import Failure, InvalidReply
from llmarena_envs.holdem.game import Holdem
from llmarena_envs.holdem.text import HoldemCodec
from tests.llmarena_envs.holdem.table import table

DECK = "AhAd KhKd 2c 7d 9h 4s Jc"


def text(actions: str, agent: str, hint: bool = True, cot: bool = True, language: str = "en", **options: Any) -> str:
    game = table(actions, **options)
    return told(HoldemCodec(game, language, hint, cot), game, agent)


def told(codec: HoldemCodec, game: Holdem, agent: str) -> str:
    view = game.view(agent)
    return codec.observation(view) if game.to_move else codec.ending(view, Ending(game.rewards[view.seat]))


def test_positions() -> None:
    def position(agent: str, **options: Any) -> str:
        found = re.search("Your position: (.*)", text("", agent, **options))
        assert found is not None
        return found[1]

    assert [position(f"player_{seat}") for seat in (0, 1)] == ["button and small blind", "big blind"]
    assert [position(f"player_{seat}", rules="rlcard") for seat in (0, 1)] == ["button and big blind", "small blind"]
    assert [position(f"player_{seat}", players=4) for seat in range(4)] == [
        "button",
        "small blind",
        "big blind",
        "3 seats after the button",
    ]


def test_the_betting_only_grows_during_a_hand() -> None:
    """The text is append-only up to the state, to keep a provider's prompt cache useful."""
    for seed in range(30):
        env = holdem_v0.raw_env(players=3, hands=2)
        env.reset(seed=seed)
        rng = np.random.default_rng(seed)
        read: dict[tuple[str, int], str] = {}
        while not any(env.terminations.values()):
            agent = env.agent_selection
            head = env.observe(agent)["text"].partition("\nStreet:")[0]
            before = read.get((agent, env.game.hand), head)
            assert head.startswith(before)
            read[agent, env.game.hand] = head
            env.step(int(rng.choice(env.view(agent).legal)))


def test_folded_cards_stay_secret_at_the_end() -> None:
    for agent, other, gain in (("player_0", "Kh Kd", "lost"), ("player_1", "Ah Ad", "won")):
        seen = text("f", agent, deck=DECK)
        assert seen.endswith(
            "player_0 folds\nResult of hand 1: player_0 -1, player_1 +1.\n"
            f"The match is over. All others folded to player_1. You have {gain} 1 chip."
        )
        assert other not in seen
    three = "AhAd KhKd QhQd 2c 7d 9h 4s Jc"
    for agent in ("player_0", "player_1", "player_2"):
        seen = text("f cc cc cc cc", agent, deck=three, players=3)
        assert "Shown: player_1 Kh Kd, player_2 Qh Qd." in seen
        assert ("Ah Ad" in seen) == (agent == "player_0")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_text_is_read_as_an_answer_unless_it_is_one(language: str) -> None:
    """A model that repeats its prompt or the list of legal actions has not answered."""
    game = table()
    codec = HoldemCodec(game, language, True, True)
    seen = codec.observation(game.view("player_0"))
    view = game.view("player_0")
    before_the_example = seen[: seen.rindex("Action:")]
    for part in (codec.rules("player_0"), before_the_example):
        with pytest.raises(InvalidReply) as error:
            codec.parse(part, view)
        assert error.value.kind is Failure.UNPARSABLE
