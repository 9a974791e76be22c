"""Option sets of public_goods_v0 for the conformance suite and for the golden playthroughs."""

OPTION_SETS = [
    {"n_players": 3, "rounds": 4, "endowment": 2, "alpha": 1.5, "coin_step": 0.1},
    {"obs_type": "vector", "mode": 2, "n_players": 5, "rounds": 2, "coin_step": 2.5, "endowment_mode": "initial"},
    {},
    {"obs_type": "vector"},
    {"mode": 2, "language": "zh", "cot": False},
    {"n_players": 2, "rounds": 3, "alpha": 1.9, "endowment_mode": "initial"},
]

# Every option that affects a player's texts.
PLAYTHROUGHS = {
    "default": {},
    "zh": {"language": "zh"},
    "zh_mode_2_without_cot": {"language": "zh", "mode": 2, "cot": False},
    "without_cot": {"cot": False, "rounds": 2},
    "initial": {"endowment_mode": "initial"},
    "zh_initial": {"language": "zh", "endowment_mode": "initial", "rounds": 3},
    "one_coin_in_tenths": {"endowment": 1, "coin_step": 0.1, "n_players": 3, "rounds": 2, "mode": 2},
    "one_round_of_two": {"n_players": 2, "rounds": 1, "alpha": 1.5},
}
