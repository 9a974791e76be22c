"""The tasks that come with the package."""

import ast
import contextlib
from collections import Counter

import pytest

from llmarena_envs.writer_editor.segments import MAX_CHARS, MAX_SENTENCES, sentences
from llmarena_envs.writer_editor.tasks import shipped_documents, shipped_problems

PROBLEMS = shipped_problems()
DOCUMENTS = shipped_documents()


def passed(program, problem):
    """Returns how many tests a program of ours passes, in this process; the sandbox has tests of its own."""
    names = {}
    exec(f"{problem.test_setup_code}\n{program}", names)
    count = 0
    for test in problem.test_list:
        with contextlib.suppress(Exception):
            exec(test, dict(names))
            count += 1
    return count


@pytest.mark.parametrize("problem", PROBLEMS, ids=[problem.task_id for problem in PROBLEMS])
def test_the_solution_passes_all_tests_and_the_mistake_fails_some(problem):
    assert len(set(problem.test_list)) >= 6
    assert passed(problem.code, problem) == len(problem.test_list)
    assert 0 < passed(problem.buggy_code, problem) < len(problem.test_list)
    assert all(
        isinstance(ast.parse(test).body[0], ast.Assert) and problem.entry_point in test for test in problem.test_list
    )


@pytest.mark.parametrize("problem", PROBLEMS, ids=[problem.task_id for problem in PROBLEMS])
def test_a_problem_can_be_understood_without_its_tests(problem):
    assert problem.assignment.signature.startswith(f"{problem.entry_point}(")
    assert problem.text.endswith(".") and problem.bug.endswith(".")
    told = repr(problem.assignment)
    assert not any(secret in told for secret in (problem.code, problem.buggy_code, problem.bug, *problem.test_list))
    for program in (problem.code, problem.buggy_code):
        assert program == program.strip("\n") + "\n"
        assert max(map(len, program.splitlines())) <= 120


def test_shipped_problems_are_many_and_distinct():
    assert len(PROBLEMS) >= 64
    for field in ("text", "entry_point", "code", "buggy_code", "bug"):
        assert Counter(getattr(problem, field) for problem in PROBLEMS).most_common(1)[0][1] == 1


@pytest.mark.parametrize("document", DOCUMENTS, ids=[document.doc_id for document in DOCUMENTS])
def test_a_document_fits_into_one_segment_and_has_a_reference(document):
    assert ", part " not in document.doc_id
    assert len(document.src) <= MAX_CHARS and len(sentences(document.src)) <= MAX_SENTENCES
    assert document.src != document.tgt and document.tgt
    assert document.tgt not in repr(document.assignment)
    chinese = [any("\u4e00" <= sign <= "\u9fff" for sign in text) for text in (document.src, document.tgt)]
    assert chinese == [language == "zh" for language in (document.src_lang, document.tgt_lang)]


def test_shipped_documents_cover_three_language_pairs():
    pairs = Counter((document.src_lang, document.tgt_lang) for document in DOCUMENTS)
    assert set(pairs) == {("de", "en"), ("en", "fr"), ("en", "zh")}
    assert min(pairs.values()) >= 12
    assert len({document.src for document in DOCUMENTS}) == len(DOCUMENTS)
