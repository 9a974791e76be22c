"""Scripted simulators, users and judges: every role is playable, and matches recover the configured rates."""

import json
import math

import numpy as np
import pytest

from agents.baselines.simulation import BASELINES
from agents.baselines.simulation.phrases import CHINESE, ENGLISH, holds_praise
from agents.baselines.simulation.right_answers import shipped_requests
from agents.errors import ProviderError
from agents.play import play
from agents.registry import baselines, make_policy
from agents.turn import TurnSettings
from benchmarks.simulbench.pool import SCRIPTED
from llmarena_envs import simulation_v0
from llmarena_envs.core.options import OptionError
from llmarena_envs.simulation.scripts import script_fields
from llmarena_envs.simulation.shipped_dialogues import shipped_scripts
from llmarena_envs.simulation.tasks import load_tasks

NOOP = TurnSettings(unparsable="noop", illegal="noop")
TASKS = load_tasks("builtin", "en")
QUICK = [number for number, task in enumerate(TASKS) if task.engine in ("sql", "tictactoe", "key_value")]
"""Tasks on engines that answer at once: the others start a process."""
PLAIN = next(number for number, task in enumerate(TASKS) if not task.engine)
A, B, TIE = 0.0, 1.0, 2.0
WRONG_KINDS = ("stale", "arithmetic", "omission", "out_of_character")


def match(simulator, *judges, other="perfect", user="user", seed=0, **options):
    """Plays a match between policies, given by their specs."""
    env = simulation_v0.env(n_judges=len(judges), **options)
    seats = {"user_0": user, "simulator_0": simulator, "simulator_1": other}
    seats |= {f"judge_{number}": judge for number, judge in enumerate(judges)}
    policies = {agent: make_policy(seats[agent], "simulation_v0") for agent in env.possible_agents}
    return play(env, policies, seed, NOOP)


def refused(episode):
    """Returns the agents one of whose replies was no legal move."""
    return {turn.agent for turn in episode.turns if len(turn.attempts) > 1 or turn.fallback}


def seen(simulator, *judges, matches=4, **options):
    """Plays every quick task ``matches`` times; returns the infos of the simulator and the judges, an array by name."""
    told = {}
    for number in QUICK:
        for seed in range(matches):
            infos = match(simulator, *judges, seed=100 * number + seed, number=number, **options).infos
            for agent, info in infos.items():
                for name, value in info.items():
                    if isinstance(value, int | float):
                        told.setdefault((agent, name), []).append(value)
    return {name: np.array(values) for name, values in told.items()}


def near(rate, expected, n):
    """Tests whether an observed share of n is compatible with the expected one (p > 1e-4)."""
    return abs(rate - expected) < 4 * math.sqrt(expected * (1 - expected) / n) + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["dialogue", "script", "pairwise"])
@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", [*BASELINES, "random"])
def test_simulation_baselines_play_every_role(name, language, mode):
    numbers = (QUICK[0], QUICK[-1], PLAIN) if language == "en" else (0, 5)
    if name == "random" and mode == "dialogue":  # whose requests no scripted judge knows without an engine
        numbers = numbers[:2] if language == "en" else ()
    for seed, number in enumerate(numbers):
        for simulators in ((name, "perfect"), ("perfect", name)):
            given = {"language": language, "mode": mode, "number": number, "seed": seed, "user": name}
            episode = match(simulators[0], name, "exact", other=simulators[1], **given)
            assert not refused(episode)
            assert not episode.undecided and all(math.isfinite(reward) for reward in episode.rewards.values())
            again = match(simulators[0], name, "exact", other=simulators[1], **given)
            assert again.digest == episode.digest


def test_all_names_are_known():
    assert set(BASELINES) | {"random"} <= set(baselines("simulation_v0"))


