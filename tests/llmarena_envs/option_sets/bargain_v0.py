"""Option sets of bargain_v0 for the conformance suite and for the golden playthroughs."""

INSTANCE = [[1, 2, 3], [8, 1, 0], [4, 0, 2]]

OPTION_SETS = [
    {"language": "zh", "max_rounds": 3, "show_offer_value": True, "reward": "zero_sum"},
    {"obs_type": "vector", "source": "lewis", "max_rounds": 2, "first_player": "player_1", "reward": "zero_sum"},
    {},
    {"obs_type": "vector"},
    {"source": "lewis", "first_player": "player_1", "reward": "win"},
    {"instance": INSTANCE, "max_rounds": 1},
]

# Every option that affects a player's texts.
PLAYTHROUGHS = {
    "default": {},
    "two_rounds": {"max_rounds": 2},
    "zh": {"language": "zh", "max_rounds": 2},
    "show_offer_value": {"show_offer_value": True, "max_rounds": 3},
    "zh_show_offer_value": {"language": "zh", "show_offer_value": True, "max_rounds": 3},
    "zero_sum": {"reward": "zero_sum", "max_rounds": 1},
    "zh_zero_sum": {"language": "zh", "reward": "zero_sum", "max_rounds": 1},
    "win": {"reward": "win", "max_rounds": 1},
    "zh_win": {"language": "zh", "reward": "win", "max_rounds": 1},
    "player_1_first": {"first_player": "player_1", "max_rounds": 2},
    "lewis": {"source": "lewis", "max_rounds": 2},
    "instance": {"instance": INSTANCE, "max_rounds": 2},
}
