"""The package of docs/examples beside ours and a broken one, all installed into a fresh environment."""

import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

RUN = """
seed = 3
stop = { matches = 12 }
environment = [{ name = "dilemma_v0", options = { most_rounds = 4 } }]
policy = [{ spec = "random" }, { spec = "tit_for_tat" }, { spec = "defector" }]
"""

TRAIN = """
import json
from agents.training import Deal

REPLIES = ("<think>Hm.</think> Let us cooperate.", "choice: cooperate")
totals = []
for seed in range(4):
    match = Deal("dilemma_v0", seed, {"player_1": "tit_for_tat"}).match()
    question, asked = match.start_sync(), []
    while question is not None:
        asked.append(question)
        question = match.reply_sync(REPLIES["choice:" in question.new[-1]["content"]])
    last = asked[-1].messages
    said = "\\n".join(message["content"] for message in last if message["role"] == "user")
    rounds = len(asked) // 2
    assert said.count("wrote:") == 2 * rounds, "every message once"
    assert all(step.kind == 0 for step in match.steps)
    assert match.reward("player_0") == 3.0 * rounds == sum(step.reward for step in match.steps)
    totals.append(rounds)
play = [Deal("dilemma_v0", 0).match() for _ in range(2)]
for match in play:  # self-play: both seats learn
    question = match.start_sync()
    while question is not None:
        question = match.reply_sync(REPLIES["choice:" in question.new[-1]["content"]])
assert play[0].episode.digest == play[1].episode.digest
print(json.dumps(totals))
"""


def _run(folder: Path, *command: object, code: int = 0, **variables: str) -> tuple[str, str]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | variables
    done = subprocess.run(list(map(str, command)), cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    return done.stdout, done.stderr


def _llmarena(folder: Path, *arguments: object, code: int = 0, **variables: str) -> tuple[str, str]:
    return _run(folder, Path(sys.executable).with_name("llmarena"), *arguments, code=code, **variables)


def test_environment_is_found_beside_a_broken_package(tmp_path: Path) -> None:
    out, err = _llmarena(tmp_path, "list", "--json")
    rows = {row["name"]: row for row in json.loads(out)}
    assert len(rows) == 13
    assert rows["dilemma_v0"]["title"] == "Iterated dilemma"
    assert rows["dilemma_v0"]["distribution"] == "iterated-dilemma 0.1.0"
    assert err.count("warning: ") == err.count("of broken-games 0.1.0") == 3
    assert "RuntimeError: this package was built for another version" in err
    for name, why in (("broken_v0", "another version"), ("missing_v0", "another version")):
        _, err = _llmarena(tmp_path, "play", name, "--policy", "player_0=random", code=2)
        assert f"environment '{name}' of broken-games 0.1.0" in err
        assert why in err
        assert "Traceback" not in err
    _llmarena(tmp_path, "play", "hanabi_v0", *(f"--policy=player_{seat}=random" for seat in range(2)))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_it_keeps_the_rules_of_the_suite(tmp_path: Path, language: str) -> None:
    out, _ = _llmarena(tmp_path, "check", "dilemma_v0", "--option", f"language={language}")
    *rules, last = out.splitlines()
    assert all(line.startswith("kept   ") for line in rules)
    assert last == f"dilemma_v0 keeps all {len(rules)} rules"


def test_it_is_rated_reported_verified_and_exported(tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text(RUN, encoding="utf-8")
    out, _ = _llmarena(tmp_path, "run", "run.toml", "--out", "run")
    assert "tit_for_tat" in out
    _llmarena(tmp_path, "report", "run")
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "dilemma_v0 is of iterated-dilemma 0.1.0." in page
    out, _ = _llmarena(tmp_path, "replay", "run", "--verify")
    records = [json.loads(line) for line in _llmarena(tmp_path, "export", "run")[0].splitlines()]
    assert f"{len(records)} of {len(records)} finished matches verified" in out
    assert len(records) >= 12


def test_it_is_trained_on(tmp_path: Path) -> None:
    out, _ = _run(tmp_path, sys.executable, "-c", TRAIN)
    assert len(json.loads(out)) == 4


def test_it_is_made_by_its_id(tmp_path: Path) -> None:
    code = "import dilemma, pettingzoo; env = pettingzoo.make('parallel', 'dilemma/dilemma-v0', language='zh'); env.reset(seed=0)"
    _run(tmp_path, sys.executable, "-c", f"{code}; assert len(env.agents) == 2")


def test_it_works_from_a_zip_file(tmp_path: Path) -> None:
    site = Path(sysconfig.get_path("purelib"))
    archive = tmp_path / "dilemma.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for folder in (site / "dilemma", *site.glob("iterated_dilemma-*.dist-info")):
            for path in folder.rglob("*"):
                if "__pycache__" not in path.parts and path.is_file():
                    file.write(path, path.relative_to(site))
    code = "import dilemma.game; print(dilemma.game.__file__)"
    assert str(archive) in _run(tmp_path, sys.executable, "-c", code, PYTHONPATH=str(archive))[0]
    policies = ("--policy=player_0=tit_for_tat", "--policy=player_1=random", "--option=language=zh")
    out, _ = _llmarena(tmp_path, "play", "dilemma_v0", *policies, "--json", PYTHONPATH=str(archive))
    assert "现在是第 1 轮" in json.loads(out)["turns"][0]["read"]