def test_every_engine_has_scripted_requests():
    for task in TASKS:
        if task.engine:
            foreign = task._replace(task_description=f"Mine. First request: {task.engine}")
            assert len(shipped_requests(foreign, "easy")) >= 5 and len(shipped_requests(foreign, "challenging")) == 2
    assert len(ENGLISH.adversarial) == len(CHINESE.adversarial)
    assert max(map(len, ENGLISH.adversarial)) > 10_000


@pytest.mark.parametrize("user", ["user", "demanding", "adversarial", "praising"])
def test_perfect_simulator_is_exact_for_any_user(user):
    told = seen("perfect", "exact", user=user, turns=6)
    assert np.all(told["simulator_0", "exact_share"] == 1)
    assert np.all(told["judge_0", "rating"] == 10)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["python", "shell", "regex_tester"])
def test_a_perfect_simulator_is_exact_on_an_engine_with_processes(engine):
    number = next(number for number, task in enumerate(TASKS) if task.engine == engine)
    info = match("perfect", "exact", number=number).infos["simulator_0"]
    assert info["exact_share"] == 1 or not info["engine"]  # where there is no sandbox


def test_a_perfect_simulator_rebuilds_the_state_behind_a_script():
    store = next(task for task in TASKS if task.engine == "key_value")
    asked = [store.task_description, "SET dan 4", "GET dan"]
    history = [{"role": "user", "content": asked[0]}]
    for request in asked[1:]:
        history += [{"role": "assistant", "content": "whatever"}, {"role": "user", "content": request}]
    script = {"id": 1, "source_id": store.id, "source_file_name": "a", "turn_num": 3, "dialogue_history": history}
    for simulator, expected in (("perfect", (1, 10)), ("flawed:stale=1", (0, 1)), ("silent", (0, 1))):
        episode = match(simulator, "exact", mode="script", scripts=[script])
        assert (episode.infos["simulator_0"]["exact"], episode.rewards["simulator_0"]) == expected


def test_shipped_answers_are_right_without_an_engine():
    for options in ({"number": PLAIN}, {"number": 0, "language": "zh"}):
        perfect = match("perfect", "exact", **options)
        assert perfect.rewards["simulator_0"] == 10 and perfect.infos["simulator_0"]["exact"] == -1
        for kind, points in (("stale", 1), ("arithmetic", 1), ("omission", 1), ("format", 8), ("chatter", 8)):
            assert match(f"flawed:{kind}=1", "exact", **options).rewards["simulator_0"] == points


@pytest.mark.parametrize("agent", ["user_0", "simulator_0", "judge_0"])
def test_scripted_players_without_truth_fail_with_advice(agent):
    task = {"act": "Oracle", "task_description": "Be an oracle. Tell me more.", "request_type": "", "type": "stateless"}
    env = simulation_v0.env(tasks=[task])
    policies = {each: make_policy("random", "simulation_v0") for each in env.possible_agents}
    policies[agent] = make_policy(
        {"user_0": "user", "simulator_0": "perfect", "judge_0": "exact"}[agent], "simulation_v0"
    )
    with pytest.raises(ProviderError, match=r"Oracle: .*tasks with an engine and in shipped dialogues only: use"):
        play(env, policies, 0, NOOP)


def ladder(scripts, repeats):
    """Returns by difficulty and simulator the mean score, and the share of full scores, over scripts."""
    rungs = dict(each.split("=", 1) if "=flawed" in each else (each, each) for each in SCRIPTED["simulation_v0"])
    found = {}
    for number, script in enumerate(scripts):
        env = simulation_v0.env(mode="script", scripts=[script_fields(script)])
        for name, spec in {**rungs, "constant": ""}.items():
            for repeat in range(repeats):
                simulator = make_policy(spec, "simulation_v0") if spec else lambda observation: "OK"
                policies = {"simulator_0": simulator, "judge_0": make_policy("exact", "simulation_v0")}
                score = play(env, policies, number * repeats + repeat, NOOP).rewards["simulator_0"]
                for subset in ("all", script.difficulty):
                    found.setdefault((subset, name), []).append(score)
    return {key: (np.mean(scores), np.mean(np.array(scores) == 10)) for key, scores in found.items()}


