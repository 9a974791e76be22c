"""Option sets of connect_four_v0."""

OPTION_SETS = [
    {},
    {"language": "zh", "hint": False},
    {"random_opening": 6},
    {"obs_type": "vector", "random_opening": 1},
    {"reward_mode": "between_turns", "random_opening": 3},
    {"reward_mode": "own_move", "count": "maximal", "obs_type": "vector"},
]

PLAYTHROUGHS = {"default": {}, "zh": {"language": "zh"}}
