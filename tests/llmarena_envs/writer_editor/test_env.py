import copy
import pickle

import pytest

from llmarena_envs import writer_editor_v0
from llmarena_envs.core.options import OptionError
from llmarena_envs.testing import check_environment
from llmarena_envs.writer_editor import env as module
from llmarena_envs.writer_editor import text_metrics
from llmarena_envs.writer_editor.task_types import Document
from tests.llmarena_envs.writer_editor.running import share_passed

NOTE = {"src": "Es regnet.", "tgt": "It is raining.", "src_lang": "de", "tgt_lang": "en"}


def test_a_task_can_be_chosen():
    env = writer_editor_v0.env(task="translation", number=2)
    for seed in range(3):
        env.reset(seed=seed)
        assert env.unwrapped.game.number == 2
    text = {"src": "Guten Tag.", "src_lang": "de", "tgt_lang": "en"}
    with pytest.raises(OptionError, match="number: expected an integer from 0 to 1, got 2"):
        writer_editor_v0.env(task="translation", tasks=[text, text], number=2)


def test_same_seed_gives_the_same_task_in_all_role_assignments():
    env, other = writer_editor_v0.raw_env(), writer_editor_v0.raw_env(n_judges=3, max_rounds=1, language="zh")
    tasks = set()
    for seed in range(20):
        env.reset(seed=seed)
        other.reset(seed=seed)
        assert env.game.number == other.game.number
        tasks.add(env.game.number)
    assert len(tasks) > 2


def test_pass_rate_uses_the_injected_measure(monkeypatch):
    monkeypatch.setattr(module, "find_pass_rate", lambda backend: share_passed)
    env = writer_editor_v0.raw_env()
    env.reset(seed=0)
    problem = env.game.tasks[env.game.number]
    for reply in (problem.buggy_code, problem.bug, problem.code, "over"):
        env.step(env.parse(reply, env.agent_selection))
        assert env.infos["writer_0"]["pass_first"] == -1
    env.step("abstain")
    assert env.infos["editor_0"]["pass_first"] == share_passed(problem.buggy_code, problem) < 1
    assert env.infos["editor_0"]["pass_last"] == 1


def test_without_judges_the_tests_pay(monkeypatch):
    monkeypatch.setattr(module, "find_pass_rate", lambda backend: share_passed)
    env = pickle.loads(pickle.dumps(copy.deepcopy(writer_editor_v0.raw_env(n_judges=0))))
    env.reset(seed=0)
    problem = env.game.tasks[env.game.number]
    env.step(env.parse(problem.buggy_code, "writer_0"))
    env.step("over")
    share = share_passed(problem.buggy_code, problem)
    assert env.rewards == {"writer_0": 10 * share, "editor_0": 10 * share}
    assert env.infos["writer_0"]["consensus"] == 1  # on a wrong program


def test_data_name_their_sources():
    shipped, sandbox = writer_editor_v0.raw_env(sandbox="sandlock").sources()
    assert sandbox.name == "sandbox sandlock" and "network: " in sandbox.description()
    assert writer_editor_v0.raw_env(objective=False).sources() == (shipped,)
    assert shipped.licence == "Apache-2.0" and shipped.size == len(writer_editor_v0.raw_env().game.tasks)
    (own,) = writer_editor_v0.raw_env(task="translation", tasks=[NOTE]).sources()
    assert own.size == 1 and not own.licence


def test_translations_are_compared_with_the_reference():
    env = writer_editor_v0.raw_env(task="translation", tasks=[NOTE], n_judges=0)
    env.reset(seed=0)
    env.step("It is rain.")
    env.step("It is raining.")
    about = env.infos["editor_0"]
    assert about["chrf_last"] == about["bleu_last"] == pytest.approx(100)
    assert 0 < about["chrf_first"] < 100 and 0 < about["bleu_first"] < 100
    assert env.rewards["editor_0"] == pytest.approx(10)
    assert env.rewards["writer_0"] == pytest.approx(about["chrf_first"] / 10)


