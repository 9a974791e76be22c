"""Records of tasks and scripts in the form of the public files."""

TASKS = [
    {
        "id": "000#Toy_Counter",
        "task_description": "Count what I send. First request: two pears",
        "request_type": "things to count",
        "type": "stateful",
        "act": "Toy Counter",
    },
    {
        "id": 7,
        "task_description": "Print my text in capitals. First request: moss",
        "request_type": "a text",
        "type": "Stateless",
        "act": "Capitals",
    },
]


def history(messages: int, first: str = TASKS[0]["task_description"]) -> list[dict[str, str]]:
    """A dialogue of so many messages."""
    roles = ("user", "assistant")
    return [
        {"role": roles[number % 2], "content": f"{roles[number % 2]} {number}" if number else first}
        for number in range(messages)
    ]


def script(**changes: object) -> dict[str, object]:
    """A script of turn 2."""
    return {
        "id": 3,
        "source_id": "000#Toy_Counter",
        "act": "Toy Counter",
        "task_description": TASKS[0]["task_description"],
        "type": "stateful",
        "source_file_name": "model-1.json",
        "turn_num": 2,
        "dialogue_history": history(3),
    } | changes
