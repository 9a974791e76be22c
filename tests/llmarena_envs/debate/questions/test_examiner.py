"""The examiner: its prompt, the parsing of its replies, and the selection of questions."""

import re

import pytest

from llmarena_envs.core.prompts import PromptError
from llmarena_envs.debate.questions import DOMAINS
from llmarena_envs.debate.questions.checks import MAX_QUESTION, check_question
from llmarena_envs.debate.questions.examiner import REASONS, examiner_prompt, examiner_prompts, screen
from llmarena_envs.debate.questions.replies import MAX_READ, read_questions

PASSAGE = (
    " The mill on the river was rebuilt in 1783 after a flood that had carried away its wheel and both of its doors."
)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("domain", DOMAINS)
def test_prompt_states_the_task(language, domain):
    prompt = examiner_prompt(domain, 10, language)
    announced = int(re.search(r"(?:these|以下) (\d+) (?:rules|条规则)", prompt)[1])
    listed = [int(number) for number in re.findall(r"^(\d+)\. ", prompt, re.MULTILINE)]
    assert listed == list(range(1, announced + 1))
    assert "10" in prompt.splitlines()[0]
    assert "(1)." in prompt
    for part in ("domain", "command", "example"):
        assert examiner_prompts(language).render(f"{part}_{domain}") in prompt


@pytest.mark.parametrize("language", ["en", "zh"])
def test_prompt_hides_the_examiners_participation(language):
    # Without the examples: their subjects are no instructions.
    texts = examiner_prompts(language)
    for domain in DOMAINS:
        parts = {part: texts.render(f"{part}_{domain}") for part in ("domain", "command")}
        told = texts.render("examiner", count=10, example="", **parts).lower()
        assert not re.search(r"debate|compet|tournament|opponent|judge|participa|win\b|yourself", told)
        assert not re.search(r"you (?:can|could|are able|know|solve|answer)|your own", told)
        assert not re.search(r"辩论|比赛|竞争|对手|评委|评判|参赛|参加|你自己|你能|你会", told)


def test_one_query_is_asked_for_in_the_singular():
    assert examiner_prompt("math", 1, "en").startswith("Draft 1 query in")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_examples_pass_the_checks_and_every_reason_has_a_text(language):
    texts = examiner_prompts(language)
    for domain in DOMAINS:
        assert check_question(texts.render(f"example_{domain}")) is None
    for name in REASONS:
        assert texts.render(f"reason_{name}", characters=5000, most=MAX_QUESTION, named="the text above")
    with pytest.raises(PromptError):
        texts.render("reason_question_other")


@pytest.mark.parametrize(
    "reply",
    [
        "(1). What is A?\n(2). Explain B.",
        "1. What is A?\n2. Explain B.",
        "1) What is A?\n\n2) Explain B.\n",
        "（1）What is A?\n（2）Explain B.",
        "（1）．What is A?\n（2）．Explain B.",
        "１．What is A?\n２．Explain B.",
        "1、What is A?\n2、Explain B.",
        "第1题：What is A?\n第2题：Explain B.",
        "**1.** What is A?\n**2.** Explain B.",
        "**1. What is A?**\n**2. Explain B.**",
        "### 1. What is A?\n### 2. Explain B.",
        "1\\. What is A?\n2\\. Explain B.",
        "[1] What is A?\n[2] Explain B.",
        "Question 1: What is A?\nQuestion 2: Explain B.",
        "Q1. What is A?\nQ2. Explain B.",
        "1. What is A?\n1. Explain B.",
        "1. **Query:** What is A?\n2. **Query:** Explain B.",
        '(1). "What is A?"\n(2). "Explain B."',
        "1.\nWhat is A?\n2.\nExplain B.",
        "(11). What is A?\r\n(12). Explain B.",
        "Sure! Here are 2 queries:\n\n(1). What is A?\n(2). Explain B.",
        "(1). What is A?\n(2). Explain B.\n\nLet me know if you need more!",
        "```\n(1). What is A?\n(2). Explain B.\n```",
        "Here you are:\n```text\n(1). What is A?\n(2). Explain B.\n```\n",
        "<think>(1). What is Z?</think>(1). What is A?\n(2). Explain B.",
        '["What is A?", "Explain B."]',
        '```json\n[\n  "(1). What is A?",\n  "(2). Explain B.",\n]\n```',
        "['What is A?', 'Explain B.']",
        '{"queries": [{"question": "What is A?"}, {"question": "Explain B."}]}',
        '{"domain": "math", "question": "What is A?"}\n{"domain": "math", "question": "Explain B."}',
        'Here is the list:\n["What is A?", "Explain B."]',
        "- What is A?\n- Explain B.",
        "(1). What is A?\n\n---\n\n(2). Explain B.\n---",
    ],
)
def test_forms_of_a_list(reply):
    assert read_questions(reply) == ["What is A?", "Explain B."]


