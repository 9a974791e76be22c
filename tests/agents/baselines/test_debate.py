"""Scripted debaters, judges and examiners: every role is playable, and matches recover the configured strengths."""

import json
import math

import numpy as np
import pytest

from agents.baselines.debate import BASELINES, Constant, Debater, Honest, Injecting, TagBreaking
from agents.play import play
from agents.registry import baselines, make_policy
from agents.turn import TurnSettings
from llmarena_envs import debate_v0
from llmarena_envs.core.options import OptionError
from rating.stats.bradley_terry import BradleyTerryOptions, fit_totals
from rating.stats.judge_bias import BiasTrial, preference

NOOP = TurnSettings(unparsable="noop", illegal="noop")
A, B, TIE = 0.0, 1.0, 2.0


def match(first, second, *judges, seed=0, examiner="examiner", **options):
    """Plays a debate between two policies before some judges."""
    options = {"questions": "builtin", "n_judges": len(judges), **options}
    env = debate_v0.env(**options)
    seats = {"debater_0": first, "debater_1": second, "examiner_0": examiner}
    seats |= {f"judge_{number}": judge for number, judge in enumerate(judges)}
    policies = {agent: make(seats[agent]) for agent in env.possible_agents}
    return play(env, policies, seed, NOOP)


def make(policy):
    return make_policy(policy, "debate_v0") if isinstance(policy, str) else policy


def refused(episode):
    """Returns the agents one of whose replies was no legal move."""
    return {turn.agent for turn in episode.turns if len(turn.attempts) > 1 or turn.fallback}


def share(matches, first, second, *judges, **options):
    """Returns the share of matches that the first debater wins, a tie as half of one, and its standard error."""
    scores = [
        (1 + match(first, second, *judges, seed=seed, **options).rewards["debater_0"]) / 2 for seed in range(matches)
    ]
    return float(np.mean(scores)), float(np.std(scores)) / math.sqrt(matches)


def logistic(x):
    return 1 / (1 + math.exp(-x))


@pytest.mark.slow_except(8)
@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", [*BASELINES, "random"])
def test_debate_baselines_play_every_role(name, language):
    for seed in range(2):
        options = {"questions": None if seed else "builtin", "language": language, "both_orders": bool(seed)}
        for seats in ((name, "debater"), ("debater", name)):
            episode = match(*seats, "honest", name, "debater", seed=seed, examiner=name, **options)
            own = f"debater_{seats.index(name)}"
            assert refused(episode) <= ({own} if name in ("empty", "tag_breaking") else set())
            assert not episode.undecided and all(not math.isnan(reward) for reward in episode.rewards.values())
            assert episode.infos["judge_1"]["abstained"] == 0
            again = match(*seats, "honest", name, "debater", seed=seed, examiner=name, **options)
            assert again.digest == episode.digest


def test_all_names_are_known():
    assert set(BASELINES) | {"random"} <= set(baselines("debate_v0"))
    assert "first_legal" not in baselines("debate_v0")


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("options", [{}, {"words": 60}, {"round3_opener": "B", "visibility": "restricted"}])
def test_debater_gives_required_parts_within_budget(language, options):
    for seed in range(4):
        episode = match(
            "debater:strength=4,family=old house", "debater", "honest", seed=seed, language=language, **options
        )
        for debater in ("debater_0", "debater_1"):
            assert not any(episode.infos[debater][wrong] for wrong in ("truncated", "missing", "forbidden"))


def test_the_difficult_ones_are_counted():
    verbose = match("verbose", "debater", "honest").infos["debater_0"]
    assert verbose["truncated"] == 5 - verbose["side"]  # all its turns
    assert verbose["words"] > 1_000 and not verbose["missing"]
    empty = match("empty", "debater", "honest").infos["debater_0"]
    assert (empty["words"], empty["missing"]) == (0, 7)


