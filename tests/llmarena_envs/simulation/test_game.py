"""The rules of simulation: order of speakers, scores and measurements."""

import copy
import json

import pytest

from llmarena_envs import simulation_v0
from llmarena_envs.core.failures import InvalidReply
from llmarena_envs.core.options import OptionError
from llmarena_envs.simulation.speech import MAX_TEXT
from rating.config.run_file import parse_run_file
from rating.play.run import Run
from tests.llmarena_envs.option_sets.simulation_v0 import CLERK, SCRIPT, STORE, TASKS
from tests.llmarena_envs.simulation.matches import TRUTH, asked, say, scripted, started

DELETED = "(integer) 1"


def over(env):
    return all(env.terminations.values())


def test_dialogue_alternates_and_its_last_response_is_rated():
    env = started(n_judges=2)
    order = []
    for reply in ("a", asked("GET bo"), "b", asked("KEYS *", 3), "c", "INCR visits", "d", "Rating: [[7]]", "[[8.5]]"):
        order.append(env.agent_selection)
        say(env, reply)
    assert order == ["simulator_0", "user_0"] * 3 + ["simulator_0", "judge_0", "judge_1"]
    assert over(env) and len(order) == env.max_turns == 9
    assert env.rewards == {"user_0": 0, "simulator_0": 7.75, "judge_0": 0, "judge_1": 0}
    assert [message.text for message in env.game.messages][1:] == [
        "a",
        "GET bo",
        "b",
        "KEYS *",
        "c",
        "INCR visits",
        "d",
    ]
    assert env.game.messages[0].text == STORE["task_description"]
    assert env.infos["simulator_0"]["spread"] == 0.75
    assert [env.infos[f"judge_{number}"]["rating"] for number in (0, 1)] == [7, 8.5]
    user = env.infos["user_0"]
    assert [user[f"strategy_{turn}"] for turn in (2, 3, 4)] == [2, 3, 4]
    assert (user["unformatted"], user["turns"]) == (1, 4)


@pytest.mark.parametrize(
    ("options", "bound"),
    [
        ({}, 8),
        ({"mode": "script"}, 2),
        ({"mode": "pairwise"}, 4),
        ({"turns": 1, "n_judges": 0}, 1),
        ({"mode": "pairwise", "n_judges": 3}, 8),
    ],
)
def test_the_bound_is_the_published_one(options, bound):
    assert started(**options).max_turns == bound


def test_engine_follows_the_dialogue():
    env = say(started(), TRUTH, asked("DEL queue"), f"```\n{DELETED}\n```", asked("INCR visits"), "Count: 2")
    copied = copy.deepcopy(env)
    say(env, asked("DEL visits"), "x", "[[5]]")
    say(copied, asked("GET visits"), 'The value is:\n"42"', "[[5]]")
    assert env.game.truths == (TRUTH, DELETED, "(integer) 42", "(integer) 1")
    assert copied.game.truths == (TRUTH, DELETED, "(integer) 42", '"42"')
    facts = env.infos["simulator_0"]
    assert [facts[f"exact_{turn}"] for turn in (1, 2, 3, 4)] == [1, 1, 0, 0]
    assert (facts["exact"], facts["exact_share"], facts["format_flawed"], facts["engine"]) == (0, 0.5, 0, 1)
    assert (copied.infos["simulator_0"]["exact"], copied.infos["simulator_0"]["format_flawed"]) == (0, 1)
    assert [facts["turns"], facts["stateful"], facts["task"], facts["words"]] == [4, 1, 0, 1]


@pytest.mark.parametrize("options", [{"engine": None}, {"task": "NUMBER  clerk"}])
def test_without_engine_exactness_is_unknown(options):
    env = say(started(turns=2, **options), TRUTH, asked("x"), "y", "[[5]]")
    facts = env.infos["simulator_0"]
    assert env.game.truths == () and facts["engine"] == 0
    assert {facts[name] for name in ("exact", "exact_share", "format_flawed", "exact_1", "exact_2")} == {-1}


