"""Deals as rows of data sets, written and read."""

import inspect
import json
from typing import Any

import numpy as np
import pytest

from agents.registry import baselines
from agents.training import Deal, deals
from llmarena_envs.catalogue import CATALOGUE, load_environment
from llmarena_envs.core.declaration import FILE_OPTIONS
from llmarena_envs.core.options import OptionError

DEAL = Deal("tictactoe_v0", 3, {"player_1": "minimax:depth=2"}, {"random_opening": 1})


def test_a_deal_is_read_as_it_was_written() -> None:
    for deal in (DEAL, Deal("bid_v0", 0), Deal("hanabi_v0", 2**63 - 1)):
        again = Deal.from_json(deal.to_json())
        assert again == deal
        assert again.group == deal.group


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"seed": -1}, "seed"),
        ({"seed": True}, "seed"),
        ({"seed": 1.5}, "seed"),
        ({"seed": 2**63}, "seed"),
        ({"environment": None}, "environment"),
        ({"environment": ["tictactoe_v0"]}, "environment"),
        ({"environment": "tictactoe_v9"}, "did you mean 'tictactoe_v0'"),
        ({"environment": "os.path"}, "environment of an untrusted row"),
        ({"environment": "aec/os.path"}, "environment of an untrusted row"),
        ({"opponents": ["random"]}, "opponents"),
        ({"opponents": {"player_1": None}}, "opponents"),
        ({"opponents": {"player_1": "openai:gpt:base_url=http://evil"}}, "opponent of an untrusted row"),
        ({"opponents": {"player_1": "subprocess:getoutput:cmd=id"}}, "opponent of an untrusted row"),
        ({"opponents": {"player_1": "hf:somewhere"}}, "opponent of an untrusted row"),
        ({"opponents": {"player_1": "human"}}, "opponent of an untrusted row"),
        ({"options": 3}, "options"),
        ({"options": {"\ud800": 1}}, "lone surrogates"),
        ({"environment": "undercover_v0", "options": {"word_pairs": "/etc/passwd"}}, "word_pairs of an untrusted row"),
        ({"environment": "writer_editor_v0", "options": {"sandbox": "unisolated"}}, "sandbox of an untrusted row"),
        (
            {"environment": "debate_v0", "opponents": {"debater_0": "examiner:questions=/etc/passwd"}},
            "questions of an untrusted row",
        ),
        ({"reward": 1}, "expected an object with"),
    ],
)
def test_a_hostile_row_is_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(OptionError, match=said):
        Deal.from_json(json.dumps({**json.loads(DEAL.to_json()), **change}))


@pytest.mark.parametrize("text", ["", "[]", "null", '{"seed": NaN}', "[" * 10**5, "9" * 10**5, None, 5, "\ud800"])
def test_invalid_deal_is_refused(text: Any) -> None:
    with pytest.raises(OptionError, match="deal: expected"):
        Deal.from_json(text)


def test_every_option_that_reads_a_file_is_known() -> None:
    """Of policies too, where a path stands as a text."""
    paths = set()
    for entry in CATALOGUE:
        for made in (load_environment(entry.name), *baselines(entry.name).values()):
            parameters = inspect.signature(made).parameters.values()
            paths |= {each.name for each in parameters if "Path" in str(each.annotation) or each.name in FILE_OPTIONS}
            assert "sandbox" not in str(parameters) or entry.name == "writer_editor_v0"
    assert paths == set(FILE_OPTIONS)


def test_a_row_may_hold_what_others_read_from_files() -> None:
    deal = Deal("undercover_v0", 0, {}, {"word_pairs": None, "language": "zh"})
    assert Deal.from_json(deal.to_json()) == deal
    debate = Deal("debate_v0", 0, {}, {"questions": "builtin"})
    assert Deal.from_json(debate.to_json()) == debate


def test_seeds_may_come_from_numpy_and_are_never_left_to_chance() -> None:
    (deal,) = deals("tictactoe_v0", np.array([7]), None)
    assert Deal.from_json(deal.to_json()) == Deal("tictactoe_v0", 7)
    for seed in (None, -1, 1.5, "7", True, np.bool_(True), 2**63):
        with pytest.raises(OptionError, match="seed"):
            Deal("tictactoe_v0", seed)  # type: ignore[arg-type]


def test_custom_deals_can_name_any_policy() -> None:
    deal = Deal("tictactoe_v0", 0, {"player_1": "openai:some-model"})
    assert Deal.from_json(deal.to_json(), trusted=True) == deal


def test_seat_and_options_are_checked_when_the_match_is_made() -> None:
    with pytest.raises(ValueError, match="expected seats of"):
        Deal("tictactoe_v0", 0, {"player_7": "random"}).match()
    with pytest.raises(OptionError, match="colour"):
        Deal("tictactoe_v0", 0, options={"colour": 1}).match()


def test_deals_give_each_rated_seat_to_the_learner() -> None:
    (first, second), more = (list(deals("connect_four_v0", seeds, "greedy")) for seeds in ([5], range(10)))
    assert first == Deal("connect_four_v0", 5, {"player_1": "greedy"})
    assert second == Deal("connect_four_v0", 5, {"player_0": "greedy"})
    assert (first.learners, second.learners) == (("player_0",), ("player_1",))
    assert len(more) == len({deal.group for deal in more}) == 20
    assert [deal.learners for deal in deals("bid_v0", [1], None)] == [("player_0", "player_1")]


def test_deals_seat_the_staff() -> None:
    debates = list(deals("debate_v0", [1], "debater", staff={"judge": "honest"}))
    assert [debate.learners for debate in debates] == [("debater_0",), ("debater_1",)]
    assert debates[0].opponents["judge_4"] == "honest"
    with pytest.raises(OptionError, match="judge"):
        list(deals("debate_v0", [1], "debater"))


def test_baseline_keys_separate_seats_and_games() -> None:
    first, second = Deal("tictactoe_v0", 1), Deal("tictactoe_v0", 2)
    assert first.baseline("player_0") == second.baseline("player_0") == "tictactoe_v0:player_0"
    assert len({Deal(game, 1).baseline(seat) for game in ("tictactoe_v0", "bid_v0") for seat in first.learners}) == 4
    with pytest.raises(OptionError, match="player_1"):
        Deal("tictactoe_v0", 1, {"player_1": "random"}).baseline("player_1")
