"""Results written for others: battles as Chatbot Arena publishes them, tables of wins, and verdicts of judges."""

import csv
import json
from typing import TextIO

import numpy as np

from llmarena_envs.core.options import OptionError, check_choice
from rating.imports.source import Source
from rating.judgements.files import case_of
from rating.judgements.judgement import TIE
from rating.statistics.battles import comparisons_of
from rating.statistics.bradley_terry import totals

_DECIMALS = 9
"""Of a count of wins; sums of fractions are not exact behind them."""


def write_battles(source: Source, file: TextIO, environment: str = "") -> None:
    """Writes one JSON object a line: the two names, who won, environment, deal and match.

    A result that is no whole win and no tie says its score too, one that counts otherwise than others its weight, one
    of texts with known style its style.

    Args:
        source: of the results.
        file: where to.
        environment: whose; empty for all.

    Raises:
        OptionError: if the source has none of that name.
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
    """Writes a table of counts: names in the first line and the first column, wins of the row over the column; a tie is half one.

    Args:
        source: of the results.
        file: where to.
        environment: whose; empty for the only one.

    Raises:
        OptionError: if the source has none of that name, or several and none was asked for.
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
    """Writes a table of what each judge said of each case, a line a verdict: before a discussion, and the one that counts.

    Args:
        source: of the verdicts.
        file: where to.
        environment: whose; empty for all.

    Raises:
        OptionError: if the source has none of that name.
    """
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["environment", "item", "judge", "stage", "verdict", "a", "b", "words_a", "words_b"])
    for name in _chosen(source, environment):
        for said in source.judgements(name) or ():
            item = said.item.removesuffix(": " + case_of("", said.players))
            stages = [("first", said.first)] if said.first is not None else []
            for stage, label in [*stages, ("final", said.final)]:
                shown = "" if label is None else label
                writer.writerow([name, item, said.judge, stage, shown, *said.players, *(said.words or ("", ""))])


def _chosen(source: Source, environment: str) -> tuple[str, ...]:
    known = source.environments()
    if not environment:
        return known
    check_choice("environment", environment, known)
    return (environment,)
