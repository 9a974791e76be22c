"""The conformance suite: passes what is right, and names the rule that each broken environment breaks."""

import pickle
import re
import subprocess
import sys
from typing import Any

import pytest

from llmarena_envs.testing import RULES, ConformanceError, check_environment
from tests.llmarena_envs.testing import toys

SEEDS = range(4)

BROKEN: list[tuple[type[toys.DuelEnv], dict[str, Any], str]] = [
    (toys.Endless, {}, "matches_end_within_max_turns"),
    (toys.RefusesWhatItOffers, {}, "random_and_default_actions_are_legal"),
    (toys.LoserLeavesAtOnce, {}, "all_agents_stay_until_the_end"),
    (toys.WrongTurn, {}, "agents_to_move_act_before_others"),
    (toys.LosesTheLastReward, {}, "rewards_reach_every_agent"),
    (toys.TextInInfos, {}, "infos_hold_numbers_only"),
    (toys.InfosGrow, {}, "infos_keep_their_keys"),
    (toys.DrawsFromElsewhere, {}, "same_seed_gives_the_same_match"),
    (toys.SameMatchForAllSeeds, {}, "seeds_are_not_ignored"),
    (toys.SeedsNothing, {}, "seeds_are_not_ignored"),
    (toys.DuelEnv, {"chance": False}, "seeds_are_not_ignored"),
    (toys.SharesStateBetweenInstances, {}, "interleaved_matches_do_not_disturb_each_other"),
    (toys.UsesTheGlobalGenerator, {}, "global_generators_are_left_alone"),
    (toys.SetInText, {}, "hash_order_does_not_matter"),
    (toys.NamelessVersion, {}, "metadata_is_complete"),
    (toys.NewSpacesAtEveryCall, {}, "spaces_are_the_same_objects_for_life"),
    (toys.TextUnderObservation, {}, "observations_have_the_agreed_keys"),
    (toys.OutOfItsSpace, {}, "observations_are_in_their_spaces"),
    (toys.RulesChange, {}, "rules_texts_stay_the_same"),
    (toys.FullMaskForEverybody, {}, "masks_of_waiting_agents_are_zero"),
    (toys.MaskLacksALegalAction, {}, "masks_show_exactly_the_legal_actions"),
    (toys.DrawsNothing, {}, "pictures_are_drawn"),
    (toys.TellsOfAStranger, {}, "stories_are_told_in_scenes"),
    (toys.PendingMoveShows, {}, "pending_moves_stay_hidden"),
    (toys.PendingOffenceShows, {}, "pending_moves_stay_hidden"),
    (toys.ViewHoldsTheOtherCard, {"secrets": toys.card}, "secrets_stay_out_of_other_texts"),
    (toys.TextGoesPastTheView, {"seeds": range(20)}, "equal_views_give_equal_observations"),
    (toys.TextGoesPastTheView, {"seeds": range(2)}, "observations_are_made_from_the_view_alone"),
    (toys.RaisesOnJunk, {}, "junk_actions_forfeit"),
    (toys.PrintsOnJunk, {}, "junk_actions_forfeit"),
    (toys.ForgivesJunk, {}, "junk_actions_forfeit"),
    (toys.RewardsTheOffender, {}, "junk_actions_forfeit"),
    (toys.ParseRaisesValueError, {}, "junk_replies_raise_only_invalid_reply"),
    (toys.FormatsWhatItCannotRead, {}, "formatted_actions_are_read_back"),
    (toys.WantsPythonIntegers, {}, "numpy_integers_are_accepted"),
    (toys.CopiesShareTheirHistory, {}, "copied_games_are_independent"),
    (toys.DeepCopyStartsAnew, {}, "deep_copies_play_on_identically"),
    (toys.PickleForgetsTheGenerator, {}, "pickled_copies_play_on_identically"),
]


@pytest.mark.parametrize("obs_type", ["text", "vector"])
def test_a_correct_environment_passes(obs_type: str) -> None:
    check_environment(
        toys.duel,
        options={"obs_type": obs_type},
        parallel_env_fn=toys.parallel_duel,
        secrets=toys.card,
        seeds=SEEDS,
        chance=True,
    )


@pytest.mark.parametrize(("toy", "arguments", "rule"), BROKEN)
def test_a_broken_environment_is_caught(toy: type[toys.DuelEnv], arguments: dict[str, Any], rule: str) -> None:
    with pytest.raises(ConformanceError) as caught:
        check_environment(toy.make, **{"seeds": SEEDS, **arguments})
    assert caught.value.rule == rule


def test_every_rule_that_can_be_broken_in_a_toy_is() -> None:
    by_pettingzoo = {rule.__name__ for rule in RULES if rule.__module__.endswith("pettingzoo_tests")}
    others = {"matches_of_junk_end_within_max_turns"}
    assert {rule for _, _, rule in BROKEN} == {rule.__name__ for rule in RULES} - by_pettingzoo - others


def test_a_parallel_form_of_another_game_is_caught() -> None:
    with pytest.raises(ConformanceError) as caught:
        check_environment(toys.duel, parallel_env_fn=toys.ParallelFormGoesItsOwnWay, seeds=SEEDS)
    assert caught.value.rule == "the_parallel_form_plays_the_same_match"


def test_the_error_says_what_where_expected_and_got() -> None:
    with pytest.raises(ConformanceError) as caught:
        check_environment(toys.TextInInfos.make, seeds=[5, 6])
    error = caught.value
    assert (error.place, error.expected) == ("seed 5, turn 0, player_0", "names of numbers or flags")
    assert "add 2" in error.got
    assert re.fullmatch(
        r"the rule 'infos_hold_numbers_only' is broken at seed 5, turn 0, player_0\nexpected: .+\ngot: .+", str(error)
    )
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_an_exception_of_the_environment_is_a_broken_rule_with_its_cause() -> None:
    with pytest.raises(ConformanceError, match="ValueError: invalid literal") as caught:
        check_environment(toys.ParseRaisesValueError.make, seeds=SEEDS)
    assert isinstance(caught.value.__cause__, ValueError)


def test_local_environments_are_checked_without_other_processes() -> None:
    check_environment(lambda **options: toys.duel(**options), seeds=SEEDS)


def test_one_seed_is_not_enough() -> None:
    with pytest.raises(ValueError, match="at least two"):
        check_environment(toys.duel, seeds=[1, 1])


def test_names_and_docstrings_of_rules() -> None:
    names = [rule.__name__ for rule in RULES]
    assert len(set(names)) == len(names)
    assert all(rule.__doc__ for rule in RULES)


def test_the_suite_needs_no_test_tools() -> None:
    code = (
        "import sys; sys.modules.update(pytest=None, hypothesis=None)\n"
        "from llmarena_envs import tictactoe_v0; from llmarena_envs.testing import check_environment\n"
        "check_environment(tictactoe_v0.env, seeds=range(2)); print(*({'agents', 'rating'} & sys.modules.keys()), 'passed')"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "passed"
