"""Option sets of simulation_v0 for the conformance suite and for the golden playthroughs."""

from typing import Any

# Own tasks: the files do not depend on the shipped ones.
STORE: dict[str, Any] = {
    "id": "store",
    "act": "Note Store",
    "task_description": "You are a key-value server with visits, queue, colours and user:1.\n\nFirst request: HGET user:1 city",
    "request_type": "store commands",
    "type": "stateful",
    "engine": "key_value",
}
CLERK: dict[str, Any] = {
    "id": 7,
    "act": "Number Clerk",
    "task_description": "You are a clerk who writes numbers in words, one a line, and nothing else. My first number is 12.",
    "request_type": "numbers",
    "type": "stateless",
}
TASKS = [STORE, CLERK]
SCRIPT: dict[str, Any] = {
    "id": 1,
    "source_id": "store",
    "act": STORE["act"],
    "task_description": STORE["task_description"],
    "type": "stateful",
    "source_file_name": "store_0",
    "turn_num": 2,
    "dialogue_history": [
        {"role": "user", "content": STORE["task_description"]},
        {"role": "assistant", "content": '"London"'},
        {"role": "user", "content": "DEL queue"},
    ],
}
OPTION_SETS: list[dict[str, Any]] = [
    {"mode": "script", "tasks": TASKS, "scripts": [SCRIPT], "language": "zh"},
    {},
    {"tasks": TASKS, "task": "number clerk", "turns": 2, "n_judges": 3, "engine": None},
    {"tasks": TASKS, "number": 0, "turns": 1, "n_judges": 0},
    {"tasks": "builtin", "language": "zh", "n_judges": 2, "turns": 2},
    {"mode": "script", "task": "Tic-tac-toe Opponent", "n_judges": 2},
    {"mode": "pairwise", "tasks": TASKS, "scripts": [SCRIPT]},
    {"mode": "pairwise", "tasks": TASKS, "n_judges": 3, "language": "zh", "engine": "auto"},
]

PLAYTHROUGHS: dict[str, dict[str, Any]] = {
    "default": {"tasks": [STORE], "turns": 3},
    "without_engine": {"tasks": [CLERK], "turns": 2, "n_judges": 2},
    "script": {"mode": "script", "tasks": [STORE], "scripts": [SCRIPT]},
    "pairwise": {"mode": "pairwise", "tasks": [STORE], "scripts": [SCRIPT], "n_judges": 2},
    "zh": {"tasks": [CLERK], "turns": 2, "language": "zh"},
    "zh_pairwise": {"mode": "pairwise", "tasks": [CLERK], "language": "zh"},
}