@pytest.mark.slow
@pytest.mark.parametrize("engine", [True, False])
def test_ladder_on_shipped_scripts_separates(engine):
    tasks = {task.id: task for task in TASKS if task.engine != "python" and bool(task.engine) == engine}
    found = ladder([script for script in shipped_scripts("en") if script.source_id in tasks], 4 if engine else 2)
    rungs = ["perfect", "good", "fair", "poor", "silent"]
    for measure in range(2):
        values = [found["all", name][measure] for name in rungs]
        assert values == sorted(values, reverse=True) and len(set(values)) == 5
        for name in rungs[1:4]:
            assert found["challenging", name][measure] < found["all", name][measure]
    assert found["all", "perfect"] == (10, 1)
    assert found["all", "constant"][0] < 1.5


def test_hard_requests_are_harder():
    for user, exact in (("user:hard=1,adversarial=0,complaints=0", 0), ("user:hard=0,adversarial=0,complaints=0", 1)):
        told = seen("flawed:hard=1", "exact", user=user, matches=8)
        assert np.all(told["simulator_0", "exact_1"] == 1)  # the first request is the task's
        assert abs(np.mean(told["simulator_0", "exact_4"]) - exact) < 0.1


@pytest.mark.parametrize("kind", WRONG_KINDS)
def test_errors_of_content_are_wrong_every_time(kind):
    told = seen(f"flawed:{kind}=1", "exact")
    assert np.all(told["simulator_0", "exact_share"] == 0)
    assert np.all(told["judge_0", "rating"][told["simulator_0", "format_flawed"] == 0] == 1)
    assert np.mean(told["simulator_0", "format_flawed"]) < 0.1


@pytest.mark.parametrize("kind", ["format", "chatter"])
def test_errors_of_format_leave_the_content(kind):
    told = seen(f"flawed:{kind}=1", "exact")
    assert np.all(told["simulator_0", "exact_share"] == 0)
    assert np.mean(told["simulator_0", "format_flawed"]) > 0.9  # all but empty answers
    assert np.all(told["judge_0", "rating"] == np.where(told["simulator_0", "format_flawed"], 8, 1))


@pytest.mark.slow
def test_rates_of_errors_are_found_again():
    told = seen("flawed:stale=0.1,arithmetic=0.15,omission=0.05,out_of_character=0.1,format=0.2", "exact", matches=40)
    answers = np.concatenate([told["simulator_0", f"exact_{turn}"] for turn in range(1, 5)])
    assert near(answers.mean(), 0.4, len(answers)) and len(answers) == 480
    last = told["judge_0", "rating"]
    assert near(np.mean(last == 10), 0.4, len(last))
    assert abs(np.mean(last == 8) - 0.2) < 0.12
    assert np.all((last == 10) == told["simulator_0", "exact"])


def test_an_echo_and_a_silent_simulator_are_wrong():
    for simulator in ("echo", "silent"):
        told = seen(simulator, "exact")
        assert np.mean(told["simulator_0", "exact_share"]) < 0.1
    assert np.all(told["simulator_0", "empty"] == 4)


def test_users_follow_the_configured_strategy():
    def strategies(user, simulator="perfect"):
        told = seen(simulator, user=user, matches=12)
        chosen = np.concatenate([told["user_0", f"strategy_{turn}"] for turn in (2, 3, 4)])
        return [np.mean(chosen == strategy) for strategy in (1, 2, 3, 4)], len(chosen)

    shares, n = strategies("user:hard=0.3,adversarial=0.2,complaints=0")
    assert shares[0] == 0 and all(near(share, p, n) for share, p in zip(shares[1:], (0.5, 0.3, 0.2), strict=True))
    assert strategies("user:complaints=1,hard=0,adversarial=0", "silent")[0][0] > 0.9
    assert strategies("demanding")[0][2] == 1
    assert strategies("adversarial")[0][3] == 1


