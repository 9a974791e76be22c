"""Option sets of undercover_v0 for the conformance suite and for the golden playthroughs."""

from pathlib import Path
from typing import Any

NONSENSE = ["zyxqua", "vubnor"]
"""Words that occur in no text by chance."""

OPTION_SETS: list[dict[str, Any]] = [
    {"n_players": 3, "max_rounds": 1, "clue_check": False, "pair": NONSENSE},
    {},
    {"pair": NONSENSE, "ask_guess": True},
    {"language": "zh", "cot": True, "ask_guess": True},
    {"n_players": 6, "n_undercover": 2, "max_rounds": 2, "seat": "last", "first_player": 0, "swap_words": False},
    {"n_players": 4, "word_pairs": str(Path(__file__).parents[1] / "undercover" / "pairs.txt")},
]

# Every option that affects a player's texts, in short matches where one round shows it; the other options decide only who
# holds which word and who speaks first.
PLAYTHROUGHS: dict[str, dict[str, Any]] = {
    "default": {},
    "zh": {"language": "zh"},
    "cot": {"cot": True, "max_rounds": 1},
    "zh_cot": {"language": "zh", "cot": True, "max_rounds": 1},
    "ask_guess": {"ask_guess": True, "max_rounds": 1},
    "zh_ask_guess": {"language": "zh", "ask_guess": True, "max_rounds": 1},
    "two_undercover": {"n_players": 6, "n_undercover": 2, "max_rounds": 2},
    "zh_two_undercover": {"language": "zh", "n_players": 6, "n_undercover": 2, "max_rounds": 2},
    "fixed_seats_and_words": {
        "seat": "last",
        "first_player": 0,
        "pair": ["ice cream", "yogurt"],
        "swap_words": False,
        "n_players": 3,
        "max_rounds": 2,
    },
}
