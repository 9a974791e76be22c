import asyncio

import pytest

from agents.baselines.writer_editor import BASELINES, Rubric, Translator, overlap
from agents.play import play
from agents.registry import make_policy
from agents.turn import TurnSettings
from llmarena_envs import writer_editor_v0
from llmarena_envs.core.failures import Failure
from llmarena_envs.core.options import OptionError
from llmarena_envs.writer_editor.tasks import shipped_problems
from rating.play import run_directory
from rating.play.runner import Runner
from rating.store.verify import verify
from tests.llmarena_envs.writer_editor.running import share_passed

NOOP = TurnSettings(unparsable="noop", illegal="noop")


def match(writer, editor, judge="rubric", seed=0, **options):
    """Plays a match and asserts that every reply is legal."""
    env = writer_editor_v0.env(**{"objective": False, **options})
    seats = {"writer": writer, "editor": editor, "judge": judge}
    specs = {agent: seats[agent.rpartition("_")[0]] for agent in env.possible_agents}
    policies = {
        agent: make_policy(spec, "writer_editor_v0") if isinstance(spec, str) else spec for agent, spec in specs.items()
    }
    episode = play(env, policies, seed, NOOP)
    assert all(len(turn.attempts) == 1 and not turn.fallback for turn in episode.turns)
    return episode


@pytest.mark.slow_except(4)
@pytest.mark.parametrize("task", ["code_review", "translation"])
@pytest.mark.parametrize("name", [*BASELINES, "random"])
def test_writer_editor_baselines_play_every_role(name, task):
    for seed in range(3):
        for seats in ((name, "echo"), ("echo", name), ("echo", "echo", name)):
            episode = match(*seats, seed=seed, task=task, language="zh" if seed else "en", max_rounds=2)
            again = match(*seats, seed=seed, task=task, language="zh" if seed else "en", max_rounds=2)
            assert again.digest == episode.digest
            assert episode.undecided == (seats[2:] in [("echo",), ("fixer",), ("translator",)])


def test_fixer_repairs_named_mistakes():
    episode = match("fixer", "fixer")
    first, review, second, token, _ = (turn.played for turn in episode.turns)
    assert first != second and review.endswith(".") and token == "over"
    assert episode.rewards == {"writer_0": 10, "editor_0": 10, "judge_0": 0}
    assert episode.infos["writer_0"]["consensus"] == 1


def test_baselines_repair_only_named_mistakes():
    stubborn = match("fixer", "echo")
    assert len({turn.played for turn in stubborn.turns if turn.agent == "writer_0"}) == 1
    careless = match("fixer", "fixer:skill=0")
    assert [turn.played for turn in careless.turns][1] == "over"
    assert careless.rewards["editor_0"] < careless.rewards["writer_0"] < 10


def test_the_rubric_counts_tests_where_they_can_be_run():
    problems = {problem.text: problem for problem in shipped_problems()}
    for seed in range(5):
        episode = match("fixer", "fixer:skill=0", judge=Rubric(share_passed), seed=seed)
        (text,) = (text for text in problems if text in episode.turns[0].read)
        share = share_passed(problems[text].buggy_code, problems[text])
        assert episode.rewards == {
            "writer_0": round(1 + 9 * share, 1),
            "editor_0": round(1 + 4.5 * share, 1),
            "judge_0": 0,
        }
    unknown = match("fixer", "fixer", judge=Rubric(lambda program, problem: None))
    assert unknown.rewards["writer_0"] == 10  # likeness to the solution


@pytest.mark.parametrize(("role", "scores"), [("writer", (10, 1)), ("editor", (1, 10))])
def test_biased_judges_ignore_the_texts(role, scores):
    for players in (("fixer", "echo"), ("echo", "fixer")):
        rewards = match(*players, judge=f"biased:role={role}").rewards
        assert (rewards["writer_0"], rewards["editor_0"]) == scores


def test_the_judge_of_length():
    long, short = match("echo", "fixer:skill=0", judge="by_length"), match("fixer", "fixer:skill=0", judge="by_length")
    assert long.rewards["editor_0"] == short.rewards["editor_0"] == 1
    assert 1 < short.rewards["writer_0"] <= 10


def test_tasks_of_others_are_not_known():
    problem = {
        "text": "Write a function that adds.",
        "code": "def add(a, b):\n    return a + b",
        "test_list": ["assert add(1, 2) == 3"],
    }
    assert 1 < match("fixer", "fixer", tasks=[problem]).rewards["writer_0"] < 10
    note = {"src": "Es regnet.", "src_lang": "de", "tgt_lang": "en"}
    episode = match("translator", "translator", task="translation", tasks=[note])
    assert {turn.played for turn in episode.turns[:2]} == {"Es regnet."}


