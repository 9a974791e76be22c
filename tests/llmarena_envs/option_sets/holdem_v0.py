"""Option sets of holdem_v0 for the conformance suite and for the golden playthroughs."""

SPLIT_DECK = "Ah Kd As Kc 2c 7d 9h 4s Jc"
"""Both players hold ace and king: this board splits the pot."""

OPTION_SETS = [
    {},
    {"obs_type": "vector"},
    {"rules": "rlcard", "reward": "win", "cot": False},
    {"rules": "rlcard", "obs_type": "vector", "hands": 3, "stack": 20},
    {"language": "zh", "players": 3, "hands": 4, "stack": 12},
    {"players": 6, "small_blind": 3, "big_blind": 7, "stack": 40, "hands": 3, "reward": "win", "hint": False},
    {"players": 6, "obs_type": "vector", "button": 2},
    {"deck_seed": 5, "button": 1, "hands": 2},
    {"decision": "open", "button": 0, "deck_seed": 3},
    {"decision": "facing_bet", "rules": "rlcard", "obs_type": "vector"},
    {"decision": "facing_bet", "language": "zh", "deck": SPLIT_DECK, "reward": "win"},
]

# Every option that affects a player's texts; the others affect the deal only.
PLAYTHROUGHS = {
    "default": {},
    "zh": {"language": "zh"},
    "rlcard": {"rules": "rlcard"},
    "zh_rlcard": {"language": "zh", "rules": "rlcard"},
    "without_cot_and_hint": {"cot": False, "hint": False},
    "zh_without_cot_and_hint": {"language": "zh", "cot": False, "hint": False},
    "win": {"reward": "win"},
    "zh_win": {"language": "zh", "reward": "win"},
    "four_players": {"players": 4},
    "zh_four_players": {"language": "zh", "players": 4},
    "three_hands_of_three_players": {"players": 3, "hands": 3, "stack": 20},
    "zh_three_hands_of_three_players": {"language": "zh", "players": 3, "hands": 3, "stack": 20},
    "large_blinds": {"small_blind": 5, "big_blind": 10, "stack": 60},
    "split_pot": {"deck": SPLIT_DECK, "button": 0},
    "decision_open": {"decision": "open", "button": 0},
    "decision_facing_bet": {"decision": "facing_bet", "button": 1},
    "zh_decision_open": {"language": "zh", "decision": "open", "button": 1},
    "zh_decision_facing_bet": {"language": "zh", "decision": "facing_bet", "button": 0},
    "rlcard_decision_facing_bet": {"rules": "rlcard", "decision": "facing_bet", "button": 0},
}
