"""The conformance suite: correct environments pass, and each planted mistake is reported with its rule."""

import concurrent.futures
import pickle
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from llmarena_envs.testing import RULES, ConformanceError, check_environment, rules
from llmarena_envs.testing.transcript import difference
from tests.llmarena_envs.testing import duel, mistakes
from tests.llmarena_envs.testing.mistakes import MISTAKES, Mistake

SEEDS = range(2)


@pytest.mark.slow_except(1)
@pytest.mark.parametrize(
    "options", [{}, {"obs_type": "vector"}, {"language": "zh", "points": 3}], ids=["text", "vector", "other options"]
)
def test_a_correct_environment_passes(options: dict[str, Any]) -> None:
    # Its texts name all cards, so a hidden number occurs in every agent's text.
    check_environment(duel.duel, options=options, parallel_env_fn=duel.parallel_duel, seeds=SEEDS, chance=True)


@pytest.mark.slow
def test_correct_environment_passes_all_announced_rules() -> None:
    check_environment(
        duel.duel, reward_range=(-duel.ROUNDS, duel.ROUNDS), zero_sum=True, expected_totals=duel.totals, seeds=SEEDS
    )


@pytest.mark.slow
@pytest.mark.parametrize("env", [duel.OneAction, duel.OneLegalAction, duel.OpenDuel])
@pytest.mark.parametrize("obs_type", ["text", "vector"])
def test_games_without_choice_or_secrets_pass(env: type[duel.DuelEnv], obs_type: str) -> None:
    check_environment(env.make, options={"obs_type": obs_type}, seeds=SEEDS)


def test_a_game_of_texts_passes() -> None:
    check_environment(duel.Chat.make, seeds=SEEDS)


@pytest.mark.slow_except(1)
@pytest.mark.parametrize("env", [duel.RareChance, duel.UnseenChance, duel.RollsDice, duel.Unpaid])
def test_unusual_games_raise_no_false_alarm(env: type[duel.DuelEnv]) -> None:
    check_environment(env.make, seeds=SEEDS)


@pytest.mark.parametrize("mistake", MISTAKES, ids=[f"{mistake.name}-{mistake.rule}" for mistake in MISTAKES])
def test_a_mistake_is_found_by_its_rule(mistake: Mistake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "RULES", tuple(rule for rule in RULES if rule.__name__ == mistake.rule))
    with pytest.raises(ConformanceError) as caught:
        check_environment(mistake.env_fn, **{"seeds": SEEDS, **mistake.arguments})
    assert caught.value.rule == mistake.rule, caught.value


def test_every_rule_that_can_be_broken_by_a_planted_mistake_is() -> None:
    by_pettingzoo = {rule.__name__ for rule in RULES if rule.__module__.endswith("pettingzoo_tests")}
    others = {"matches_of_junk_end_within_max_turns"}
    assert {mistake.rule for mistake in MISTAKES} == {rule.__name__ for rule in RULES} - by_pettingzoo - others


@pytest.mark.slow
def test_a_parallel_form_of_another_game_is_caught() -> None:
    with pytest.raises(ConformanceError) as caught:
        check_environment(duel.duel, parallel_env_fn=mistakes.ParallelFormGoesItsOwnWay, seeds=SEEDS)
    assert caught.value.rule == "the_parallel_form_plays_the_same_match"


def test_error_states_rule_place_expected_and_got() -> None:
    with pytest.raises(ConformanceError) as caught:
        check_environment(mistakes.TextInInfos.make, seeds=[5, 6])
    error = caught.value
    assert (error.place, error.expected) == ("seed 5, turn 0, player_0", "names of finite numbers or flags")
    assert "add 2" in error.got
    assert re.fullmatch(
        r"the rule 'infos_hold_numbers_only' is broken at seed 5, turn 0, player_0\nexpected: .+\ngot: .+", str(error)
    )
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_of_long_texts_the_place_where_they_differ_is_shown() -> None:
    expected, got = difference({"text": "a" * 2000 + "b"}, {"text": "a" * 2000 + "c"}) or ("", "")
    assert expected.startswith("['text'][1700:] = 'aaa")
    assert expected.endswith("ab'")
    assert got.endswith("ac'")


