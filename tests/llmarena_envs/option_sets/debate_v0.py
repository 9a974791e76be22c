"""Option sets of debate_v0 for the conformance suite and for the golden playthroughs."""

from typing import Any

# Own questions: the files do not depend on the shipped ones.
RIVER: dict[str, Any] = {
    "id": "river",
    "domain": "reasoning",
    "question": "Two boats cross a river at different speeds.\nWhich facts tell how wide it is?",
    "reference": "Their meeting points suffice.",
}
POEM: dict[str, Any] = {"id": 2, "domain": "writing", "question": "Write a couplet about an umbrella."}
SUM: dict[str, Any] = {"id": "sum", "domain": "math", "question": "What is the sum of the first ten odd numbers?"}
RECORDS = [RIVER, POEM, SUM]

OPTION_SETS: list[dict[str, Any]] = [
    {"questions": [SUM], "n_judges": 1, "round3_opener": "B"},
    {"domain": "coding", "language": "zh", "n_judges": 2, "discussion": False},
    {},
    {"questions": RECORDS, "number": 1, "round3_opener": "B", "visibility": "restricted", "n_judges": 2},
    {"questions": RECORDS, "both_orders": True, "n_judges": 2, "judge_sees_think": False, "language": "zh"},
    {
        "question": "Why is the sky blue?",
        "reference": "It scatters.",
        "n_judges": 2,
        "quorum": 2,
        "counter": "words",
        "discussion_rounds": 3,
        "words": 10,
    },
    {"questions": "builtin", "judge_initial_only": True, "n_judges": 1, "reference": None},
    {"questions": RECORDS, "n_judges": 0},
]

PLAYTHROUGHS: dict[str, dict[str, Any]] = {
    "default": {"questions": [RIVER], "n_judges": 2},
    "examiner": {"n_judges": 1, "domain": "math"},
    "both_orders": {"questions": [POEM], "n_judges": 2, "both_orders": True},
    "restricted": {"questions": [POEM], "n_judges": 1, "visibility": "restricted", "judge_sees_think": False},
    "initial_only": {"questions": [RIVER], "n_judges": 2, "judge_initial_only": True},
    "zh": {"questions": [SUM], "n_judges": 3, "language": "zh"},
    "zh_initial_only": {"questions": [RIVER], "n_judges": 1, "judge_initial_only": True, "language": "zh"},
}