def test_user_praises_at_the_configured_rate():
    counted = [
        holds_praise(json.loads(turn.attempts[-1].reply)["user"]["request"])
        for seed in range(40)
        for turn in match("perfect", user="user:praise=0.3", number=QUICK[0], seed=seed).turns
        if turn.agent == "user_0"
    ]
    assert near(np.mean(counted), 0.3, len(counted))


@pytest.mark.slow
def test_biases_of_judges_are_found_again():
    judges = ("exact", "lenient:lenience=1.5", "praised:praise=3", "noisy:noise=1", "exact:drift=0.5", "always:score=6")
    for user, praise in (("user", 0), ("praising", 3)):
        told = seen("flawed:arithmetic=1", *judges, user=user, matches=20)
        rating = [told[f"judge_{number}", "rating"] for number in range(len(judges))]
        assert np.all(rating[0] == 1)
        assert np.all(rating[1] - rating[0] == 1.5)
        assert np.all(rating[2] - rating[0] == praise)
        assert np.all(rating[4] - rating[0] == 1.5)  # the fourth turn
        assert np.all(rating[5] == 6)
    assert near(np.mean(rating[3] > 1), 0.5, len(rating[3]))  # ratings below the scale are clipped to its end


@pytest.mark.slow
def test_noise_has_the_configured_size():
    told = seen("flawed:arithmetic=1", "noisy:noise=1,lenience=4", matches=32)
    assert abs(told["judge_0", "rating"].mean() - 5) < 4 / math.sqrt(96)
    assert 0.7 < told["judge_0", "rating"].std() < 1.3


def test_exact_judges_prefer_the_better_of_two():
    told = seen("perfect", "exact", "always", "always:verdict=A", other="flawed:arithmetic=1", mode="pairwise")
    assert np.all(told["judge_0", "verdict"] == A) and np.all(told["judge_0", "verdict_swapped"] == A)
    assert np.all(told["judge_1", "verdict"] == TIE)
    assert np.all(told["judge_2", "verdict"] == A) and np.all(told["judge_2", "verdict_swapped"] == B)
    flawed = seen("flawed:format=1", "exact", other="flawed:omission=1", mode="pairwise")
    assert np.mean(flawed["judge_0", "verdict"] == A) > 0.8


def test_biases_for_position_and_length_are_found_again():
    judges = ("exact:position=1", "exact:length=5", "exact:length=-5")
    told = seen("perfect", *judges, other="perfect", mode="pairwise")
    assert np.all(told["judge_0", "verdict"] == A) and np.all(told["judge_0", "verdict_swapped"] == B)
    assert np.all(told["judge_1", "verdict"] == TIE)
    told = seen("flawed:format=1", *judges, other="flawed:chatter=1", mode="pairwise")
    kept = told["simulator_0", "format_flawed"] == 1
    assert np.all(told["judge_1", "verdict"][kept] == B) and np.all(told["judge_2", "verdict"][kept] == A)


@pytest.mark.parametrize(
    ("spec", "names"),
    [
        ("user:hard=1.5", "hard"),
        ("user:hard=0.7,adversarial=0.7", "at most together"),
        ("user:praise=-1", "praise"),
        ("flawed:stale=2", "stale"),
        ("flawed:stale=0.6,format=0.6", "at most together"),
        ("flawed:typos=0.1", "typos"),
        ("flawed:stale=often", "stale"),
        ("exact:noise=-1", "noise"),
        ("noisy:noise=lots", "noise"),
        ("always:score=11", "score"),
        ("always:verdict=C", "verdict"),
        ("echo:loud=true", "no options"),
    ],
)
def test_bad_dials_are_refused(spec, names):
    with pytest.raises(OptionError, match=names):
        make_policy(spec, "simulation_v0")
