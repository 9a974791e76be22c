"""Option sets of writer_editor_v0 for the conformance suite and for the golden playthroughs."""

from pathlib import Path
from typing import Any

FILES = Path(__file__).parents[1] / "writer_editor"

OPTION_SETS: list[dict[str, Any]] = [
    {"task": "translation", "tasks": str(FILES / "corpus.tsv"), "src_lang": "de", "tgt_lang": "pt"},
    {},
    {"task": "translation", "language": "zh"},
    {"sandbox": "auto", "n_judges": 2, "max_rounds": 1},
    {"max_rounds": 2, "n_judges": 3, "objective": False, "consensus_token": "done", "tasks": str(FILES / "mbpp.jsonl")},
    {"task": "translation", "max_rounds": 3, "n_judges": 2, "src_lang": "en", "tgt_lang": "fr", "number": 1},
]

# Own tasks: the files do not depend on the shipped ones.
PROBLEM = {
    "task_id": "first_word",
    "text": "Write a function that returns the first word of a text.\nWords are separated by blanks.",
    "code": "def first_word(text):\n    return text.split()[0]",
    "test_list": ["assert first_word('red apple') == 'red'"],
}
NOTE = {
    "doc_id": "note",
    "src": "Es regnet.\nBleib zu Hause!",
    "tgt": "下雨了。\n待在家里吧！",
    "src_lang": "de",
    "tgt_lang": "zh",
}
REVIEW: dict[str, Any] = {"tasks": [PROBLEM], "objective": False}
TRANSLATION: dict[str, Any] = {"task": "translation", "tasks": [NOTE], "objective": False}

PLAYTHROUGHS: dict[str, dict[str, Any]] = {
    "default": REVIEW,
    "zh": {**REVIEW, "language": "zh", "max_rounds": 3},
    "translation": TRANSLATION,
    "zh_translation": {**TRANSLATION, "language": "zh"},
    "translation_in_rounds": {**TRANSLATION, "max_rounds": 3, "n_judges": 2},
    "zh_translation_in_rounds": {**TRANSLATION, "max_rounds": 3, "n_judges": 2, "language": "zh"},
}
