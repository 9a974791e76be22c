"""The row that writes a battle out."""

from itertools import repeat

import pytest
from gymnasium.error import DependencyNotInstalled

from benchmarks.auto_arena import pool
from benchmarks.auto_arena.__main__ import PAPER
from benchmarks.auto_arena.battle import Options, plan
from benchmarks.experiments.command import main
from llmarena_envs.core.options import OptionError
from tests.support.hostile_server import hostile_server, say

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    out = tmp_path_factory.mktemp("battle")
    assert main(PAPER, ["battle", "--smoke", "--out", str(out)]) == 0
    return out


def test_a_battle_is_written_out_with_its_verdicts(out):
    markdown, text = ((out / f"battle-match-0.{ending}").read_text() for ending in ("md", "txt"))
    assert markdown.startswith(("## Match 0: `ash` v `beech`\n", "## Match 0: `beech` v `ash`\n"))
    for number in (1, 2, 3):
        assert f"### Round {number}\n" in markdown and f"\n--- Round {number}\n" in text
    assert markdown.count("): A responds\n") == markdown.count("): B responds\n") == 3
    assert "*hidden from debater_1*\n\n```text\nThis turn has room" in markdown
    assert text.count("(cedar): verdict:") == 2
    judges = [line.split(",") for line in (out / "battle.csv").read_text().splitlines()[1:]]
    assert [row[3].split()[-1] for row in judges] == ["(cedar)", "(dogwood)", "(elm)", "(fir)", "(ginkgo)", "committee"]
    assert all((row[4] != row[5]) == (row[6] == "yes") for row in judges)
    ends = {"A": "A wins: ", "B": "B wins: ", "tie": "A tie"}
    assert f"\n--- {ends[judges[-1][5]]}" in text


def test_battle_accepts_a_custom_question(tmp_path, capsys):
    command = ["battle", "--out", str(tmp_path), "--question", "Why is the sky blue?"]
    assert main(PAPER, command) == 2
    assert "domain: expected that of the question" in capsys.readouterr().err
    assert main(PAPER, [*command, "--domain", "stem"]) == 0
    assert "The question (STEM knowledge)\n  Why is the sky blue?" in (tmp_path / "battle-match-0.txt").read_text()


def test_scripted_judges_of_a_model_need_a_flag_and_are_warned_of(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "unused")
    with hostile_server(
        then=repeat(say("<respond>Yes.</respond>\n<criticize>No.</criticize>\n<raise>Why?</raise>"))
    ) as server:
        command = ["battle", "--smoke", "--out", str(tmp_path), "--policy", f"openai:gpt-4o:base_url={server.url}"]
        assert main(PAPER, command) == 2
        assert "scripted judges (cedar, dogwood, elm, fir, ginkgo) score models (openai:gpt-4o" in (
            error := capsys.readouterr().err
        )
        assert "--judge" in error and "--scripted-judges" in error
        assert server.requests == [] and list(tmp_path.iterdir()) == []
        assert main(PAPER, [*command, "--scripted-judges"]) == 0
    page = (tmp_path / "battle.md").read_text(encoding="utf-8")
    assert "- **Warning**: debate_v0: scripted judges" in page
    assert "llmarena-envs (word counter); play digest" in page or "tiktoken (cl100k_base); play digest" in page


@pytest.mark.parametrize(
    ("policy", "error", "counter"),
    [
        ("openai:gpt-4o", None, "tiktoken"),
        ("openai:gpt-4o", OptionError("no vocabulary"), None),
        ("openai:gpt-4o", DependencyNotInstalled("no tiktoken"), None),
        ("debater", None, None),
    ],
)
def test_lengths_of_models_are_counted_in_tokens_if_possible(monkeypatch, policy, error, counter):
    def text_counter(name, language):
        if error:
            raise error

    monkeypatch.setattr(pool, "text_counter", text_counter)
    (config,) = plan(Options(policy=(policy,), judge=("openai:judge",))).values()
    assert config.options("debate_v0").get("counter") == counter
