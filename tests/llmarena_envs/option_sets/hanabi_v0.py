"""Option sets of hanabi_v0 for the conformance suite and for the golden playthroughs."""

FULL = {"colors": 5, "hand_size": 5, "info_tokens": 8, "life_tokens": 3}
"""The full game for two and three players; four and five players hold four cards each."""

DECK = "R1 R2 Y1 Y2 R3 R1 Y3 Y1 R4 Y4 R5 Y5 R1 Y1 R2 Y2 R3 Y3 R4 Y4"

OPTION_SETS = [
    {},
    {"obs_type": "vector"},
    {"language": "zh", "hint": False, "cot": False},
    FULL,
    {**FULL, "players": 3, "bomb_score": "keep", "obs_type": "vector"},
    {**FULL, "players": 5, "hand_size": 4, "language": "zh"},
    {"players": 4, "colors": 3, "ranks": 3, "hand_size": 3, "info_tokens": 1, "bomb_score": "keep"},
    {"colors": 1, "hand_size": 5, "obs_type": "vector"},
    {"deck": DECK, "obs_type": "vector"},
    {"deck_seed": 7},
    {"deck": DECK, "life_tokens": 3},
]

# Every option that affects a player's texts. Random players lose a single life at once, so most matches have three.
PLAYTHROUGHS = {
    "default": {},
    "keep": {"bomb_score": "keep", "life_tokens": 2},
    "zh_keep": {"language": "zh", "bomb_score": "keep", "life_tokens": 2},
    "without_cot_and_hint": {"cot": False, "hint": False, "life_tokens": 3},
    "zh_without_cot_and_hint": {"language": "zh", "cot": False, "hint": False, "life_tokens": 3},
    "full": FULL,
    "three_players": {"players": 3, "colors": 3, "hand_size": 3, "life_tokens": 2},
    "zh_four_players": {"language": "zh", "players": 4, "colors": 4, "hand_size": 4, "info_tokens": 2},
    "three_ranks": {"ranks": 3, "life_tokens": 3, "info_tokens": 5, "hand_size": 3},
}
