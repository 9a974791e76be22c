"""Subsets of scripts, on a file with as many scripts of every kind as the public one."""

from collections import Counter

import pytest

from llmarena_envs.core.options import OptionError
from llmarena_envs.simulation.labels import FIRST_CHALLENGING, LAST_ONLY, SUBSEQUENT, label_scripts, subset
from llmarena_envs.simulation.scripts import Script, load_scripts
from tests.llmarena_envs.simulation.records import history, script

TURNS = 4


def dialogue(source: object, file: str, first: int, kind: str, ids: list[int]) -> list[dict[str, object]]:
    """The scripts of a dialogue with a first challenging turn, 0 for none."""
    turns = range(first, TURNS + 1) if first else [0]
    records = []
    for turn in turns:
        messages = 2 * turn - 1 if turn else 2 * TURNS - 1
        ids[0] += 1
        records.append(
            script(
                id=ids[0],
                source_id=source,
                source_file_name=file,
                type=kind,
                turn_num=turn,
                dialogue_history=history(messages),
            )
        )
    return records


@pytest.fixture(scope="module")
def scripts() -> tuple[Script, ...]:
    """Challenging turns of 94 dialogues, of one of them the last alone; 225 dialogues without any."""
    ids = [1_000]
    records = dialogue("045#JSON_Data_Store", "gpt-3.5-turbo-1.json", 4, "stateful", ids)
    records[0]["id"] = 154
    for number in range(93):
        first = 1 if number < 60 else 3 if number == 60 else 4
        records += dialogue(
            number // 3, f"model-{number % 3}.json", first, "stateless" if number < 38 else "stateful", ids
        )
    for number in range(225):
        records += dialogue(number // 3 + 31, f"model-{number % 3}.json", 0, "stateless", ids)
    return load_scripts(records[::-1])


def test_published_sizes_follow_from_turns_and_correction(scripts):
    assert len(scripts) == 500
    uncorrected = Counter(label_scripts(scripts, {}))
    assert uncorrected == {LAST_ONLY: 225, FIRST_CHALLENGING: 94, SUBSEQUENT: 181}
    assert Counter(label_scripts(scripts)) == {LAST_ONLY: 225, FIRST_CHALLENGING: 93, SUBSEQUENT: 182}


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("All", 500),
        ("Hard", 275),
        ("LastOnly", 225),
        ("FirstChan", 93),
        ("SubseqChan", 182),
        ("Stateless", 38),
        ("Stateful", 55),
    ],
)
def test_subsets_have_the_published_sizes(scripts, name, size):
    chosen = subset(scripts, name)
    assert len(chosen) == size
    assert [each for each in scripts if each in set(chosen)] == list(chosen)


def test_a_script_of_the_same_number_elsewhere_is_not_corrected():
    (other,) = load_scripts([script(id=154, turn_num=4, dialogue_history=history(7))])
    assert label_scripts([other]) == (FIRST_CHALLENGING,)


def test_dialogues_of_a_task_are_labelled_by_file():
    records = [
        script(id=1, source_file_name="a", turn_num=3, dialogue_history=history(5)),
        script(id=2, source_file_name="b", turn_num=2),
        script(id=3, source_file_name="a", turn_num=2),
    ]
    assert label_scripts(load_scripts(records)) == (SUBSEQUENT, FIRST_CHALLENGING, FIRST_CHALLENGING)


def test_no_such_subset(scripts):
    with pytest.raises(OptionError, match=r"subset: expected one of 'All'.*, got 'hard'; did you mean 'Hard'"):
        subset(scripts, "hard")
