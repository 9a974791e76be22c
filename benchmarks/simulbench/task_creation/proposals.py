"""Proposals of tasks: parsing, writing, and screening.

Source: SimulBench (arXiv 2409.07641, section 2.2).
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from llmarena_envs.core.failures import Reason
from llmarena_envs.core.quoting import printable
from llmarena_envs.core.reading.markup import drop_reasoning
from llmarena_envs.core.reading.objects import find_objects
from llmarena_envs.core.replies import MAX_REPLY
from llmarena_envs.core.similarity import Seen, essence
from llmarena_envs.simulation.speech import unfenced
from llmarena_envs.simulation.tasks import Task

MAX_PROPOSALS = 20
"""Maximum number of proposals read from one reply."""

MAX_DESCRIPTION = 6_000
"""Maximum characters of a description."""

MIN_DESCRIPTION = 60
"""Minimum letters and digits of a meaningful description."""

_MAX_NAME = 100
_MAX_KIND = 300
_FIELDS = {
    "act": ("name", "act", "task_name", "title", "名称"),
    "task_description": ("description", "task_description", "描述"),
    "request_type": ("request_type", "type_of_request", "requests", "请求类型"),
}

REASONS = ("proposal_incomplete", "proposal_short", "proposal_long", "proposal_example", "proposal_repeated")
"""Names of the reasons for refusing a proposal."""


class Proposal(NamedTuple):
    """A proposed task: ``act``, ``task_description`` and ``request_type`` of a task; any may be empty."""

    act: str
    task_description: str
    request_type: str


class Draft(NamedTuple):
    """A proposal with its reason for refusal; ``None`` if it is accepted."""

    proposal: Proposal
    refused: Reason | None


def read_proposals(reply: str) -> tuple[Proposal, ...]:
    """Returns the proposals of a reply: objects with a name, a description and a request type, in a list or in sequence.

    A truncated reply keeps its complete objects. Returns none if no object has one of the fields.
    """
    found = []
    for fields in _objects(reply):
        known = {"_".join(str(name).casefold().split()): value for name, value in fields.items()}
        if any(name in known for names in _FIELDS.values() for name in names):
            found.append(_proposal(known))
    return tuple(found[:MAX_PROPOSALS])


def write_proposals(proposals: Iterable[Proposal]) -> str:
    """Returns proposals in the requested form."""
    names = [names[0] for names in _FIELDS.values()]
    records = [dict(zip(names, each, strict=True)) for each in proposals]
    return json.dumps(records, ensure_ascii=False, indent=1)


def screen(proposals: Iterable[Proposal], examples: Sequence[Task], known: Iterable[Proposal]) -> list[Draft]:
    """Checks proposals by themselves, against the examples of the prompt, and against each other.

    Args:
        proposals: in order; of two near-copies the first one is kept.
        examples: the example tasks of the prompt.
        known: proposals accepted earlier.
    """
    shown = Seen(task.task_description for task in examples)
    acts = {essence(task.act) for task in examples}
    kept = list(known)
    seen = Seen(each.task_description for each in kept)
    names = {essence(each.act) for each in kept}
    drafts = []
    for each in proposals:
        refused = _fault(each)
        if refused is None and (each.task_description in shown or essence(each.act) in acts):
            refused = Reason("proposal_example")
        if refused is None and (each.task_description in seen or essence(each.act) in names):
            refused = Reason("proposal_repeated")
        if refused is None:
            seen.add(each.task_description)
            names.add(essence(each.act))
        drafts.append(Draft(each, refused))
    return drafts


def _fault(proposal: Proposal) -> Reason | None:
    missing = [_FIELDS[name][0] for name, text in proposal._asdict().items() if not essence(text)]
    if missing:
        return Reason("proposal_incomplete", {"missing": ", ".join(missing)})
    size = len(essence(proposal.task_description))
    if size < MIN_DESCRIPTION:
        return Reason("proposal_short", {"least": MIN_DESCRIPTION, "got": size})
    for text, most in zip(proposal, (_MAX_NAME, MAX_DESCRIPTION, _MAX_KIND), strict=True):
        if len(text) > most:
            return Reason("proposal_long", {"most": most})
    return None


def _objects(reply: str) -> Iterator[Mapping[str, Any]]:
    """Yields the objects of a reply, including those in nested lists."""
    text = reply[-MAX_REPLY:]
    waiting: list[Any]
    try:
        waiting = [json.loads(unfenced(text), strict=False)]
    except (ValueError, RecursionError):
        waiting = [fields for _, _, fields in find_objects(drop_reasoning(text))][::-1]
    depth = 0
    while waiting and depth < 10 * MAX_PROPOSALS:
        depth += 1
        value = waiting.pop()
        if isinstance(value, list):
            waiting += value[: 10 * MAX_PROPOSALS][::-1]
        elif isinstance(value, Mapping):
            inner = [each for each in value.values() if isinstance(each, list | Mapping)]
            if len(inner) == len(value):
                waiting += inner[::-1]
            else:
                yield value


def _proposal(known: Mapping[str, Any]) -> Proposal:
    values = {field: next((known[name] for name in names if name in known), "") for field, names in _FIELDS.items()}
    return Proposal(
        _line(values["act"], _MAX_NAME),
        _text(values["task_description"], MAX_DESCRIPTION),
        _line(values["request_type"], _MAX_KIND),
    )


def _text(value: object, most: int) -> str:
    """Returns a text, cut one character above the limit to keep it recognisable as too long."""
    plain = value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)
    return printable(plain).strip()[: most + 1].rstrip()


def _line(value: object, most: int) -> str:
    return " ".join(_text(value, 10 * most).split())[: most + 1].rstrip()
