"""Option sets of idiom_solitaire_v0 for the conformance suite and for the golden playthroughs."""

from pathlib import Path
from typing import Any

IDIOMS = str(Path(__file__).parents[1] / "idiom_solitaire" / "idioms.txt")
"""A list of a dozen idioms, whose matches no version of a dictionary changes."""

OPTION_SETS: list[dict[str, Any]] = [
    {"language": "en", "accept_outside": True, "max_turns": 12, "first_player": "random"},
    {},
    {"language": "zh", "n_players": 4, "link": "pinyin_tone", "dead_end": "wins", "n_starts": 5, "max_turns": 20},
    {"link": "pinyin", "idioms": IDIOMS, "dead_end": "forbidden", "accept_outside": True, "n_players": 3},
    {"idioms": IDIOMS, "normalise": "none", "start": "一心一意", "allow_dead_end_start": True},
]

# Every option that affects a player's texts.
PLAYTHROUGHS: dict[str, dict[str, Any]] = {
    "zh": {"language": "zh", "max_turns": 4},
    "en": {"language": "en", "max_turns": 4},
    "zh_judge": {"language": "zh", "accept_outside": True, "start": "大吉大利", "dead_end": "wins"},
    "en_judge": {"language": "en", "accept_outside": True, "start": "大吉大利", "dead_end": "wins"},
    "zh_three_players": {"language": "zh", "n_players": 3, "link": "pinyin", "dead_end": "forbidden", "max_turns": 4},
    "en_three_players": {"language": "en", "n_players": 3, "link": "pinyin_tone", "max_turns": 4},
}
