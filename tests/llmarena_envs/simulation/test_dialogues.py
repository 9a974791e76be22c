"""Dialogues: their files, and the scripts that are taken from them."""

import json

import pytest

from llmarena_envs.core.options import OptionError
from llmarena_envs.simulation.dialogues import (
    Dialogue,
    dialogue_fields,
    extract_scripts,
    import_dialogues,
    load_dialogues,
    write_dialogues,
)
from llmarena_envs.simulation.labels import label_scripts
from llmarena_envs.simulation.scripts import Message, load_scripts, write_scripts

MESSAGES = tuple(Message("assistant" if number % 2 else "user", f"message {number + 1}") for number in range(8))
DIALOGUE = Dialogue("7", "sql", "SQL Terminal", "Be a terminal.", "SQL", "stateful", "m-1.json", MESSAGES, "sql")


def test_dialogue_file_round_trips(tmp_path):
    dialogues = (DIALOGUE, DIALOGUE._replace(id="8", engine="", request_type=""))
    path = tmp_path / "dialogues.jsonl"
    path.write_text(write_dialogues(dialogues), encoding="utf-8")
    assert load_dialogues(path) == dialogues
    assert "engine" not in json.loads(path.read_text(encoding="utf-8").split("\n")[1])


def test_valid_dialogues_are_kept_and_others_located(tmp_path):
    fields = dialogue_fields(DIALOGUE)
    rows = [
        fields,
        fields | {"id": 9},
        fields,
        fields | {"id": "10", "dialogue_history": fields["dialogue_history"][:3]},
        "no object",
        fields | {"id": "11", "dialogue_history": fields["dialogue_history"][1:5]},
        fields | {"id": "12", "source_id": "unknown", "act": ""},
        fields | {"id": "13", "dialogue_history": fields["dialogue_history"] * 26},
    ]
    path = tmp_path / "dialogues.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    found = import_dialogues(path)
    assert [each.id for each in found.rows] == ["7", "9"]
    for line, (message, refusal) in enumerate(
        zip(
            [
                "'7' occurs twice",
                "even number",
                "JSON object|object with",
                "expected role 'user'",
                "known task",
                "at most",
            ],
            found.refusals,
            strict=True,
        ),
        start=3,
    ):
        assert f"line {line}:" in str(refusal)
        with pytest.raises(OptionError, match=message):
            raise refusal
    with pytest.raises(OptionError, match="line 3"):
        load_dialogues(path)


@pytest.mark.parametrize(
    ("turn", "numbers", "labels"),
    [
        (0, [0], ["LastOnly"]),
        (1, [1, 2, 3, 4], ["FirstChan", "SubseqChan", "SubseqChan", "SubseqChan"]),
        (3, [3, 4], ["FirstChan", "SubseqChan"]),
        (4, [4], ["FirstChan"]),
    ],
)
def test_scripts_are_the_first_challenging_turn_and_all_later_ones(turn, numbers, labels, tmp_path):
    scripts = extract_scripts(DIALOGUE, turn)
    assert [script.turn_num for script in scripts] == numbers
    assert list(label_scripts(scripts)) == labels
    assert [script.dialogue_history[-1].content for script in scripts] == [
        f"message {2 * (k or 4) - 1}" for k in numbers
    ]
    assert [len(script.dialogue_history) for script in scripts] == [2 * (k or 4) - 1 for k in numbers]
    path = tmp_path / "scripts.jsonl"
    path.write_text(write_scripts(scripts), encoding="utf-8")
    assert load_scripts(path) == scripts


@pytest.mark.parametrize("turn", [5, -1, 1.0])
def test_other_turns_are_refused(turn):
    with pytest.raises(OptionError, match="turn"):
        extract_scripts(DIALOGUE, turn)
