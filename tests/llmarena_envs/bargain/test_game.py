"""The rules of bargaining."""

import itertools

import numpy as np
import pytest

from llmarena_envs.bargain.game import Bargain, Deal, Offer, is_efficient, rest_of
from llmarena_envs.bargain.scenarios import plans, scenarios, worth
from llmarena_envs.core.failures import Reason
from llmarena_envs.core.options import OptionError

INSTANCE = [[1, 2, 3], [8, 1, 0], [4, 0, 2]]


def talks(**options):
    game = Bargain(**{"instance": INSTANCE, **options})
    game.reset(np.random.default_rng(0))
    return game


def test_offer_states_the_proposers_share():
    game = talks()
    game.apply((Offer((1, 0, 0)),))
    assert game.to_move == ("player_1",)
    game.apply((Deal(),))
    assert game.rewards == (8.0, 6.0)
    assert game.to_move == () and game.agreed


@pytest.mark.parametrize(
    ("reward", "expected"), [("own_total", (8.0, 6.0)), ("zero_sum", (2.0, -2.0)), ("win", (1.0, -1.0))]
)
def test_rewards(reward, expected):
    game = talks(reward=reward)
    game.apply((Offer((1, 0, 0)),))
    game.apply((Deal(),))
    assert game.rewards == expected


@pytest.mark.parametrize(("reward", "difference"), [("zero_sum", 2.0), ("win", 1.0)])
def test_equal_totals_are_a_draw_and_an_agreement(reward, difference):
    game = talks(reward=reward, instance=[[1, 2, 3], [2, 1, 2], [2, 1, 2]])
    game.apply((Offer((1, 0, 1)),))
    game.apply((Deal(),))
    assert game.rewards == (-difference, difference)
    game.reset(np.random.default_rng(0))
    game.apply((Offer((0, 1, 2)),))
    game.apply((Deal(),))
    assert game.rewards == (0.0, 0.0)
    assert game.statistics("player_0")["agreement"] == 1


@pytest.mark.parametrize("rounds", [1, 3, 10])
def test_talks_fail_after_the_last_turn(rounds):
    game = talks(max_rounds=rounds)
    assert game.max_turns == 2 * rounds
    for turn in range(2 * rounds):
        assert game.to_move == (game.agents[turn % 2],)
        assert game.view(game.to_move[0]).round == turn // 2 + 1
        game.apply((Offer((1, 1, 1)),))
    assert game.to_move == () and not game.agreed
    assert game.rewards == (0.0, 0.0)
    assert game.view("player_0").round == rounds
    assert game.statistics("player_0") == dict.fromkeys(
        ("own_total", "difference", "agreement", "efficient", "disclosed"), 0.0
    )


def test_a_deal_by_the_second_side_in_round_ten_counts():
    game = talks()
    for _ in range(19):
        game.apply((Offer((1, 0, 0)),))
    assert game.to_move == ("player_1",) and game.view("player_1").round == 10
    assert game.why_illegal("player_1", Deal()) is None
    game.apply((Deal(),))
    assert game.rewards == (8.0, 6.0)


def test_there_must_be_an_offer_to_accept():
    game = talks()
    assert game.why_illegal("player_0", Deal()) == Reason("no_offer")
    assert Deal() not in game.view("player_0").legal
    game.apply((Offer((0, 0, 0)),))
    assert game.view("player_1").legal[-1] == Deal()


def test_offers_stay_within_the_stock():
    game = talks()
    assert game.why_illegal("player_0", Offer((1, 2, 3))) is None
    assert game.why_illegal("player_0", Offer((2, 0, 0))) == Reason("too_many_hats", {"number": 2, "count": 1})
    assert game.why_illegal("player_0", Offer((0, 0, 7))) == Reason("too_many_apples", {"number": 7, "count": 3})
    assert game.why_illegal("player_0", Offer((0, -1, 0))) == Reason("negative_balls", {"number": -1})
    assert set(game.view("player_0").legal) == {Offer(plan) for plan in itertools.product(range(2), range(3), range(4))}


def test_player_1_may_speak_first():
    game = talks(first_player="player_1", max_rounds=1)
    assert game.to_move == ("player_1",)
    game.apply((Offer((1, 0, 3)),))
    assert game.to_move == ("player_0",)
    assert game.view("player_0").first == "player_1"
    game.apply((Deal(),))
    assert game.rewards == (2.0, 10.0)