@pytest.mark.parametrize("share", [-0.1, 1.1, "much", True])
def test_bad_options(share):
    with pytest.raises(OptionError, match="noise: expected a probability"):
        Translator(share)
    with pytest.raises(OptionError, match="skill: expected a probability"):
        BASELINES["fixer"](share)


def test_overlap():
    assert overlap("rain", "rain") == 1
    assert overlap("rain", "snow") == 0
    assert overlap("aaaa", "aaa") == pytest.approx(2 / 3)
    assert overlap("", "") == 1


def test_nonsense_judge_abstains_and_match_has_no_result():
    env = writer_editor_v0.env(objective=False, n_judges=2)
    echo = {agent: make_policy("echo", "writer_editor_v0") for agent in env.possible_agents}
    told = []

    def judge(observation):
        told.append(observation.get("feedback", ""))
        return '{"Programmer": {"score": 11}, "Reviewer": {"score": 5}}'

    episode = play(env, {**echo, "judge_0": judge}, 1, NOOP)
    (turn,) = (turn for turn in episode.turns if turn.agent == "judge_0")
    assert [attempt.kind for attempt in turn.attempts] == [Failure.ILLEGAL] * 3
    assert turn.fallback == "noop" and turn.played == "abstain"
    assert any("scores go from 1 to 10, got 11" in text for text in told)
    assert episode.undecided and episode.infos["writer_0"]["abstentions"] == 2

    rubric = make_policy("rubric", "writer_editor_v0")
    scored = play(env, {**echo, "judge_0": judge, "judge_1": rubric}, 1, NOOP)
    assert not scored.undecided and scored.rewards["writer_0"] >= 1


def test_writer_without_a_program_counts_as_empty():
    env = writer_editor_v0.env(objective=False, max_rounds=1)
    policies = {agent: make_policy("rubric", "writer_editor_v0") for agent in env.possible_agents}
    episode = play(env, {**policies, "writer_0": lambda observation: "I cannot program."}, 0, NOOP)
    assert episode.turns[0].played == "writer_0:" and episode.turns[0].fallback == "noop"
    assert episode.infos["writer_0"]["empty"] == 1
    assert episode.rewards["writer_0"] == 1


RUN = """
seed = 5
[[environment]]
name = "writer_editor_v0"
options = {{ task = "{task}", objective = false, n_judges = 2 }}
[environment.staff]
judge = ["rubric", "broken"]
[stop]
matches = 30
{policies}
[[policy]]
spec = "rubric"
rated = false
[[policy]]
name = "broken"
spec = "echo"
rated = false
"""


def means_by_role(directory, task, players):
    """Returns the mean score of each player in each role, of a rated run."""
    policies = "".join(f'[[policy]]\nname = "{name}"\nspec = "{spec}"\n' for name, spec in players.items())
    run, store = run_directory.create(directory, RUN.format(task=task, policies=policies), "run.toml")
    asyncio.run(Runner(run, store).run())
    records, facts = list(store.records()), store.facts()
    store.close()
    assert {record.status for record in records} == {"finished"}
    assert verify(records[0], run.config.turn_settings("writer_editor_v0")) == ""
    scheme = run.scheme("writer_editor_v0")
    board = scheme.leaderboard([record.outcome for record in records], facts["stopped:writer_editor_v0"])
    assert {row.policy for row in board.staff} == {"rubric", "broken"}
    return {role: {row.policy: row.values["roles"][role].value for row in board.rows} for role in ("writer", "editor")}


@pytest.mark.slow
def test_rated_reviews_have_the_intended_order(tmp_path):
    players = {"fixer": "fixer", "other fixer": "fixer", "careless": "fixer:skill=0", "echo": "echo"}
    means = means_by_role(tmp_path / "run", "code_review", players)
    for role in means.values():
        assert min(role["fixer"], role["other fixer"]) > max(role["careless"], role["echo"])
    assert means["writer"]["careless"] > means["writer"]["echo"]


@pytest.mark.slow
def test_rated_translations_have_the_intended_order(tmp_path):
    players = {"good": "translator:noise=0.05", "poor": "translator:noise=0.4", "echo": "echo"}
    for role in means_by_role(tmp_path / "run", "translation", players).values():
        assert role["good"] > role["poor"] > role["echo"]
