"""Mean rewards that are waited for: when the rule fires, and that every run ends."""

from rating.schedules.batches import Stop
from rating.schemes.rewards import MeanReward
from rating.schemes.stopping import StopRule
from rating.store.records import FINISHED, VOID, Outcome, SeatOutcome
from tests.rating.made_schemes import made_setting

POLICIES = ("a", "b", "c")


def reason_and_matches(reward, status=FINISHED, **changes):
    """Plays three policies at a table of three until the scheme stops; returns why, and after how many matches of each."""
    stop = StopRule(min_matches=8, max_matches=changes.pop("max_matches", 60))
    scheme = MeanReward(made_setting(3, POLICIES, rule=stop, ahead=1, **changes))
    schedule, played = scheme.schedule(), 0
    while not isinstance(batch := schedule.next_batch(), Stop):
        outcomes = []
        for match in batch:
            seats = tuple(
                SeatOutcome(policy, reward(policy, match.number), statistics={"points": 1.0})
                for policy in match.policies
            )
            outcomes.append(Outcome("game_v0", match.number, match.seed, status, seats))
        schedule.add(outcomes)
        played += len(batch)
    return batch.reason, played


def test_mean_reward_with_value_waits_for_the_statistic():
    def drifting(policy, number):
        return float(number)

    assert reason_and_matches(drifting, half_width=0.1, value="points")[0] == "settled"
    assert reason_and_matches(drifting, half_width=0.1)[0] == "cap"


def test_mean_reward_half_width_settles():
    def alternating(policy, number):
        return float(number // 3 % 2)  # the three matches of a deal are alike

    reason, matches = reason_and_matches(alternating, half_width=0.2, max_matches=300)
    assert reason == "settled"
    # Of d deals Student's quantile * 0.5 / sqrt(d - 1) falls below 0.2 at d = 27; batches are of ten deals.
    assert matches == 3 * 30


def test_mean_reward_of_void_matches_ends_at_the_cap():
    assert reason_and_matches(lambda policy, number: 1.0, VOID, half_width=0.1) == ("cap", 60)
