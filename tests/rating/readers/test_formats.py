"""Every format: its battles, its recognition, and the errors."""

import gzip
import json
import zipfile

import pytest

from llmarena_envs.core.options import OptionError
from rating.readers import open_log, read_battles
from rating.readers.formats import FORMATS
from rating.stats.results import Battle

ARENA = [
    {
        "question_id": "58a1", "model_a": "alpha-7b", "model_b": "beta", "winner": "model_b", "judge": "arena_user_9",
        "conversation_a": [{"role": "user", "content": "hi"}], "turn": 1, "anony": True, "language": "English",
        "tstamp": 1682351591.1,
    },
    {"question_id": "58a2", "model_a": "beta", "model_b": "gamma", "winner": "tie (bothbad)", "judge": "arena_user_9"},
]  # fmt: skip
ARENA_BATTLES = [Battle("alpha-7b", "beta", 0.0, "58a1"), Battle("beta", "gamma", 0.5, "58a2")]
COMMITTEE = {
    "gamekey": [31, "x", "y"],
    "judges": ["Ann", "bob"],
    "ann": {"winner": ["A", "Tie"]},
    "bob": {"winner": ["B", None]},
}


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text if isinstance(text, str) else json.dumps(text), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("battles", json.dumps(ARENA), ARENA_BATTLES),
        ("battles", json.dumps(ARENA, indent=2), ARENA_BATTLES),
        ("battles", "".join(json.dumps(row) + "\n" for row in ARENA), ARENA_BATTLES),
        (
            "battles",
            "model_a,model_b,winner,judge,turn,tstamp\na,b,model_a,u,1,1.5\nb,a,both_bad,u,1,2\n",
            [Battle("a", "b", 1.0), Battle("b", "a", 0.5)],
        ),
        (
            "battles",
            "id,model_a,model_b,prompt,winner_model_a,winner_model_b,winner_tie\n7,a,b,,0,1,0\n8,a,b,,0,0,1\n",
            [Battle("a", "b", 0.0), Battle("a", "b", 0.5)],
        ),
        (
            "battles",
            "model_a,model_b,winner,score,weight,question_id\na,b,model_a,0.7,2.5,q\na,b,tie,,,q\n",
            [Battle("a", "b", 0.7, "q", 2.5), Battle("a", "b", 0.5, "q")],
        ),
        (
            "pairwise",
            "left,right,winner,worker,prompt\nx,y,left,1,8\nx,y,tie,2,8\n",
            [Battle("x", "y", 1.0, "8"), Battle("x", "y", 0.5, "8")],
        ),
        (
            "battles",
            "model_a,model_b,winner\ngpt  4,\x1by,gpt  4\ngpt 4,\x1by,\x1by\n",
            [Battle("gpt 4", "\\x1by", 1.0), Battle("gpt 4", "\\x1by", 0.0)],
        ),
        ("pairwise", "worker\tleft\tright\tlabel\nw1\tpizza\tsushi\tsushi\n", [Battle("pizza", "sushi", 0.0)]),
        (
            "verdicts",
            "item,judge,verdict,a,b,order,stage\nq,j,A,x,y,,final\nq,j,A,x,y,BA,\nq,k,A,x,y,,first\nq,k,,x,y,,final\n",
            [Battle("x", "y", 1.0, "q"), Battle("y", "x", 1.0, "q")],
        ),
        ("auto-arena", json.dumps(COMMITTEE) + "\n", [Battle("x", "y", 0.5, "31")]),
        (
            "matrix",
            "model,A,b,c\nA,,2,1.5\nb,0,-,\nc,0.5,0,0\n",
            [Battle("A", "b", 1.0)] * 2 + [Battle("A", "c", 1.0), Battle("A", "c", 0.5)],
        ),
    ],
)
def test_battles_of_rows_and_their_format(tmp_path, name, text, expected):
    path = write(tmp_path / "log.txt", text)
    assert open_log([path]).format == name
    assert read_battles(path) == expected
    assert read_battles(str(path), format=name) == expected


def sample(document, **metrics):
    row = {
        "doc_id": document,
        "doc": {"q": 1},
        "target": "x",
        "arguments": {},
        "resps": [["x"]],
        "filtered_resps": ["x"],
    }
    return json.dumps({**row, "doc_hash": f"h{document}", **metrics}) + "\n"


def test_battles_of_lm_eval_samples(tmp_path):
    date = "2025-01-02T03-04-05.678901"
    first = write(tmp_path / "m1" / f"samples_arc_easy_{date}.jsonl", "".join(sample(i, acc=i % 2) for i in range(3)))
    write(tmp_path / "m1" / f"results_{date}.json", {"model_name": "org/first"})
    second = write(tmp_path / "org__second" / f"samples_arc_easy_{date}.jsonl", sample(0, acc=0.0) + sample(2, acc=1.0))
    assert open_log([first, second]).format == "lm-eval"
    assert read_battles([first, second]) == [
        Battle("org/first", "org__second", 0.5, "arc_easy: h0"),
        Battle("org/first", "org__second", 0.0, "arc_easy: h2"),
    ]
    with pytest.raises(OptionError, match="expected files of two models or more"):
        read_battles([first])
    clash = write(first.with_name("samples_arc_easy_2025-01-03T00-00-00.0.jsonl"), sample(0, acc=1))
    other = write(tmp_path / "m1" / "samples_arc_easy_2025-01-04T00-00-00.0.jsonl", sample(0, acc=1))
    with pytest.raises(OptionError, match="expected one file of m1 for arc_easy"):
        read_battles([clash, other])