def test_environment_exception_is_a_broken_rule_with_its_cause() -> None:
    with pytest.raises(ConformanceError, match="ValueError: invalid literal") as caught:
        check_environment(mistakes.env_of("ParseRaisesValueError"), seeds=SEEDS)
    assert isinstance(caught.value.__cause__, ValueError)


# Limits of time.


@pytest.mark.slow
def test_interruption_reports_its_place() -> None:
    with pytest.raises(ConformanceError) as caught:
        check_environment(mistakes.env_of("LoopsForEver"), time_limit=0.5)
    assert (caught.value.place, caught.value.expected) == (
        "seed 0, turn 4",
        "an end of this rule within time_limit = 0.5 seconds",
    )
    assert re.match(r"still busy in apply \(mistakes\.py:\d+\), called by _resolve", caught.value.got)


@pytest.mark.slow
def test_foreign_alarm_is_restored() -> None:
    def ring(number: int, frame: Any) -> None:
        raise AssertionError("not yet")

    handler = signal.signal(signal.SIGALRM, ring)
    before = signal.setitimer(signal.ITIMER_REAL, 1000)
    try:
        check_environment(duel.duel, seeds=range(2))
        left, _ = signal.getitimer(signal.ITIMER_REAL)
        assert 0 < left < 1000
        assert signal.getsignal(signal.SIGALRM) is ring
    finally:
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, *before)


def in_another_thread(*arguments: Any, **options: Any) -> None:
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        pool.submit(check_environment, *arguments, **options).result()


@pytest.mark.slow
def test_other_threads_check_rules_in_another_process() -> None:
    in_another_thread(duel.duel, seeds=range(2))
    with pytest.raises(ConformanceError) as caught:
        in_another_thread(mistakes.TextInInfos.make, seeds=[5, 6])
    assert (caught.value.rule, caught.value.place) == ("infos_hold_numbers_only", "seed 5, turn 0, player_0")
    with pytest.raises(ConformanceError, match=r"Timeout.* in apply") as caught:
        in_another_thread(mistakes.env_of("LoopsForEver"), time_limit=2)
    assert caught.value.rule == "matches_end_within_max_turns"


@pytest.mark.slow_except(1)
@pytest.mark.parametrize("check", [check_environment, in_another_thread])
def test_each_passed_rule_is_reported(check: Callable[..., None]) -> None:
    kept: list[Any] = []
    with pytest.raises(ConformanceError) as caught:
        check(mistakes.TextInInfos.make, seeds=[5, 6], on_kept=kept.append)
    assert [*kept] == [*RULES][: len(kept)]
    assert RULES[len(kept)].__name__ == caught.value.rule


@pytest.mark.slow
def test_in_another_thread_what_cannot_be_sent_is_refused() -> None:
    with pytest.raises(ValueError, match="pass time_limit=None"):
        in_another_thread(lambda **options: duel.duel(**options))
    in_another_thread(lambda **options: duel.duel(**options), seeds=range(2), time_limit=None)


@pytest.mark.slow
def test_local_environments_are_checked_without_other_processes() -> None:
    check_environment(lambda **options: duel.duel(**options), seeds=SEEDS)


@pytest.mark.parametrize(
    ("arguments", "message"), [({"seeds": [1, 1]}, "at least two"), ({"time_limit": 0}, "time_limit: expected")]
)
def test_senseless_arguments_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_environment(duel.duel, **arguments)


@pytest.mark.slow
def test_the_suite_needs_no_test_tools() -> None:
    code = (
        "import sys; sys.modules.update(pytest=None, hypothesis=None)\n"
        "from tests.llmarena_envs.testing import duel; from llmarena_envs.testing import check_environment\n"
        "check_environment(duel.duel, seeds=range(2)); print(*({'agents', 'rating'} & sys.modules.keys()), 'passed')"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "passed"
