"""Estimated cost of a row."""

import pytest

from benchmarks.auto_arena.examination.case import Examination
from benchmarks.experiments.cost import describe, describe_job, expected_costs
from benchmarks.experiments.jobs import Job
from benchmarks.llmarena.random_battles import BATTLES, Options, plan
from rating.config.run_file import RunConfig
from rating.config.run_tables import EnvironmentConfig, PolicyConfig, StopConfig
from rating.config.tournament_config import TournamentConfig


def cost(name, *, policies=("random", "first_legal"), stop=None, **environment):
    config = RunConfig(
        environment=[EnvironmentConfig(name=name, **environment)],
        policy=[PolicyConfig(spec=spec) for spec in policies],
        stop=StopConfig(**(stop or {})),
    )
    (only,) = expected_costs(config)
    return only


def test_self_play_asks_on_both_seats():
    assert (costs := cost("bid_v0", scheme="self_play", stop={"matches": 100})).calls == 2 * costs.most == 200


def test_a_field_asks_on_the_seat_under_test_only():
    alone = cost("bid_v0", policies=("half",), scheme="field", opponent="random", stop={"matches": 100})
    assert (alone.most, alone.calls) == (100, 100)


def test_a_run_that_waits_for_ratings_has_a_range():
    ladder = cost("tictactoe_v0", stop={"min_matches": 30, "max_matches": 100})
    assert (ladder.least, ladder.most) == (32, 104)
    (line,) = describe([ladder])
    assert line.startswith("tictactoe_v0: 32 to 104 matches of each policy; for a model at most about ")


def test_tokens_count_the_rules_at_every_turn_and_what_was_said_before():
    short, long = (cost("bargain_v0", options={"max_rounds": rounds}, scheme="self_play") for rounds in (2, 10))
    # Bargain keeps its history: prompts grow with every turn, so tokens grow faster than calls.
    assert long.tokens_in / short.tokens_in > 1.5 * long.calls / short.calls
    assert short.tokens_out == pytest.approx(150 * short.calls, rel=0.01)


def test_a_chinese_text_has_more_tokens_a_character():
    english, chinese = (
        cost("tictactoe_v0", options={"language": language}, scheme="self_play") for language in ("en", "zh")
    )
    assert english.calls == chinese.calls
    assert 0.4 < chinese.tokens_in / english.tokens_in < 1.5


def test_the_field_of_the_others_is_not_who_costs_most():
    (fixed,) = expected_costs(plan(Options(matches=20, opponent="random"))[BATTLES])
    assert (fixed.least, fixed.most) == (20, 20)
    (waiting,) = expected_costs(plan(Options(min_matches=40, max_matches=90, opponent="random"))[BATTLES])
    assert (waiting.least, waiting.most) == (60, 90)


@pytest.mark.slow
def test_a_debate_costs_what_those_read_who_debate_and_judge_at_length():
    pool = tuple(f"debater:strength={number}" for number in range(8))
    costs = cost("debate_v0", policies=pool, tournament=TournamentConfig(questions=2))
    assert (costs.alike, costs.most) == (
        False,
        24,
    )  # twelve pairings: the first by name debates or judges in all of them
    assert costs.calls > 2 * costs.most
    # Both sides have 1,500 words; a judge reads all of them twice.
    assert costs.tokens_in > 3_000 * costs.calls
    assert costs.tokens_out > 200 * costs.calls
    (line,) = describe([costs])
    assert line.startswith(
        "debate_v0: 24 matches of the policy that has most, those included in which it serves; for a model"
    )


def test_a_job_costs_its_first_requests_and_replies():
    cases = [Examination(domain, "en", count=30, batch=10, calls=3) for domain in ("math", "coding")]
    line = describe_job(Job("examination", "examiner_0", [], cases, 0))
    assert line.startswith("2 cases for each policy; for a model at least 6 calls, about ")
    assert line.endswith(" tokens in, 6,000 out")