@pytest.mark.parametrize(
    ("reply", "questions"),
    [
        ("", []),
        (" \n", []),
        ("1.\n2.\n", []),
        ("<think>(1). What is A?", []),
        ("What is A?\nWhat is B?\n", ["What is A?", "What is B?"]),
        ("Here is a query:\nWrite about A.\nUse rhymes.", ["Write about A.\nUse rhymes."]),
        ("Sort the list ['b', 'a'] by hand.", ["Sort the list ['b', 'a'] by hand."]),
        (
            "(1). Who came?\nContext: A man.\n\nHe was 1. tall, 2. old.\n(2). Why?",
            ["Who came?\nContext: A man.\n\nHe was 1. tall, 2. old.", "Why?"],
        ),
        ("(1). Be a cook:\n1. be rude\n2. be quick\n(2). Why?", ["Be a cook:\n1. be rude\n2. be quick", "Why?"]),
        (
            "1. Be a cook:\n   1. be rude\n   2. be quick\n2. Why?",
            ["Be a cook:\n   1. be rude\n   2. be quick", "Why?"],
        ),
        ("1. Fix:\n```python\n1. x\n```\n2. Why?", ["Fix:\n```python\n1. x\n```", "Why?"]),
        ("```\n1. Fix:\n```python\n2. x\n```\n2. Why?\n```", ["Fix:\n```python\n2. x\n```", "Why?"]),
        ("1. Is it\n2.5 km or 3,1 km?\n2. Why?", ["Is it\n2.5 km or 3,1 km?", "Why?"]),
        ('["Find 1. the sum, 2. the mean of 3 and 4."]', ["Find 1. the sum, 2. the mean of 3 and 4."]),
        ("(1). What is\x00 A\ud800?", ["What is A?"]),
        ("(1). What does `def f(*args)` do with __init__?", ["What does `def f(*args)` do with __init__?"]),
    ],
)
def test_what_belongs_to_a_question(reply, questions):
    assert read_questions(reply) == questions


@pytest.mark.slow_except(2)
@pytest.mark.parametrize(
    "piece",
    [
        "(1). ",
        "1. a\n",
        "```\n",
        "```x\n",
        "[",
        '{"a": [',
        "**",
        "_",
        "(1)",
        "\n",
        "? ",
        "　１",
        "第1",
        "Question ",
        "\\",
        "#",
        "- ",
        '"',
    ],
)
def test_a_hostile_reply_is_read(piece):  # and soon: none of these may take more than linear time
    questions = read_questions(piece * (200_000 // len(piece)))
    for question in questions:
        check_question(question)
    assert len(questions) <= MAX_READ


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "question_empty"),
        (" ... ?!", "question_empty"),
        ("Why?", "question_short"),
        ("为何？", "question_short"),
        ("What is it? " * 400, "question_long"),
        ("The capital of France is Paris, which lies on the Seine.", "question_asks_nothing"),
        ("法国的首都是巴黎，位于塞纳河畔。", "question_asks_nothing"),
        ("Answer: 42, since 6 times 7 is 42.", "question_answer"),
        ("I'm sorry, but I can't help with that. What else?", "question_answer"),
        ("好的，下面是问题：什么是质数？", "question_answer"),
        ("What is 6 times 7 plus 1?\n**Answer:** 43", "question_answer"),
        ("质数有多少个？\n答案：无穷多个", "question_answer"),
        ("Summarise the text above in three sentences.", "question_context"),
        ("What is the main claim of the following passage?", "question_context"),
        ("请根据上述材料回答：谁最先到达？", "question_context"),
        ("如图所示，求角 A 的大小。", "question_context"),
        ("What does the chart below show about prices?", "question_context"),
        ("Translate the attached file into English.", "question_context"),
        ("What is the main claim of the following passage?" + PASSAGE, None),
        (PASSAGE + " What does the above passage say about doors?", None),
        ("I cannot sleep at night. What should I do first?", None),
        ("Design a schema for the lending desk of a library", None),
        ("You are a pirate. Speak like one. Greet me.", None),
        ("Given that x + 1/x = 3, find x^5 + 1/x^5.", None),
        ("请写一封感谢信。", None),
        ("Write an email that reminds a colleague of the attached report.", None),
    ],
)
def test_checks(text, reason):
    refused = check_question(text)
    assert (refused and refused.name) == reason


def test_repeated_question_is_kept_once():
    texts = [
        "Why do cats purr when they rest?",
        "WHY do cats purr, when they rest??",
        "Why do cats purr when they rest so?",
    ]
    drafts = screen([*texts, "Why do dogs bark at the postman?"], "stem", "en")
    assert [draft.refused and draft.refused.name for draft in drafts] == [
        None,
        "question_repeated",
        "question_repeated",
        None,
    ]
    again = screen(["Why do dogs bark at the postman"], "stem", "en", known=["Why do dogs bark at the postman?"])
    assert again[0].refused.name == "question_repeated"


def test_the_example_is_no_question_of_the_examiner():
    example = examiner_prompts("zh").render("example_math")
    (draft,) = screen([f"{example} "], "math", "zh")
    assert draft.refused.name == "question_example"
