"""Batches: next requests, kept items, counts, and feedback on unreadable replies."""

import pytest

from agents.policy import Reply
from benchmarks.experiments.asking import digest_of
from llmarena_envs.core.failures import Failure
from llmarena_envs.core.options import OptionError
from tests.benchmarks.experiments.asked import Numbers, ask, replies


def test_missing_items_are_asked_for_again():
    answer, prompts = ask(Numbers(count=5, batch=3, calls=2), replies("2 3 4", "6 8 10", "12", "14"))
    assert [prompt.request[:2] for prompt in prompts] == [
        (3, ()),
        (1, (2, 4)),
        (2, (2, 4, 6)),
        (1, (2, 4, 6, 12)),
    ]
    assert [len(prompt.request[2]) for prompt in prompts] == [0, 3, 0, 1]  # drafts of this batch only
    assert (answer.accepted, answer.surplus, answer.refused) == ((2, 4, 6, 12, 14), 2, {"odd": 1})
    assert (answer.calls, answer.drafted, answer.unreadable) == (4, 8, 0)


def test_a_batch_ends_after_its_calls():
    answer, prompts = ask(Numbers(count=4, batch=2, calls=3), lambda observation: "1 3")
    assert len(prompts) == answer.calls == 6
    assert (answer.accepted, answer.refused) == ((), {"odd": 12})


def test_a_count_below_the_batch_is_one_batch():
    answer, prompts = ask(Numbers(count=2, batch=5, calls=1), replies("2 4 6"))
    assert (len(prompts), answer.accepted, answer.surplus) == (1, (2, 4), 1)


def test_an_unreadable_reply_costs_a_call_and_is_explained():
    answer, prompts = ask(Numbers(count=2, batch=2, calls=4), replies("2", "x", " ", "4"))
    assert (answer.accepted, answer.calls, answer.unreadable) == ((2, 4), 4, 2)
    assert [prompt.attempt for prompt in prompts] == [0, 0, 1, 2]
    plain, after_x, after_blank = (prompt.observation() for prompt in prompts[1:])
    assert after_x["text"].startswith(f"{plain['text']}\n\n")
    assert "end the reply with one in the form 2 4" in after_x["feedback"]
    assert after_x["text"].endswith(after_x["feedback"])
    assert after_blank["text"].count("\n\n") == 1  # only the last reply is explained
    assert plain.keys() == {"rules", "text"}


@pytest.mark.parametrize("kind", [Failure.REFUSAL, Failure.TRUNCATED])
def test_the_kind_of_the_provider_is_named(kind):
    answer, prompts = ask(Numbers(calls=2), replies(Reply("x", kind), Reply("2", Failure.TRUNCATED)))
    assert (answer.accepted, answer.unreadable) == ((2,), 1)
    assert ("declined" if kind is Failure.REFUSAL else "cut off") in prompts[1].feedback


def test_a_refusal_is_not_read():
    answer, _ = ask(Numbers(calls=1), replies(Reply("2", Failure.REFUSAL)))
    assert (answer.accepted, answer.unreadable) == ((), 1)


def test_tokens_are_added_up():
    given = Reply("2", prompt_tokens=10, completion_tokens=None), Reply("4", prompt_tokens=5, completion_tokens=3)
    answer, _ = ask(Numbers(count=2), replies(*given))
    assert (answer.prompt_tokens, answer.completion_tokens) == (15, 3)


@pytest.mark.parametrize("sizes", [{"count": 0}, {"count": 101}, {"batch": 6}, {"calls": 0}, {"calls": 11}])
def test_sizes_are_checked(sizes):
    with pytest.raises(OptionError, match=next(iter(sizes))):
        Numbers(**sizes)


def test_digest_depends_on_names_sizes_and_prompts():
    cases = [Numbers(), Numbers("other"), Numbers(calls=2), Numbers(count=2), Numbers(count=2, batch=2)]
    assert len({digest_of([case]) for case in cases}) == len(cases)
    assert digest_of(cases) == digest_of([*cases])
