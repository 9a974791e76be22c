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
def test_the_first_forty_are_five_of_each_domain_and_all_come_in_the_end(language):
    env = debate_v0.raw_env(questions="builtin", language=language)
    numbers = env.cases()["number"]
    assert sorted(numbers) == list(range(len(env.game.questions)))
    assert domains(numbers[:40], language=language) == dict.fromkeys(DOMAINS, 5)


def test_a_domain_keeps_to_itself_and_a_single_question_or_an_examiner_leaves_nothing_to_choose():
    numbers = debate_v0.raw_env(questions="builtin", domain="math").cases()["number"]
    assert domains(numbers) == {"math": len(numbers)}
    assert debate_v0.raw_env(question="Why?").cases() == debate_v0.raw_env().cases() == {}


@pytest.mark.parametrize(("options", "chosen"), [("", None), ("number = 3", [3])])
def test_every_pairing_of_a_tournament_plays_the_same_questions(options, chosen):
    text = f'[[environment]]\nname = "debate_v0"\noptions = {{ {options} }}\n{POOL}'
    schedule = Run(parse_run_file(text, "run.toml")).scheme("debate_v0").schedule()
    first, second = ([match.options["number"] for match in schedule.next_batch()] for _ in range(2))
    assert first == second
    assert set(first) == set(chosen or debate_v0.raw_env(questions="builtin").cases()["number"][:40])