@pytest.mark.parametrize(
    ("reward", "expected"), [("own_total", (0.0, -1.0)), ("zero_sum", (1.0, -1.0)), ("win", (1.0, -1.0))]
)
def test_forfeits(reward, expected):
    assert talks(reward=reward).forfeit(("player_1",)) == expected


def test_efficient_divisions_agree_with_a_search_of_all_divisions():
    rng = np.random.default_rng(1)
    for index in rng.choice(5793, 60, replace=False):
        scenario = scenarios("openspiel")[index]
        counts, (ours, theirs) = scenario
        values = {plan: (worth(plan, ours), worth(rest_of(counts, plan), theirs)) for plan in plans(counts)}
        for plan, (own, other) in values.items():
            better = [v for v in values.values() if v[0] >= own and v[1] >= other and v != (own, other)]
            assert is_efficient(scenario, plan) == (not better)
        assert any(is_efficient(scenario, plan) for plan in values)


def test_statistics_of_an_agreement():
    game = talks()
    game.apply((Offer((1, 0, 3), "Hats are worth 7 to me."),))
    game.apply((Offer((1, 0, 3), "My values are 4, 0, 2."),))
    assert game.statistics("player_0")["disclosed"] == 0 and game.statistics("player_1")["disclosed"] == 1
    game.apply((Deal(),))
    assert game.statistics("player_0") == {
        "own_total": 2.0,
        "difference": -8.0,
        "agreement": 1.0,
        "efficient": 1.0,
        "disclosed": 0.0,
    }
    assert game.statistics("player_1")["difference"] == 8.0 and game.statistics("player_1")["disclosed"] == 1


def test_inefficient_agreement_is_marked():
    game = talks()
    game.apply((Offer((1, 0, 3)),))
    game.apply((Deal(),))
    assert game.statistics("player_0")["efficient"] == 0


def test_random_actions_are_offers_and_never_accept():
    game, rng = talks(), np.random.default_rng(0)
    game.apply((Offer((1, 0, 0)),))
    drawn = {game.random_action("player_1", rng) for _ in range(500)}
    assert drawn == {Offer(plan) for plan in plans((1, 2, 3))}
    assert game.default_action("player_1") is None


@pytest.mark.needs("pyspiel")
def test_the_same_play_as_in_open_spiel(tmp_path):
    import pyspiel

    rng = np.random.default_rng(0)
    space = scenarios("openspiel")
    chosen = [space[index] for index in rng.choice(len(space), 150, replace=False)]
    lines = [" ".join(",".join(map(str, triple)) for triple in (counts, *values)) for counts, values in chosen]
    file = tmp_path / "instances.txt"
    file.write_text("\n".join(lines) + "\n")
    peer = pyspiel.load_game("bargaining", {"instances_file": str(file), "max_turns": 10})
    agreements = 0
    for index, scenario in enumerate(chosen):
        state = peer.new_initial_state()
        state.apply_action(index)

        def number(action, state=state):
            return state.agree_action() if action == Deal() else peer.get_offer_by_quantities(list(action.counts))[1]

        game = Bargain(max_rounds=5, instance=[scenario.counts, *scenario.values])
        game.reset(rng)
        while game.to_move:
            (agent,) = game.to_move
            assert state.current_player() == game.agents.index(agent)
            legal = game.view(agent).legal
            assert sorted(map(number, legal)) == state.legal_actions()
            action = legal[-1] if rng.random() < 0.1 else legal[int(rng.integers(len(legal)))]
            game.apply((action,))
            state.apply_action(number(action))
        assert state.is_terminal() and state.returns() == list(game.rewards)
        agreements += game.agreed
    assert 50 < agreements < 150


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"max_rounds": 0}, "max_rounds"),
        ({"max_rounds": True}, "max_rounds"),
        ({"source": "lewiss"}, "source"),
        ({"reward": "total"}, "reward"),
        ({"first_player": 0}, "first_player"),
        ({"instance": [[1, 1, 1], [1, 1, 1], [1, 1, 1]]}, "instance"),
    ],
)
def test_bad_options_are_named(options, name):
    with pytest.raises(OptionError, match=f"^{name}: expected"):
        Bargain(**options)