def test_agents_never_read_truth_and_views_can_rebuild_it():
    env = started(n_judges=1)
    for reply in ("a", asked("GET bo"), "b", asked("KEYS *"), "c", asked("INCR visits"), "d"):
        for agent in env.possible_agents:
            view = env.view(agent)
            assert not any(truth in str(view) + str(env.observe(agent)) for truth in env.game.truths if len(truth) > 5)
            assert view.task.engine == "key_value"
            assert [each[:2] for each in view.messages] == [each[:2] for each in env.game.messages]
            assert agent == "user_0" or not any(each.strategy for each in view.messages)
        say(env, reply)


def test_script_is_answered_once_at_the_engines_state():
    env = scripted(n_judges=1)
    assert env.game.truths == (TRUTH, DELETED)
    assert [message.text for message in env.view("simulator_0").messages][1:] == [TRUTH, "DEL queue"]
    say(env, DELETED, "Rating: [[9]]")
    assert over(env) and env.rewards["simulator_0"] == 9
    facts = env.infos["simulator_0"]
    assert (facts["exact"], facts["exact_share"], facts["turns"], facts["task"]) == (1, 1, 2, 0)
    assert "exact_1" not in facts and "user_0" not in env.infos


def test_a_script_of_an_unknown_task_has_no_engine():
    other = {**SCRIPT, "task_description": "Another store. First request: KEYS *"}
    env = say(started(mode="script", scripts=[other]), DELETED, "[[5]]")
    assert env.infos["simulator_0"]["engine"] == 0 and env.infos["simulator_0"]["stateful"] == 1


def test_history_is_limited_to_the_observation_space():
    long = [{**SCRIPT, "turn_num": 0, "dialogue_history": ["x" * 20_000] * 13}]
    with pytest.raises(OptionError, match="scripts: '1': expected a history of at most 250000 characters, got 260000"):
        started(mode="script", scripts=long)


def test_without_scripts_the_first_request_of_each_task_is_one():
    env = say(started(mode="script"), TRUTH, "[[10]]")
    assert env.infos["simulator_0"]["exact"] == 1


@pytest.mark.parametrize(
    ("first", "second", "reward"),
    [
        ("[[A]]", "[[B]]", 1),
        ("[[B]]", "[[A]]", -1),
        ("[[A]]", "[[A]]", 0),
        ("[[A]]", "[[C]]", 0),
        ("[[C]]", "[[Tie]]", 0),
    ],
)
def test_pairwise_win_must_hold_in_both_orders(first, second, reward):
    env = scripted("pairwise")
    say(env, DELETED)
    assert env.view("simulator_1").responses == () and DELETED not in env.observe("simulator_1")["text"]
    say(env, "no")
    seen = [[each.text for each in env.view("judge_0").responses]]
    assert env.observe("judge_0")["fresh_history"] == 0
    say(env, first)
    seen.append([each.text for each in env.view("judge_0").responses])
    assert env.observe("judge_0")["fresh_history"] == 1
    say(env, second)
    assert seen == [[DELETED, "no"], ["no", DELETED]]
    assert over(env) and env.rewards == {"simulator_0": reward, "simulator_1": -reward, "judge_0": 0}
    assert [env.infos[f"simulator_{number}"]["exact"] for number in (0, 1)] == [1, 0]
    assert env.infos["judge_0"]["winner"] == {1: 0, -1: 1, 0: 2}[reward]


def test_majority_decides_without_judges_abstaining_in_an_order():
    env = say(scripted("pairwise", n_judges=3), "x", "y", "[[A]]", "[[B]]", "abstain", "[[B]]", "[[A]]", "[[A]]")
    assert env.rewards["simulator_0"] == 0 and env.infos["simulator_0"]["votes"] == 1  # one vote for each
    verdicts = [(env.infos[f"judge_{n}"]["verdict"], env.infos[f"judge_{n}"]["verdict_swapped"]) for n in range(3)]
    assert verdicts == [(0, 0), (1, 1), (-1, 1)]
    assert env.infos["judge_2"]["abstained"] == env.infos["judge_0"]["abstentions"] == 1


@pytest.mark.parametrize("mode", ["dialogue", "script", "pairwise"])
def test_match_with_all_judges_abstaining_has_no_result(mode):
    env = started(mode=mode, n_judges=2, turns=1)
    while not over(env):
        env.step("abstain" if env.agent_selection.startswith("judge") else "x")
    assert env.game.undecided and not any(env.rewards.values())
    text = env.observe("simulator_0")["text"]
    assert "no result" in text.splitlines()[-1]