@pytest.mark.slow
def test_strengths_are_found_again():
    strengths = {"d0": -0.5, "d1": 0.5, "d2": 1.2, "d3": 2.5}
    names, matches = list(strengths), 100
    wins, games = np.zeros((4, 4)), np.zeros((4, 4))
    for i, first in enumerate(names):
        for j, second in enumerate(names[i + 1 :], i + 1):
            pair = Debater(strengths[first]), Debater(strengths[second])
            for seed in range(matches):
                reward = match(*pair, Honest(), seed=1_000 * (4 * i + j) + seed).rewards["debater_0"]
                wins[i, j] += (reward + 1) / 2
                games[i, j] += 1
    fitted = fit_totals(names, wins, games, BradleyTerryOptions(prior_sd=None, seat_term=False))
    expected = np.array(list(strengths.values())) * 400 / math.log(10)
    expected += 1000 - expected.mean()
    assert np.all(np.abs(fitted.ratings - expected) < 3 * fitted.errors)
    assert np.all(fitted.errors < 36)


def test_debate_points_survive_any_budget():
    first, second = Debater(3), Debater(2)
    wide, narrow = (
        [match(first, second, Honest(), seed=seed, **options).rewards for seed in range(30)]
        for options in ({}, {"words": 60})
    )
    assert wide == narrow


@pytest.mark.parametrize("hostile", [Injecting, TagBreaking])
def test_debate_winner_is_decided_by_points_only(hostile):
    for seed in range(12):
        fair = match(Debater(0.5), Debater(), Honest(), Honest(position=0.5), seed=seed, discussion=False)
        unfair = match(hostile(0.5), Debater(), Honest(), Honest(position=0.5), seed=seed, discussion=False)
        assert unfair.rewards == fair.rewards


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "second", "judge", "expected"),
    [
        (Debater(1), Debater(), Honest(), 1.0),
        (Debater(family="x"), Debater(family="y"), Honest(family="x", kinship=1), 1.0),
        (Debater(family="x"), Debater(family="y"), Honest(family="z", kinship=1), 0.0),
    ],
)
def test_dials(first, second, judge, expected):
    won, error = share(150, first, second, judge)
    assert abs(won - logistic(expected)) < 3 * error


@pytest.mark.slow
@pytest.mark.parametrize("position", [0.0, 1.0, -2.0])
def test_a_bias_for_a_position_is_seen_in_verdicts(position):
    judge = Honest(position=position)
    infos = [match(Debater(), Debater(), judge, seed=seed).infos["judge_0"] for seed in range(150)]
    for_a = np.array([{A: 1.0, B: 0.0, TIE: 0.5}[info["verdict_first"]] for info in infos])
    assert abs(for_a.mean() - logistic(position)) < 3 * for_a.std() / math.sqrt(len(for_a))


@pytest.mark.slow
@pytest.mark.parametrize("length", [0.0, 2.0])
def test_length_dial_makes_a_judge_favour_longer_texts(length):
    trials = []
    for seed in range(150):
        infos = match(Debater(1.5), Debater(), Honest(length=length), seed=seed).infos
        first, second = (infos[name] for name in ("debater_0", "debater_1"))
        verdict = infos["judge_0"]["verdict_first"]
        score = 0.5 if verdict == TIE else float(verdict == (A if first["side"] < second["side"] else B))
        trials.append(BiasTrial("pair", first["words"] > second["words"], score))
    found = preference(trials)
    assert (found.p < 0.01 and found.estimate.value > 0.5) if length else found.p > 0.05


@pytest.mark.slow
def test_position_biased_judge_contradicts_itself_when_sides_swap():
    def consistent(judge):
        infos = [match(Debater(), Debater(), judge, seed=seed, both_orders=True).infos["judge_0"] for seed in range(40)]
        return np.mean([info["verdict_final"] == info["verdict_swapped"] for info in infos])

    assert consistent(Honest()) == 1
    assert consistent(Constant("tie")) == 1
    assert consistent(Honest(position=2)) < 0.8
    assert consistent(Constant()) == 0


