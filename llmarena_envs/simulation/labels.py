"""Subsets of scripts, derived from their turn numbers.

A dialogue without a challenging turn gives one script, with turn 0; any other gives one of its first challenging turn and one of
every later turn. Files therefore need no labels.

Source: SimulBench (arXiv 2409.07641, section 2.4).
"""

from collections.abc import Mapping, Sequence

from llmarena_envs.core.options import check_choice
from llmarena_envs.simulation.scripts import Script
from llmarena_envs.simulation.tasks import STATEFUL, STATELESS

LAST_ONLY = "LastOnly"
"""The label of the last turn of a dialogue without a challenging turn."""

FIRST_CHALLENGING = "FirstChan"
"""The label of the first challenging turn of a dialogue."""

SUBSEQUENT = "SubseqChan"
"""The label of later turns."""

LABELS = (LAST_ONLY, FIRST_CHALLENGING, SUBSEQUENT)
"""The labels; every script has one."""

SUBSETS = ("All", "Hard", *LABELS, "Stateless", "Stateful")
"""The scored subsets; Hard contains both kinds of challenging turns, Stateless and Stateful are parts of FirstChan."""

_TYPES = {"Stateless": STATELESS, "Stateful": STATEFUL}

CORRECTIONS: Mapping[tuple[str, str, str, int], str] = {
    # The first challenging turn of this dialogue is missing in the public file.
    ("154", "045#JSON_Data_Store", "gpt-3.5-turbo-1.json", 4): SUBSEQUENT,
}
"""Labels of scripts of the public file, by id, source_id, source_file_name and turn_num, that turn numbers do not determine."""


def label_scripts(
    scripts: Sequence[Script], corrections: Mapping[tuple[str, str, str, int], str] = CORRECTIONS
) -> tuple[str, ...]:
    """Returns the label of every script.

    Args:
        scripts: all scripts of a file: the first challenging turn of a dialogue is its earliest script.
        corrections: labels of exceptions, by id, source_id, source_file_name and turn_num.
    """
    first: dict[tuple[str, str], int] = {}
    for script in scripts:
        if script.turn_num:
            dialogue = _dialogue(script)
            first[dialogue] = min(script.turn_num, first.get(dialogue, script.turn_num))
    return tuple(corrections.get(_key(script)) or _label(script, first) for script in scripts)


def subset(scripts: Sequence[Script], name: str) -> tuple[Script, ...]:
    """Returns the scripts of a subset of a file.

    Args:
        scripts: all scripts of the file.
        name: one of ``SUBSETS``.

    Raises:
        OptionError: if the subset is unknown.
    """
    check_choice("subset", name, SUBSETS)
    labelled = zip(scripts, label_scripts(scripts), strict=True)
    return tuple(script for script, label in labelled if belongs(label, script.type, name))


def belongs(label: str, kind: str, name: str) -> bool:
    """Returns whether a script is in a subset.

    Args:
        label: label of the script.
        kind: type of its task.
        name: one of ``SUBSETS``.
    """
    if name in _TYPES:
        return label == FIRST_CHALLENGING and kind == _TYPES[name]
    return name == "All" or (label != LAST_ONLY if name == "Hard" else label == name)


def _label(script: Script, first: Mapping[tuple[str, str], int]) -> str:
    if not script.turn_num:
        return LAST_ONLY
    return FIRST_CHALLENGING if script.turn_num == first[_dialogue(script)] else SUBSEQUENT


def _dialogue(script: Script) -> tuple[str, str]:
    return script.source_id, script.source_file_name


def _key(script: Script) -> tuple[str, str, str, int]:
    return script.id, script.source_id, script.source_file_name, script.turn_num
