"""Whether messages that state the own values are recognised."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmarena_envs.bargain import env
from llmarena_envs.bargain.disclosure import discloses
from llmarena_envs.bargain.grammar import plan_text
from llmarena_envs.bargain.scenarios import all_plans, scenarios
from llmarena_envs.core.prompts import Prompts

VALUES = (8, 1, 0)


def measured_messages():
    """Returns values, whether they are disclosed, and the message, for every message of the measured list."""
    lines = (Path(__file__).parent / "disclosures.txt").read_text(encoding="utf-8").splitlines()
    rows = [line.split(" ", 2) for line in lines if line and not line.startswith("#")]
    return [
        (tuple(map(int, row[0].split(","))), {"yes": True, "no": False}[row[1]], "".join(row[2:]).replace("\\n", "\n"))
        for row in rows
    ]


def test_precision_and_recall_are_as_documented():
    rows = measured_messages()
    disclosing = [message for _, disclosed, message in rows if disclosed]
    flagged = [(disclosed, message) for values, disclosed, message in rows if discloses(message, values)]
    right = [message for disclosed, message in flagged if disclosed]
    wrong = [message for disclosed, message in flagged if not disclosed]
    missed = [message for message in disclosing if message not in right]
    figures = (
        f"{len(disclosing)} messages that disclose and {len(rows) - len(disclosing)} that do not",
        f"precision is {len(right) / len(flagged):.2f}",
        f"recall {len(right) / len(disclosing):.2f}",
    )
    documentation = " ".join(env.__doc__.split())
    assert all(figure in documentation for figure in figures), (figures, wrong, missed)
    assert len(right) / len(flagged) >= 0.98 and len(right) / len(disclosing) >= 0.95, (wrong, missed)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_phrase_of_the_observation_is_always_recognised(language):
    prompts = Prompts("llmarena_envs.bargain", language)
    for values in {values for scenario in scenarios("openspiel") for values in scenario.values}:
        hats, balls, apples = values
        phrase = prompts.render("values", hats=hats, balls=balls, apples=apples)
        assert discloses(phrase, values), values


@pytest.mark.parametrize(
    ("message", "values"),
    [
        ("An apple is worth one to me.", (4, 2, 1)),
        ("To me hat: 8 ball: 1 apple: 0", (8, 1, 0)),
    ],
)
def test_numbers_beside_items_are_values_of_the_right_items(message, values):
    assert discloses(message, values)
    assert not discloses(message, (values[2], 9, values[0]))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_plans_are_never_taken_for_values(language):
    prompts = Prompts("llmarena_envs.bargain", language)
    for plan in all_plans("openspiel"):
        hats, balls, apples = plan
        for text in (plan_text(plan), prompts.render("plan", hats=hats, balls=balls, apples=apples)):
            assert not discloses(text, plan)
            assert not discloses(f"{'I would like' if language == 'en' else '我要'} {text}", plan)


@pytest.mark.parametrize(
    ("message", "disclosed"),
    [
        ("Hats are worth 8 to me, balls are worth 2 and apples are worth 5.", True),
        ("Hats are worth 7 to me, balls are worth 1.", True),
        ("Hats are worth 7 to me, apples are worth 0.", False),
        ("My values are 8, 1, 0.", True),
        ("My values are 8, 1, 1.", False),
        ("My values are 1, 8, 0.", False),
    ],
)
def test_one_true_value_above_0_is_enough_and_a_list_without_names_has_to_be_right(message, disclosed):
    assert discloses(message, VALUES) == disclosed


@pytest.mark.slow
@given(st.text())
def test_any_text_is_read(message):
    assert discloses(message, VALUES) in (True, False)


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece", ["hats worth ", "1, ", "hat, ", "\n", "\n -", "3 of ", "my you ", "round ", "1", "帽子值", "(:="]
)
def test_long_messages_are_read_in_linear_time(piece):
    assert not discloses(piece * 20_000, VALUES)
