"""Which questions the matches of a run go through, unless it says otherwise."""

from collections import Counter

import pytest

from llmarena_envs import debate_v0
from llmarena_envs.debate.questions import DOMAINS
from rating.config.run_file import parse_run_file
from rating.play.run import Run

POOL = "".join(f'[[policy]]\nname = "p{index}"\nspec = "random"\n' for index in range(7))


def domains(numbers, **options):
    questions = debate_v0.raw_env(questions="builtin", **options).game.questions
    return Counter(questions[number].domain for number in numbers)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_first_forty_questions_have_five_of_each_domain(language):
    env = debate_v0.raw_env(questions="builtin", language=language)
    numbers = env.cases()["number"]
    assert sorted(numbers) == list(range(len(env.game.questions)))
    assert domains(numbers[:40], language=language) == dict.fromkeys(DOMAINS, 5)


def test_domain_restricts_and_fixed_question_leaves_no_choice():
    numbers = debate_v0.raw_env(questions="builtin", domain="math").cases()["number"]
    assert domains(numbers) == {"math": len(numbers)}
    assert debate_v0.raw_env(question="Why?").cases() == debate_v0.raw_env().cases() == {}


@pytest.mark.slow
@pytest.mark.parametrize(("options", "chosen"), [("", None), ("number = 3", [3])])
def test_every_pairing_of_a_tournament_plays_the_same_questions(options, chosen):
    text = f'[[environment]]\nname = "debate_v0"\noptions = {{ {options} }}\n{POOL}'
    schedule = Run(parse_run_file(text, "run.toml")).scheme("debate_v0").schedule()
    first, second = ([match.options["number"] for match in schedule.next_batch()] for _ in range(2))
    assert first == second
    assert set(first) == set(chosen or debate_v0.raw_env(questions="builtin").cases()["number"][:40])
