"""Export of results: battles in Chatbot Arena's format, win matrices, and judges' verdicts."""

import csv
import json
from typing import TextIO

import numpy as np

from llmarena_envs.core.options import OptionError, check_choice
from rating.judgements import TIE, item_name
from rating.stats.bradley_terry import totals
from rating.stats.bradley_terry.comparisons import comparisons_of
from rating.viewer.source import Source

_DECIMALS = 9
"""Decimals of a number of wins; floating-point sums are not exact beyond them."""


def write_battles(source: Source, file: TextIO, environment: str = "") -> None:
    """Writes JSON lines: names, winner, environment, deal and match.

    ``score`` is added if it is not 0, 0.5 or 1, ``weight`` if it is not 1, and ``style`` if it is known.

    Args:
        source: of the results.
        file: output file.
        environment: name of the environment; empty for all.

    Raises:
        OptionError: if the source has no such environment.
    """
    for name in _chosen(source, environment):
        for match, battle in source.named_battles(name):
            winner = TIE if battle.score == 0.5 else "model_a" if battle.score > 0.5 else "model_b"
            row = {"model_a": battle.first, "model_b": battle.second, "winner": winner, "environment": name}
            row |= {"question_id": battle.deal} if battle.deal else {}
            row |= {"match": match} if match else {}
            exact = {"score": battle.score} if battle.score not in (0, 0.5, 1) else {}
            exact |= {"weight": battle.weight} if battle.weight != 1 else {}
            style = {"style": dict(battle.style)} if battle.style else {}
            file.write(json.dumps(row | exact | style, ensure_ascii=False) + "\n")


def write_matrix(source: Source, file: TextIO, environment: str = "") -> None:
    """Writes a win matrix as CSV: wins of the row over the column, ties as half wins; empty if the two have not met.

    Args:
        source: of the results.
        file: output file.
        environment: name of the environment; may be empty if there is only one.

    Raises:
        OptionError: if the source has no such environment, or several and none was given.
    """
    names = _chosen(source, environment)
    if len(names) != 1:
        raise OptionError(
            f"environment: a table is of one, got {', '.join(names) or 'none with a result'}; say --environment"
        )
    comparisons = comparisons_of(source.battles(names[0]))
    wins, games = totals(comparisons)
    table = wins + (games - wins).T
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["policy", *comparisons.policies])
    met = games + games.T > 0
    for index, policy in enumerate(comparisons.policies):
        writer.writerow(
            [policy, *(_count(cell) if met[index, other] else "" for other, cell in enumerate(table[index]))]
        )


def _count(wins: float) -> str:
    return np.format_float_positional(round(wins, _DECIMALS), trim="-")


def write_verdicts(source: Source, file: TextIO, environment: str = "") -> None:
    """Writes the verdicts of each judge on each item as CSV, one per line, with the stage: ``first`` or ``final``.

    ``first`` is the verdict before discussion.

    Args:
        source: of the verdicts.
        file: output file.
        environment: name of the environment; empty for all.

    Raises:
        OptionError: if the source has no such environment.
    """
    writer = csv.writer(file, lineterminator="\n")
    columns = ["environment", "item", "judge", "stage", "verdict", "a", "b", "words_a", "words_b", "truth", "task"]
    writer.writerow(columns)
    for name in _chosen(source, environment):
        for said in source.judgements(name) or ():
            item = said.item.removesuffix(": " + item_name("", said.players))
            stages = [("first", said.first)] if said.first is not None else []
            for stage, label in [*stages, ("final", said.final)]:
                shown = "" if label is None else label
                truth = "" if said.truth is None else said.truth
                row = [name, item, said.judge, stage, shown, *said.players, *(said.words or ("", "")), truth, said.part]
                writer.writerow(row)


def _chosen(source: Source, environment: str) -> tuple[str, ...]:
    known = source.environments()
    if not environment:
        return known
    check_choice("environment", environment, known)
    return (environment,)