def test_lm_eval_metric_where_less_is_better(tmp_path):
    date = "2025-01-02T03-04-05.678901"
    paths = [
        write(tmp_path / name / f"samples_t_{date}.jsonl", sample(1, wer=score))
        for name, score in (("x", 0.1), ("y", 0.9))
    ]
    assert [battle.score for battle in read_battles(paths)] == [0.0]
    told = {"model_name": "x", "higher_is_better": {"t": {"wer": False}, "u": None}}
    write(tmp_path / "x" / f"results_{date}.json", json.dumps(told))
    assert [battle.score for battle in read_battles(paths)] == [1.0]


def test_several_metrics_require_a_choice(tmp_path):
    paths = [
        write(
            tmp_path / model / "samples_gsm8k.jsonl",
            "".join(
                sample(0, metrics=["exact_match"], filter=kind, exact_match=float(good == kind), other=3)
                for kind in ("strict-match", "flexible-extract")
            ),
        )
        for model, good in (("a", "strict-match"), ("b", "flexible-extract"))
    ]
    for asked in ("", "exact_match", "acc"):
        with pytest.raises(OptionError, match=r"--metric .*exact_match,flexible-extract, exact_match,strict-match"):
            read_battles(paths, metric=asked)
    assert [one.score for one in read_battles(paths, metric="exact_match,strict-match")] == [1.0]
    assert [one.score for one in read_battles(paths, metric="exact_match,flexible-extract")] == [0.0]


def inspect_log(model, **scores):
    """A log with a grade of each sample, in the order of epochs."""
    samples = [
        {"id": key, "epoch": epoch, "scores": {"match": {"value": value}}}
        for key, values in scores.items()
        for epoch, value in enumerate(values, 1)
    ]
    return {"version": 2, "status": "success", "eval": {"task": "arith", "model": model}, "samples": samples}


@pytest.mark.parametrize("layout", ["json", "summaries", "samples"])
def test_battles_of_inspect_logs(tmp_path, layout):
    logs = [inspect_log("openai/a", s1="C", s2="CI", s3=[0.25]), inspect_log("b", s1="I", s2="PP", s3=["0.5"], s4="C")]
    paths = [tmp_path / f"{index}.{'json' if layout == 'json' else 'eval'}" for index in range(2)]
    for path, log in zip(paths, logs, strict=True):
        if layout == "json":
            write(path, json.dumps(log, indent=2))
            continue
        samples = log.pop("samples")
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("header.json", json.dumps(log))
            if layout == "summaries":
                archive.writestr("summaries.json", json.dumps(samples))
            for one in samples if layout == "samples" else samples[:1]:
                archive.writestr(f"samples/{one['id']}_epoch_{one['epoch']}.json", json.dumps(one))
    assert open_log(paths).format == "inspect"
    assert sorted((one.first, one.second, one.score, one.deal) for one in read_battles(paths)) == [
        ("b", "openai/a", 0.0, "arith: s1"),
        ("b", "openai/a", 0.5, "arith: s2"),
        ("b", "openai/a", 1.0, "arith: s3"),
    ]


def test_unknown_or_ambiguous_format_is_refused(tmp_path):
    unknown = write(tmp_path / "unknown.csv", "name,points\nx,3\n")
    with pytest.raises(OptionError, match=rf"(?s)no format is recognised.*name, points.*{'.*'.join(FORMATS)}"):
        read_battles(unknown)
    spread = write(tmp_path / "spread.json", json.dumps({"model_a": "x"}, indent=1))
    with pytest.raises(OptionError, match="no format is recognised, line 1: expected JSON, but"):
        read_battles(spread)
    packed = tmp_path / "votes.csv.gz"
    packed.write_bytes(gzip.compress(b"model_a,model_b,winner\nx,y,tie\n"))
    with pytest.raises(OptionError, match="got gzip; unpack or convert it"):
        read_battles(packed)
    both = write(tmp_path / "both.csv", "model_a,model_b,left,right,winner\na,b,x,y,left\n")
    with pytest.raises(OptionError, match="could be of the formats battles or pairwise; say --log-format"):
        read_battles(both)
    assert read_battles(both, "pairwise") == [Battle("x", "y", 1.0)]
    arena = write(tmp_path / "arena.json", ARENA)
    pairs = write(tmp_path / "pairs.csv", "left,right,winner\nx,y,left\n")
    with pytest.raises(OptionError, match="expected files of one format, got pairwise"):
        read_battles([arena, pairs])
    with pytest.raises(OptionError, match="format: expected one of"):
        read_battles(arena, "elo")
