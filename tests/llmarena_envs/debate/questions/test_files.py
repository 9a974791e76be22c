"""Files of questions: their forms, and errors that name the line."""

import json

import pytest

from llmarena_envs.core.options import OptionError
from llmarena_envs.debate.questions import DOMAINS, Question, load_questions
from llmarena_envs.debate.questions.domains import read_domain
from llmarena_envs.debate.questions.examiner import screen
from llmarena_envs.debate.questions.files import first_of_each_domain, question_source, write_questions

RECORDS = [
    {"domain": "STEM knowledge", "id": 7, "question": " Why is the sky blue? ", "reference": "Rayleigh scattering"},
    {"domain": "humanities/social science knowledge", "id": "b", "question": "Why do languages die?"},
]
QUESTIONS = (
    Question("7", "stem", "Why is the sky blue?", "Rayleigh scattering"),
    Question("b", "humanities", "Why do languages die?"),
)


@pytest.mark.parametrize(
    ("spelling", "domain"),
    [
        ("Writing", "writing"),
        (" role-play ", "roleplay"),
        ("Information_Extraction", "extraction"),
        ("MATHEMATICS", "math"),
        ("STEM", "stem"),
        ("Humanities/Social Science", "humanities"),
        ("humanities / social science knowledge", "humanities"),
        ("数学", "math"),
        *((domain, domain) for domain in DOMAINS),
    ],
)
def test_spellings_of_domains(spelling, domain):
    assert read_domain(spelling) == domain


def test_records_a_file_of_them_and_a_table_are_the_same(tmp_path):
    lines = tmp_path / "questions.jsonl"
    lines.write_text("\ufeff" + "\r\n".join(map(json.dumps, RECORDS)) + "\r\n\r\n", encoding="utf-8")
    table = tmp_path / "questions.CSV"
    table.write_text(
        "ID,Domain,question,reference,notes\r\n7,stem, Why is the sky blue? ,Rayleigh scattering,x\r\n\r\n"
        "b,humanities,Why do languages die?\r\n",
        encoding="utf-8",
    )
    assert load_questions(RECORDS) == load_questions(lines) == load_questions(str(table)) == QUESTIONS


def test_a_cell_of_a_table_may_hold_commas_quotes_and_lines(tmp_path):
    table = tmp_path / "questions.csv"
    table.write_text('domain,id,question\nmath,1,"Is ""1, 2""\n\na sequence?"\nmath,1,Why?\n', encoding="utf-8")
    with pytest.raises(
        OptionError, match=r"questions.csv, line 5: id: '1' occurs twice; first at .*questions.csv, line 2$"
    ):
        load_questions(table)
    table.write_text('domain,id,question\nmath,1,"Is ""1, 2""\n\na sequence?"\n', encoding="utf-8")
    assert load_questions(table)[0].text == 'Is "1, 2"\n\na sequence?'


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"domain": "maht"}, r"domain: expected one of writing, .*, got 'maht'; did you mean 'math'"),
        ({"domain": None}, r"expected a field 'domain'"),
        ({"id": "7"}, r"id: '7' occurs twice; first at .*line 1$"),
        ({"id": None}, r"expected a field 'id'"),
        ({"id": True}, r"id: expected a text, got True"),
        ({"id": 1.5}, r"id: expected a text, got 1.5"),
        ({"question": "  "}, r"expected a field 'question'"),
        ({"question": ["a"]}, r"question: expected a text, got \['a'\]"),
        ({"question": "x" * 20_001}, r"question: expected at most 20000 characters"),
        ({"question": "\ud800?"}, r"question: expected a text in Unicode"),
        ({"reference": 4}, r"reference: expected a text, got 4"),
    ],
)
def test_a_wrong_record_is_named(tmp_path, change, message):
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(map(json.dumps, [RECORDS[0], RECORDS[1] | change])), encoding="utf-8")
    with pytest.raises(OptionError, match=rf"^questions: .*mine.jsonl, line 2: {message}"):
        load_questions(path)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", b"", "expected at least one question, got none"),
        ("a.jsonl", b"{", "a.jsonl, line 1: expected a JSON object"),
        ("a.csv", b"id,question\n1,Why?\n", "a.csv, line 1: expected names of columns such as domain, id, question"),
        ("a.csv", b"domain,id,question\nmath,1,Why?,,,\n", "a.csv, line 2: expected 3 columns, got 6"),
        ("a.csv", b'domain,id,question\nmath,1,"Why?\n', "a.csv, line 2: expected a row of a table"),
        ("a.csv", b"domain,id,question\nmath,1,\xff\n", "cannot read"),
    ],
)
def test_a_wrong_file_is_named(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(OptionError, match=message):
        load_questions(path)


@pytest.mark.parametrize("source", [5, None, {"domain": "math"}, "no such file", "builtim"])
def test_no_source_of_questions(source):
    with pytest.raises(OptionError, match=r"^questions: "):
        load_questions(source)


def test_question_file_round_trips(tmp_path):
    questions = (*QUESTIONS, Question("c", "coding", '引号 "\u2028\n\ttab', "\\"))
    path = tmp_path / "out.jsonl"
    path.write_text(write_questions(questions), encoding="utf-8")
    assert load_questions(path) == questions


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_shipped_questions_pass_the_checks_of_an_examiner(language):
    questions = load_questions("builtin", language)
    assert question_source("builtin", language, len(questions)).size == len(questions)
    known = []
    for question in questions:
        (draft,) = screen([question.text], question.domain, language, known)
        assert draft.refused is None, question
        known.append(question.text)


def test_another_language_has_no_questions():
    with pytest.raises(OptionError, match="language: expected one of 'en', 'zh', got 'fr'"):
        load_questions("builtin", "fr")


def test_the_first_of_each_domain_come_domain_by_domain():
    domains = ("stem", "math", "math", "writing", "math")
    questions = [Question(str(number), domain, "Why?") for number, domain in enumerate(domains)]
    assert first_of_each_domain(questions, 2) == [3, 1, 2, 0]