def test_one_judge_suffices():
    env = say(started(turns=1, n_judges=2), "x", "abstain", "[[4]]")
    assert env.rewards["simulator_0"] == 4 and not env.game.undecided


@pytest.mark.parametrize("reply", ["", " \n", "<think>hm</think>", "simulator_0:"])
def test_an_empty_answer_is_an_answer(reply):
    env = started(turns=1)
    assert env.parse(reply, "simulator_0") == "simulator_0:"
    say(env, reply, "[[3]]")
    assert env.game.responses[0].text == "" and env.infos["simulator_0"]["empty"] == 1


def test_empty_request_is_reasked_then_accepted():
    env = say(started(), "a")
    with pytest.raises(InvalidReply):
        env.parse("", "user_0")
    env.step(env.default_action("user_0"))
    assert env.game.messages[-1].text == "" and env.game.truths[-1] == ""
    say(env, "b", asked("x"), "c", asked("y"), "d", "[[5]]")
    assert (env.infos["user_0"]["empty"], env.infos["user_0"]["unformatted"]) == (1, 1)


def test_overlong_text_is_cut_and_counted():
    env = say(started(turns=2), "a" * 1_000_000)
    assert len(env.game.messages[-1].text) == MAX_TEXT and env.game.messages[-1].truncated
    assert all(len(env.observe(agent)["text"]) < 1_000_000 for agent in env.possible_agents)
    say(env, json.dumps({"user": {"strategy": 3, "request": "b" * 1_000_000}}), "c", "[[5]]")
    assert env.infos["simulator_0"]["truncated"] == env.infos["user_0"]["truncated"] == 1
    assert env.game.truths[-1] == "(error) ERR request longer than 10000 characters"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mode": "talk"}, "mode: expected one of 'dialogue', 'script', 'pairwise'"),
        ({"scripts": [SCRIPT]}, "scripts: expected None in the mode 'dialogue'"),
        ({"task": "Note Stor"}, "task: expected the name .*did you mean 'Note Store'"),
        ({"number": 2}, "number: expected an integer from 0 to 1"),
        ({"number": 1, "task": "Note Store"}, "number: 1 is 'Number Clerk', not 'Note Store'"),
        ({"turns": 0}, "turns"),
        ({"engine": "sql"}, "engine: expected 'auto', 'no_programs' or None"),
        ({"tasks": [{**CLERK, "engine": "sqll"}]}, "'7': engine.*did you mean 'sql'"),
        ({"tasks": [{**CLERK, "engine": "sql"}]}, "First request"),
        ({"tasks": "no_such_file.jsonl"}, "no_such_file"),
        ({"language": "fr"}, "language"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(OptionError, match=message):
        simulation_v0.raw_env(**{"tasks": TASKS, **options})


def test_engine_name_is_ignored_without_engine():
    assert simulation_v0.raw_env(tasks=[{**CLERK, "engine": "sqll"}], engine=None)


@pytest.mark.parametrize("mode", ["dialogue", "pairwise"])
def test_all_simulators_get_the_same_tasks_of_all_kinds(mode):
    text = (
        f'[[environment]]\nname = "simulation_v0"\noptions = {{ mode = "{mode}" }}\n'
        '[environment.staff]\nuser = ["random"]\njudge = ["random"]\n'
        '[[policy]]\nname = "a"\nspec = "random"\n[[policy]]\nname = "b"\nspec = "random"\n'
    )
    if mode == "pairwise":
        text = text.replace('user = ["random"]\n', "")
    schedule = Run(parse_run_file(text, "run.toml")).scheme("simulation_v0").schedule()
    matches = schedule.next_batch()
    played = {}
    for match in matches:
        for seat, policy in enumerate(
            match.policies[1 if mode == "dialogue" else 0 :][: 1 if mode == "dialogue" else 2]
        ):
            played.setdefault((policy, seat), []).append(match.options["number"])
    numbers = list(played.values())
    assert len(numbers) >= 2 and all(each == numbers[0] for each in numbers)
    tasks = simulation_v0.raw_env().game.tasks
    kinds = {(bool(tasks[number].engine), tasks[number].type) for number in numbers[0][:4]}
    assert len(kinds) == 4
