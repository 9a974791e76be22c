"""Option sets of bid_v0 for the conformance suite and for the golden playthroughs."""

OPTION_SETS = [
    {},
    {"obs_type": "vector"},
    {"language": "zh", "cot": False, "rounds": 3},
    {"n_bidders": 4, "v_max": 2.5, "grid": 0.05, "rounds": 2},
    {"obs_type": "vector", "n_bidders": 3, "rounds": 4, "v_max": 5, "grid": 1},
]

# Every option that affects a player's texts.
PLAYTHROUGHS = {
    "default": {},
    "zh": {"language": "zh"},
    "without_cot": {"cot": False},
    "zh_without_cot": {"language": "zh", "cot": False},
    "three_rounds": {"rounds": 3},
    "zh_three_rounds": {"language": "zh", "rounds": 3},
    "four_bidders_coarse_grid": {"n_bidders": 4, "v_max": 2.5, "grid": 0.25, "rounds": 2},
    "fixed_values": {"values": [[7.0, 3.5]]},
}
