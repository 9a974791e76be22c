"""The other side's values, drawn anew."""

import copy

import numpy as np
import pytest

from llmarena_envs.bargain.game import Bargain, Deal, Offer
from llmarena_envs.bargain.scenarios import scenarios, with_values, worth
from tests.llmarena_envs.draws import check_frequencies, redrawn

INSTANCE = [[1, 2, 3], [8, 1, 0], [4, 0, 2]]


def started(**options):
    game = Bargain(**{"instance": INSTANCE, **options})
    game.reset(np.random.default_rng(0))
    return game


@pytest.mark.parametrize("source", ["openspiel", "lewis"])
@pytest.mark.parametrize("seat", [0, 1])
def test_every_scenario_with_the_own_values_is_equally_likely(source, seat):
    game = started(source=source)
    counts, values = game.scenario
    fitting = [each for each in scenarios(source) if each.counts == counts and each.values[seat] == values[seat]]
    assert len(fitting) > 5
    drawn = redrawn(game, game.agents[seat], lambda other: other.scenario)
    check_frequencies(drawn, dict.fromkeys(fitting, 1))


@pytest.mark.needs("pyspiel")
def test_open_spiel_draws_no_values_that_are_not_among_them():
    import pyspiel

    reference = pyspiel.load_game("bargaining")
    rng = np.random.RandomState(0)
    drawn = set()
    for number in range(300):
        state = reference.new_initial_state()
        state.apply_action(number)
        for seat in range(2):
            instance, other = state.instance(), state.resample_from_infostate(seat, rng.rand).instance()
            counts, own = tuple(instance.pool), tuple(instance.values[seat])
            assert tuple(other.values[seat]) == own
            known = with_values("openspiel", seat, counts, own)
            assert tuple(other.values[1 - seat]) in {scenario.values[1 - seat] for scenario in known}
            drawn.add(tuple(map(tuple, other.values)))
    assert len(drawn) > 300


@pytest.mark.parametrize("reward", ["own_total", "zero_sum", "win"])
def test_an_agreement_pays_and_measures_the_same(reward):
    game = started(reward=reward)
    game.apply((Offer((1, 0, 1), "A hat is worth 8 to me."),))
    game.apply((Offer((0, 2, 2), "Mine: 1, 3, 1."),))
    game.apply((Deal(),))
    rng = np.random.default_rng(0)
    for _ in range(50):
        other = copy.copy(game)
        other.resample("player_0", rng)
        (ours, theirs), counts = other.scenario.values, other.scenario.counts
        assert ours == (8, 1, 0)
        difference = worth((1, 0, 1), ours) - worth((0, 2, 2), theirs)
        assert counts == (1, 2, 3)
        assert other.statistics("player_0") == game.statistics("player_0")
        assert other.statistics("player_0")["difference"] == difference
        assert other.statistics("player_1")["difference"] == -difference
        assert other.statistics("player_1")["disclosed"] == (theirs == (1, 3, 1))
        assert other.rewards[0] == game.rewards[0]
        assert sum(other.rewards) == (0 if reward != "own_total" else 8 + worth((0, 2, 2), theirs))
