"""Toxicity: hits of the lexicon, a custom scorer, and means beside the published ones."""

import json

import pytest

from benchmarks.experiments.command import main
from benchmarks.simulbench.__main__ import PAPER
from benchmarks.simulbench.toxicity.lexicon import ATTRIBUTES, score_by_lexicon
from llmarena_envs.simulation.scripts import Message, Script, write_scripts


def attributes(text):
    (scores,) = score_by_lexicon([text])
    return {attribute: score for attribute, score in scores.items() if score}


def test_a_score_is_the_share_of_sentences():
    assert attributes("You idiot! Print the queue. Then stop. Thanks.") == {"toxicity": 0.25, "insult": 0.25}
    every = ("toxicity", "severe toxicity", "insult", "profanity", "threat")
    assert attributes("I will kill you, damn fool") == dict.fromkeys(every, 1.0)
    assert attributes("") == {}


@pytest.mark.parametrize(
    "text",
    [
        "kill 4711: no such process",
        "Women and men over 40, by age.",
        "A scumble of classic assets in Scunthorpe; hello",
        "I hate rain",
        "Anything else makes the cheque worthless.",
    ],
)
def test_plain_words_have_no_toxicity(text):
    assert attributes(text) == {}


def test_group_is_attacked_by_insult_or_hostility_in_a_sentence():
    assert "identity attack" in attributes("All foreigners are stupid.")
    assert attributes("Foreigners do not belong here.") == {"toxicity": 1.0, "identity attack": 1.0}
    assert "identity attack" not in attributes("Foreigners came. How stupid of me.")
    assert attributes("外国人滚出去。") == {"toxicity": 1.0, "identity attack": 1.0}


def row(tmp_path, *words):
    scripts = [
        Script(str(number), "task", "Terminal", "Be a terminal.", "stateful", "a.json", 0, (Message("user", text),))
        for number, text in enumerate(("You idiot. Go on.", "ls", "pwd", "ls -l"))
    ]
    (tmp_path / "scripts.jsonl").write_text(write_scripts(scripts), encoding="utf-8")
    path = str(tmp_path / "scripts.jsonl")
    return main(PAPER, ["t3", "--scripts", path, "--out", str(tmp_path / "out"), *words])


def test_means_are_printed_beside_published_ones(tmp_path):
    assert row(tmp_path) == 0
    report = json.loads((tmp_path / "out" / "t3.json").read_text(encoding="utf-8"))
    means, highest = report["tables"]
    insult = next(line for line in means["rows"] if line["attribute"] == "insult")
    assert (insult["tasks (published)"], insult["scripts (published)"]) == (0.02, 0.03)
    assert insult["scripts (measured)"]["value"] == pytest.approx(0.5 / 4)
    assert insult["scripts (measured)"]["n"] == 4
    assert insult["scripts (measured)"]["high"] is None  # one task tells little
    assert [(line["text"], line["id"]) for line in highest["rows"]] == [("script", "0")]
    assert any("lexicon" in note for note in report["notes"])


@pytest.mark.slow
def test_shipped_tasks_have_no_toxicity(tmp_path):
    for language in ("en", "zh"):
        assert main(PAPER, ["t3", "--language", language, "--out", str(tmp_path / language)]) == 0
        means = json.loads((tmp_path / language / "t3.json").read_text(encoding="utf-8"))["tables"][0]["rows"]
        assert {line["tasks (measured)"]["value"] for line in means} == {0}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return [{name.upper().replace(' ', '_'): 0.5 for name in ATTRIBUTES} for text in texts]", None),
        ("return [{name: 0.5 for name in ATTRIBUTES}]", "got 1"),
        ("return [{name: 1.5 for name in ATTRIBUTES} for text in texts]", "text 1: expected 'toxicity' as a number"),
        ("return [{name: 0.5 for name in ATTRIBUTES[:5]} for text in texts]", "expected 'threat'"),
        ("return [0.5 for text in texts]", "expected a mapping"),
        ("raise RuntimeError('no model')", "RuntimeError: no model"),
    ],
)
def test_custom_scorer_is_used_and_validated(tmp_path, monkeypatch, capsys, body, expected):
    module = f"scorer_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{module}.py").write_text(f"ATTRIBUTES = {ATTRIBUTES!r}\ndef score(texts):\n    {body}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert row(tmp_path, "--scorer", f"{module}:score") == (2 if expected else 0)
    if expected:
        assert expected in capsys.readouterr().err
    else:
        means = json.loads((tmp_path / "out" / "t3.json").read_text(encoding="utf-8"))["tables"][0]["rows"]
        assert {line["scripts (measured)"]["value"] for line in means} == {0.5}
