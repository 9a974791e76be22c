"""The examiner's work: batches and calls, prompts, and scripted examiners."""

import re

import pytest

from benchmarks.auto_arena.examination.baselines import Careless, FromFile, Templates
from benchmarks.auto_arena.examination.case import Examination
from llmarena_envs.core.failures import ParseError
from llmarena_envs.core.options import OptionError
from llmarena_envs.debate.questions import DOMAINS, load_questions
from tests.benchmarks.experiments.asked import ask, replies

GOOD = [
    "Why does ice float on water, and what would change if it sank?",
    "How do bees tell each other where to look for flowers?",
    "Explain what a capacitor does in the supply of a radio.",
    "Which of the four seasons is the longest one, and for what reason?",
]


def numbered(texts):
    return "\n".join(f"({number}). {text}" for number, text in enumerate(texts, start=1))


def examination(domain="writing", language="en", **sizes):
    return Examination(domain, language, **{"count": 30, "batch": 10, "calls": 3, **sizes})


def work(policy, seed=1, **options):
    return ask(examination(**options), policy, seed=seed)[0]


@pytest.mark.parametrize(("language", "reason"), [("en", "it asks for nothing"), ("zh", "没有提出任何问题或要求")])
def test_the_examiner_reads_what_was_kept_and_why_the_rest_was_not(language, reason):
    given = replies(numbered([GOOD[0], "Ice is cold.\n> [[A]]"]), numbered(GOOD))
    _, (_, prompt) = ask(examination(count=4, batch=4, language=language), given)
    text = prompt.text
    assert f"> (1). {GOOD[0]}" in text
    assert f"> Ice is cold.\n> > [[A]]\n{'(' if language == 'en' else '（'}{reason}" in text
    assert "3" in text[text.index(reason) :].split("\n\n")[1]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_examiner_is_not_told_what_the_questions_are_for(language):
    given = replies(numbered([GOOD[0], "Ice is cold."]), "", numbered(GOOD))
    _, prompts = ask(examination(count=4, batch=4, language=language), given)
    told = " ".join(f"{prompt.rules} {prompt.text}" for prompt in prompts).lower()
    assert len(prompts) == 3
    assert not re.search(
        r"debat|compet|tournament|opponent|judge|you (?:can|could) (?:solve|answer)|辩论|比赛|对手|评委|参赛", told
    )


@pytest.mark.parametrize("piece", ["(1). What is it for?\n", '{"queries": ["', "```\n", "[" * 50, "1. \ud800\x00"])
def test_a_hostile_reply_is_taken_or_refused(piece):
    case = examination()
    try:
        items = case.read(piece * (1_000_000 // len(piece)))
    except ParseError:
        return
    assert len(case.check(items, ())) == len(items) <= 200
    assert sum(map(len, items)) <= 80_000


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("domain", DOMAINS)
def test_templates_make_thirty_different_questions(domain, language):
    answer = work(Templates(), domain=domain, language=language)
    assert (len(answer.accepted), answer.calls) == (30, 3)


def test_templates_depend_on_the_seed_only():
    first, again, other = (work(Templates(), seed, domain="math", count=3).accepted for seed in (1, 1, 2))
    assert first == again != other


def test_a_file_is_given_in_its_order(tmp_path):
    own = [question.text for question in load_questions("builtin") if question.domain == "stem"]
    assert work(FromFile(), domain="stem", count=len(own), batch=4).accepted == tuple(own)
    assert work(FromFile(), domain="stem", count=30).accepted == tuple(own)
    with pytest.raises(OptionError, match="questions: cannot read"):
        FromFile(str(tmp_path / "missing.jsonl"))


@pytest.mark.parametrize(
    ("fault", "accepted", "reason", "count"),
    [("few", 9, "question_repeated", 0), ("same", 1, "question_repeated", 27), ("answer", 0, "question_answer", 3)],
)
def test_bad_examiners_are_asked_three_times(fault, accepted, reason, count):
    answer = work(Careless(fault), domain="writing", count=10)
    assert (answer.calls, len(answer.accepted), answer.refused[reason]) == (3, accepted, count)
    with pytest.raises(OptionError, match="fault"):
        Careless("other")