@pytest.mark.slow
def test_noise_and_length_make_judges_differ():
    infos = [
        match(
            "verbose",
            "debater:strength=1",
            "honest",
            "honest:noise=8",
            "honest:length=-1",
            "honest:length=1",
            seed=seed,
            discussion=False,
        ).infos
        for seed in range(40)
    ]
    side = np.array([info["debater_0"]["side"] for info in infos])
    verdicts = np.array([[info[f"judge_{number}"]["verdict_first"] for number in range(4)] for info in infos])
    assert 0.5 < np.mean(verdicts[:, 0] == verdicts[:, 1]) < 0.95
    assert np.all(verdicts[:, 2] == 1 - side) and np.all(verdicts[:, 3] == side)


def test_the_named_judges():
    episode = match(
        "verbose:strength=3", "debater", "constant", "constant:verdict=tie", "length", "keyword", discussion=False
    )
    side = episode.infos["debater_0"]["side"]
    assert [episode.infos[f"judge_{number}"]["verdict_first"] for number in range(4)] == [A, TIE, 1 - side, side]


@pytest.mark.slow
def test_judge_conforms_to_the_majority_at_the_configured_rate():
    conform = [0.0, 1.0, 0.5]
    changed = dict.fromkeys(conform, 0)
    for seed in range(60):
        for conformity in conform:
            infos = match(
                "debater", "debater", f"constant:conformity={conformity}", *["constant:verdict=tie"] * 2, seed=seed
            ).infos
            assert infos["judge_0"]["verdict_first"] == A and infos["judge_1"]["verdict_final"] == TIE
            changed[conformity] += infos["judge_0"]["verdict_final"] == TIE
    assert changed[0.0] == 0 and changed[1.0] == 60 and 15 < changed[0.5] < 45


def test_judges_without_majority_keep_their_verdicts():
    infos = match(
        "debater", "debater", "constant:verdict=A,conformity=1", "constant:verdict=B", "constant:verdict=tie"
    ).infos
    assert [infos[f"judge_{number}"]["verdict_final"] for number in range(3)] == [A, B, TIE]


def test_one_biased_judge_is_outvoted():
    for seed in range(20):
        episode = match("debater:strength=1", "debater", "constant", "honest", "honest", "honest", "honest", seed=seed)
        honest = {episode.infos[f"judge_{number}"]["verdict_final"] for number in range(1, 5)}
        assert episode.infos["judge_0"]["verdict_final"] == A
        assert honest == {episode.infos["debater_0"]["winner"]}


def test_examiner_asks_the_questions_of_its_file(tmp_path):
    file = tmp_path / "own.jsonl"
    rows = [
        {"domain": "math", "id": number, "question": f"What is {number} times the sum of 12 and 30?"}
        for number in range(9)
    ]
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    asked = set()
    for seed in range(12):
        examiner = make_policy("examiner", "debate_v0", {"questions": str(file)})
        episode = match("debater", "debater", "honest", seed=seed, examiner=examiner, questions=None, domain="math")
        assert not refused(episode)
        asked.add(episode.turns[0].played)
    assert 3 < len(asked) <= 9
    with pytest.raises(OptionError, match=r"missing\.jsonl"):
        make_policy("examiner", "debate_v0", {"questions": str(tmp_path / "missing.jsonl")})


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("debater:strength=strong", "strength: expected a number from -10 to 10, got 'strong'"),
        ("debater:strength=nan", "strength: expected a number"),
        ("honest:noise=-1", "noise: expected a number from 0"),
        ("honest:position=true", "position: expected a number"),
        ("honest:conformity=2", "conformity: expected a number from 0 to 1, got 2"),
        ("honest:family=<b>", "family: expected up to 40 letters"),
        ("constant:verdict=C", "verdict: expected one of 'A', 'B', 'tie', got 'C'"),
        ("honest:strength=1", "option.*got 'strength'"),
    ],
)
def test_bad_dials(spec, message):
    with pytest.raises(OptionError, match=message):
        make_policy(spec, "debate_v0")
