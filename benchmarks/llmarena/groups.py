"""Groups of players, e.g. by size, and their average scores (LLMArena, arXiv 2402.16499, text on Table 1).

The paper groups models by number of parameters, as given by their names.
"""

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from benchmarks.experiments.published import Published
from benchmarks.experiments.tables import MEASURED, PUBLISHED, Cell, Column, Table
from llmarena_envs.core.options import OptionError, nearest
from rating.schemes.summary import Summary
from rating.stats.estimates import Estimate

HEADER = ["policy", "group"]

PUBLISHED_GROUPS = {
    "70B": ("Qwen-72B-Chat", "Llama-2-70B", "Agentlm-70B", "DeepSeek-67B-Chat"),
    "30B": ("SUS-Chat-34B", "Yi-34B-Chat"),
    "10B": (
        "Qwen-14B-Chat",
        "WizardLM-13B",
        "AgentLM-13B",
        "DeepSeek-7B-Chat",
        "AgentLM-7B",
        "Vicuna-7B",
    ),
}


def read_groups(path: Path) -> dict[str, str]:
    """Reads a CSV file with the columns ``policy`` and ``group``.

    Returns:
        The group of each policy; empty for a policy without a group.

    Raises:
        OptionError: if the file has another format, or names a policy twice.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
        reader = csv.reader(text.split("\n"), strict=True)
        rows = [(reader.line_num, [cell.strip() for cell in cells]) for cells in reader]
    except (OSError, UnicodeDecodeError) as error:
        raise OptionError(f"groups: expected a CSV file, but {path}: {error}") from error
    except csv.Error as error:
        raise OptionError(f"{path}, line {reader.line_num}: expected a CSV file, but: {error}") from error
    lines = [(number, cells) for number, cells in rows if any(cells)]
    if not lines or lines[0][1] != HEADER:
        first = ",".join(lines[0][1])[:80] if lines else ""
        raise OptionError(f"{path}, line {lines[0][0] if lines else 1}: expected policy,group, got {first!r}")
    groups: dict[str, str] = {}
    for number, cells in lines[1:]:
        if len(cells) != len(HEADER) or not cells[0]:
            raise OptionError(f"{path}, line {number}: expected a policy and its group, got {','.join(cells)[:80]!r}")
        policy, group = cells
        if policy in groups:
            raise OptionError(f"{path}, line {number}: expected every policy once, got {policy!r} again")
        groups[policy] = group
    return groups


def check_groups(groups: Mapping[str, str], policies: Sequence[str], path: Path) -> None:
    """Checks that the file lists exactly the policies of the run.

    Raises:
        OptionError: if one is missing or unknown.
    """
    for policy in groups:
        if policy not in policies:
            raise OptionError(
                f"{path}: expected policies of the run, {', '.join(sorted(policies))}, got {policy!r}{nearest(policy, policies)}"
            )
    missing = [policy for policy in policies if policy not in groups]
    if missing:
        raise OptionError(
            f"{path}: expected a line for every policy, found none for {', '.join(missing)};"
            " a policy that belongs to no group has an empty one"
        )


def group_table(summary: Summary, groups: Mapping[str, str], titles: Mapping[str, str]) -> Table:
    """Returns the averages of the groups, in the order of the file; a group's average is the mean of its players' averages."""
    names = list(dict.fromkeys(group for group in groups.values() if group))
    rows: list[list[Cell]] = []
    for name in names:
        members = [row for row in summary.rows if groups[row.policy] == name]
        rows.append(
            [
                name,
                ", ".join(row.policy for row in members),
                *(mean([row.scores[game] for row in members]) for game in summary.environments),
                mean([row.average.value if row.average else None for row in members]),
            ]
        )
    headings = [*(titles[game] for game in summary.environments), "average"]
    return Table(
        "groups",
        "average normalised scores of groups",
        [Column("group"), Column("players"), *(Column(heading, MEASURED) for heading in headings)],
        rows,
        ["(n): players of the group with a score"],
    )


def published_group_table(cells: Published, printed: Published) -> Table:
    """Returns the averages of the paper's size groups, computed from its cells, beside the printed ones.

    Args:
        cells: normalised scores by model; the last column is the average.
        printed: the average by group.
    """
    rows: list[list[Cell]] = [
        [
            name,
            ", ".join(members),
            *(mean([cells.rows[model][index] for model in members]) for index in range(len(cells.columns))),
            printed.rows[name][0],
        ]
        for name, members in PUBLISHED_GROUPS.items()
    ]
    return Table(
        "groups-published",
        "the paper's size groups, computed from its cells",
        [
            Column("group"),
            Column("models"),
            *(Column(f"{title}, from the cells", PUBLISHED) for title in cells.columns),
            Column("average, as printed", PUBLISHED),
        ],
        rows,
        [f"published: {cells.source}; {printed.source}", *printed.notes, "(n): models of the group"],
    )


def mean(values: Iterable[float | None]) -> Estimate | None:
    """Returns the mean of the values that are not ``None``, with their number."""
    known = [value for value in values if value is not None]
    return Estimate(sum(known) / len(known), None, None, len(known), len(known)) if known else None