@pytest.mark.slow
def test_matches_without_judges_keep_the_rules_of_all_environments():
    check_environment(
        writer_editor_v0.env, options={"task": "translation", "n_judges": 0, "max_rounds": 2}, seeds=range(2)
    )


def test_metrics_in_other_scripts():
    document = Document("d", "It rains.", "下雨了，快回家。", "en", "zh")
    assert text_metrics.chrf(document.tgt, document) == pytest.approx(100)
    assert text_metrics.bleu(document.tgt, document) == pytest.approx(100)
    assert 0 < text_metrics.bleu("下雨了，回家吧。", document) < 100
    assert text_metrics.chrf("", document) == text_metrics.bleu("", document) == 0
    assert text_metrics.chrf("x", document._replace(tgt="")) is None
    assert text_metrics.bleu("x", document._replace(tgt="")) is None


def test_without_sacrebleu_scores_are_unknown(monkeypatch):
    monkeypatch.setattr(text_metrics.importlib.util, "find_spec", lambda name: None)
    env = writer_editor_v0.raw_env(task="translation", tasks=[NOTE])
    env.reset(seed=0)
    for reply in ("Rain.", "It rains.", "abstain"):
        env.step(reply)
    assert env.infos["writer_0"]["chrf_last"] == env.infos["writer_0"]["bleu_first"] == -1
    with pytest.raises(OptionError, match=r"n_judges: 0 needs sacrebleu, .* pip install 'llmarena-envs\[text\]'"):
        writer_editor_v0.raw_env(task="translation", tasks=[NOTE], n_judges=0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"task": "poem"}, "task: expected one of"),
        ({"tasks": []}, "tasks: expected at least one problem"),
        ({"max_rounds": 0}, "max_rounds"),
        ({"n_judges": -1}, "n_judges"),
        ({"objective": 1}, "objective"),
        ({"src_lang": "de"}, "src_lang: expected None for code review"),
        ({"task": "translation", "tgt_lang": ""}, "tgt_lang: expected a language"),
        ({"task": "translation", "tgt_lang": "d\ne"}, "tgt_lang: expected a language"),
        ({"task": "translation", "src_lang": "ja"}, "expected languages of the documents"),
        (
            {"task": "translation", "tasks": [{**NOTE, "tgt": ""}], "n_judges": 0},
            "expected a reference|needs a reference",
        ),
        ({"consensus_token": ""}, "consensus_token"),
        ({"consensus_token": "over!"}, "consensus_token"),
        ({"consensus_token": "x" * 41}, "consensus_token"),
        ({"consensus_token": 5}, "consensus_token"),
        ({"language": "xx"}, "language"),
        ({"sandbox": "jail"}, "sandbox: expected one of 'auto', 'sandlock'"),
        ({"sandbox": "unisolated", "task": "translation"}, "sandbox: expected one of 'auto'"),
        ({"obs_type": "vector"}, "obs_type"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(OptionError, match=message):
        writer_editor_v0.env(**options)


def test_without_sandbox_judges_are_required(monkeypatch):
    monkeypatch.setattr(module, "find_pass_rate", lambda backend: None)
    with pytest.raises(OptionError, match="n_judges: 0 needs a sandbox"):
        writer_editor_v0.env(n_judges=0)


def test_each_turn_has_the_whole_exchange():
    env = writer_editor_v0.raw_env(objective=False, max_rounds=3)
    env.reset(seed=0)
    said = []
    for number in range(6):
        text = env.observe(env.agent_selection)["text"]
        assert all(each in text for each in said)
        said.append(f"program_{number} = {number}" if number % 2 == 0 else f"Comment {number}.")
        env.step(said[-1] if number % 2 else f"```python\n{said[-1]}\n```")
    assert all(each in env.observe("judge_0")["text"] for each in said)
    assert env.declaration.history == "single_turn"
