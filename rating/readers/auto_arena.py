"""Judgement logs of Auto-Arena (arXiv 2405.20267v1): one debate per line, with the verdicts of each committee judge."""

from collections.abc import Iterator
from typing import Any

from llmarena_envs.core.options import OptionError
from rating.judgements import case_of, committee, read_label
from rating.readers.result import Result, battle_of, case_name, name_of, score_of


def fits(columns: frozenset[str]) -> bool:
    """Returns whether a row with these columns can be of the format."""
    return columns.issuperset(("gamekey", "judges"))


def read(row: dict[str, Any], where: str) -> Iterator[Result]:
    """Yields a result for the last verdict of each judge on a debate.

    Raises:
        OptionError: if a line is not a judgement.
    """
    if not fits(frozenset(row)):
        raise OptionError("expected gamekey and judges, the judgement of a debate")
    for said, stages in committee(row):
        players = (name_of(said.players[0]), name_of(said.players[1]))
        labels = {stage: read_label(text, said.players) for stage, text in stages.items()}
        final, first = labels["final"], labels.get("first")
        question = case_name(str(row["gamekey"][0]))
        yield Result(
            None if final is None else battle_of(players, score_of(final), question),
            judgement=said._replace(
                item=case_of(question, players),
                judge=name_of(said.judge),
                final=final,
                first=first,
                players=players,
                contest=case_of(question, tuple(sorted(players))),
            ),
        )
