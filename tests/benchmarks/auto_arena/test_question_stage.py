"""The questions of a tournament: an examiner writes them first, a file holds them, or they are the public ones."""

import hashlib
import itertools
import json

import pytest

from benchmarks.auto_arena.__main__ import PAPER
from benchmarks.experiments.command import main
from benchmarks.experiments.runs import PlayedRun
from llmarena_envs.debate.questions import DOMAINS, load_questions
from llmarena_envs.debate.questions.files import write_questions
from tests.support.hostile_server import error, hostile_server, say

SMALL = ["--players", "3", "--per-pairing", "8", "--workers", "1"]


def tournament(out, *words):
    return main(PAPER, ["tournament", *SMALL, *map(str, words), "--out", str(out)])


def debated(out):
    """Returns the questions of the battles that were played."""
    run = PlayedRun(out / "tournament" / "tournament")
    return [record.match.options["questions"] for record in run.records("debate_v0")]


def notes(out):
    return json.loads((out / "tournament.json").read_text(encoding="utf-8"))["notes"]


def question(number):
    """Returns a question that resembles no other one."""
    return f"Why is {' '.join(hashlib.sha256(str(number).encode()).hexdigest()[place : place + 8] for place in (0, 8, 16))}?"


def reply(numbers):
    return say("\n".join(f"({place}). {question(number)}" for place, number in enumerate(numbers, start=1)))


def replies(count):
    """Yields replies without end, each of so many new questions."""
    for start in itertools.count(0, count):
        yield reply(range(start, start + count))


def asked(server):
    """Returns the requests for questions; others, for a few tokens, only try whether the model is there."""
    return [request.body for request in server.requests if request.body["max_completion_tokens"] > 16]


@pytest.fixture
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "of no account")


@pytest.fixture
def shipped(tmp_path):
    """A file of two questions of each domain, and the questions."""
    chosen = [each for domain in DOMAINS for each in [q for q in load_questions("builtin") if q.domain == domain][:2]]
    path = tmp_path / "shipped.jsonl"
    path.write_text(write_questions(chosen), encoding="utf-8")
    return path, chosen


@pytest.mark.slow
def test_battles_are_on_the_questions_that_the_examiner_wrote(tmp_path, key):
    with hostile_server(then=replies(10)) as server:
        assert tournament(tmp_path, "--examiner", f"openai:mock:base_url={server.url}") == 0
        requests = asked(server)
        assert len(requests) == 3 * len(DOMAINS)
        assert {(body["temperature"], body["max_completion_tokens"]) for body in requests} == {(0.7, 3000)}
        before = (tmp_path / "tournament.json").read_bytes()
        assert tournament(tmp_path, "--examiner", f"openai:mock:base_url={server.url}") == 0
        assert asked(server) == requests
    written = load_questions(tmp_path / "tournament-questions.jsonl")
    assert [each.domain for each in written] == [domain for domain in DOMAINS for _ in range(30)]
    first = [each.text for each in written[::30]]
    assert [[record["question"] for record in records] for records in debated(tmp_path)] == [first] * 16
    assert notes(tmp_path)[0] == f"questions: 8 written by openai:mock:base_url={server.url}"
    assert (tmp_path / "tournament.json").read_bytes() == before
    again = ["tournament", "--run", str(tmp_path / "tournament"), "--out", str(tmp_path / "again")]
    assert main(PAPER, again) == 0
    assert notes(tmp_path / "again") == notes(tmp_path)


@pytest.mark.slow
def test_the_spec_of_an_examiner_comes_before_the_papers_sampling(tmp_path, key):
    with hostile_server(then=itertools.repeat(reply([0]))) as server:
        spec = f"openai:mock:base_url={server.url},temperature=1.5,max_tokens=77"
        assert tournament(tmp_path, "--examiner", spec, "--count", "1") == 2
        assert {(body["temperature"], body["max_completion_tokens"]) for body in asked(server)} == {(1.5, 77)}


@pytest.mark.slow
def test_an_examiner_that_repeats_itself_is_refused(tmp_path, key, capsys):
    with hostile_server(then=itertools.repeat(reply(range(10)))) as server:
        assert tournament(tmp_path, "--examiner", f"openai:mock:base_url={server.url}") == 2
    said = capsys.readouterr().err
    assert "expected at least 90 % distinct questions, got 10 of 240" in said
    assert "higher temperature" in said
    assert not (tmp_path / "tournament" / "tournament").exists()


@pytest.mark.slow
def test_what_was_written_before_a_failure_is_not_asked_for_again(tmp_path, key):
    trial, written, failing, good = 1, 3, len(DOMAINS) - 3, replies(1)
    answers = itertools.chain(itertools.islice(good, trial + written), [error(400)] * failing, good)
    with hostile_server(then=answers) as server:
        words = ["--examiner", f"openai:mock:base_url={server.url},max_in_flight=1", "--count", "1"]
        assert tournament(tmp_path, *words) == 3
        assert not (tmp_path / "tournament" / "tournament").exists()
        assert tournament(tmp_path, *words) == 0
        prompts = [body["messages"] for body in asked(server)]
    assert len(prompts) == len(DOMAINS) + failing
    assert all(prompts.count(prompt) == 1 for prompt in prompts[:written])
    assert len(debated(tmp_path)) == 16


@pytest.mark.slow
def test_an_examiner_that_plays_is_reported(tmp_path, shipped):
    path, _ = shipped
    assert tournament(tmp_path, "--examiner", f"examiner:questions={path}", "--count", "2", "--policy", "examiner") == 0
    assert [note for note in notes(tmp_path) if "examiner wrote the questions and plays: it has " in note]


@pytest.mark.slow
def test_near_copies_of_public_questions_are_left_out(tmp_path, shipped, capsys):
    path, own = shipped
    public = tmp_path / "public.txt"
    public.write_text(f"Something else?\n{own[0].text.upper().replace(' ', '  ')}!\n", encoding="utf-8")
    words = ["--examiner", f"examiner:questions={path}", "--count", "2", "--public", public]
    assert tournament(tmp_path, *words) == 0
    assert (
        "kept: 15 of 16; of 16 drafts 0 were repeated, 0 no usable questions and 1 near-copies"
        in capsys.readouterr().out
    )
    kept = [each.text for each in load_questions(tmp_path / "tournament-questions.jsonl")]
    assert kept == [each.text for each in own[1:]]


@pytest.mark.slow
def test_a_file_of_questions_is_played(tmp_path, shipped):
    path, own = shipped
    assert tournament(tmp_path, "--questions", path) == 0
    first = [each.text for each in own[::2]]
    assert {tuple(record["question"] for record in records) for records in debated(tmp_path)} == {tuple(first)}
    assert notes(tmp_path)[0] == "questions: 8 of a file"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--examiner", "templates", "--questions", "builtin"], "got --examiner and --questions"),
        (["--examiner", "templates", "--run", "r"], "got --examiner and --run"),
        (["--public", "p.txt"], "public: expected an examiner"),
        (["--examiner", "templates", "--public", "p.txt"], "there is no file 'p.txt'"),
        (["--questions", "{file}", "--per-pairing", "17"], "expected 17 questions or more"),
    ],
)
def test_options_that_cannot_be_are_refused_first(words, said, shipped, tmp_path, capsys):
    assert tournament(tmp_path / "out", *(word.format(file=shipped[0]) for word in words)) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
