"""Judge studies as tables and JSON: agreement before and after discussion and with the majority, biases, changed verdicts."""

import json
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from rating.judges import JudgeRow, JudgeStudy, StageAgreement
from rating.schemes import formatting
from rating.schemes.leaderboard import ALWAYS
from rating.stats.agreement import Agreement, PairMeans, RaterPair
from rating.stats.estimates import Estimate
from rating.stats.judge_bias import BiasTest
from rating.stats.transport import PartError
from rating.viewer.report.judge_errors import error_sheets, error_tables, interval_table, part_tables
from rating.viewer.report.tables import Sheet

_MOST_PAIRS = 45
"""Maximum rows of the table of pairs: all pairs of ten judges."""

_MOST_JUDGES = 60

_MOST_DRAWN = 20
"""Maximum number of judges in a heat map."""

NOTHING: Mapping[str, Sequence[PartError]] = MappingProxyType({})

_DECIMALS = 10
"""Decimals of numbers in JSON."""


def judge_sheets(found: JudgeStudy, title: str) -> list[Sheet]:
    """Returns the tables of a study.

    Args:
        found: the study.
        title: title of the first table.
    """
    sheets = [_summary(found, title)]
    if any(stage.pairs for stage in _stages(found).values()):
        sheets.append(_pairs(found))
        sheets.append(_majority(found))
    return [*sheets, _habits(found), *error_sheets(found)]


def kappa_charts(found: JudgeStudy) -> list[tuple[list[str], dict[str, dict[tuple[str, str], Agreement]]]]:
    """Returns names and pairwise agreement by stage for heat maps, or nothing outside of 2 to ``_MOST_DRAWN`` judges."""
    stages = _stages(found)
    names = [row.judge for row in found.judges if any(row.judge in stage.majority for stage in stages.values())]
    if not 2 <= len(names) <= _MOST_DRAWN:
        return []
    tables = {
        f"kappa {stage} discussion" if stage else "kappa": {pair.raters: pair.plain for pair in part.pairs or ()}
        for stage, part in stages.items()
    }
    return [(names, tables)]


def to_json(found: JudgeStudy, transport: Mapping[str, Sequence[PartError]] = NOTHING) -> str:
    """Returns a study as JSON: final agreement at the top level, agreement before discussion under ``before``.

    Args:
        found: the study.
        transport: of the judges' calibrations between environments.
    """
    table: dict[str, Any] = {
        **_stage_table(found.after, found),
        "items": found.items,
        "judges": len(found.judges),
        "level": found.level,
        "rounded": found.rounded,
        "before": _stage_table(found.before, found) if found.before else None,
        "changed": interval_table(found.changed),
        "decisions_changed": interval_table(found.decisions_changed),
        "by_judge": [_judge_table(row, found) for row in found.judges],
        **error_tables(found),
        "transport": {judge: part_tables(parts) for judge, parts in transport.items()},
    }
    return json.dumps(_rounded(table), indent=2, ensure_ascii=False, allow_nan=False)


def _stages(found: JudgeStudy) -> dict[str, StageAgreement]:
    """Returns the stages by name: ``before`` and ``after``, or one unnamed stage without discussion."""
    return {"before": found.before, "after": found.after} if found.before else {"": found.after}


def _headed(title: str, stage: str) -> str:
    return f"{title} {stage}".rstrip()


def _summary(found: JudgeStudy, title: str) -> Sheet:
    stages = _stages(found)
    rows: list[tuple[str, Callable[[StageAgreement], str]]] = [
        ("items with verdicts of two or more", lambda stage: str(stage.shared)),
        (
            "agreement, mean over pairs of judges",
            lambda stage: formatting.percent(stage.means and stage.means.agreement),
        ),
        ("agreement, pooled over pairs of verdicts", lambda stage: formatting.percent(stage.pooled)),
        ("Cohen's kappa, mean over pairs", lambda stage: _mean_kappa(stage.means)),
        (
            f"the same, pairs with {found.min_pairs} items or more",
            lambda stage: _mean_kappa(stage.means_of_many),
        ),
        ("Fleiss' kappa", lambda stage: _kappa(stage.fleiss, stage.shared)),
        (f"Krippendorff's alpha, {found.level}", lambda stage: _kappa(stage.krippendorff, stage.shared)),
    ]
    notes = [f"items: {found.items}, judges: {len(found.judges)}"]
    notes.append("agreement in per cent, with 95 % intervals by item and (number of items or pairs)")
    if found.rounded:
        notes.append("ratings rounded to whole numbers, because there are many different ones")
    if found.changed:
        notes.append(f"verdicts changed in the discussion: {formatting.percent(found.changed)} %")
        notes.append(f"decisions of the majority changed by it: {formatting.percent(found.decisions_changed)} %")
    notes += [f"{row.judge}, {bias}" for row in found.judges for bias in row.biases.named()]
    header = ["agreement of judges", *(stage or "value" for stage in stages)]
    return Sheet(
        title,
        header,
        [[name, *(cell(stage) for stage in stages.values())] for name, cell in rows],
        notes,
        [ALWAYS] * len(header),
    )


def _mean_kappa(means: PairMeans | None) -> str:
    if means is None or not means.pairs:
        return ""
    if means.kappa is None:
        return f"undefined ({means.pairs})"
    return formatting.estimate(means.kappa._replace(n=means.defined))


def _kappa(value: Estimate | None, n: int) -> str:
    """Formats a kappa. An undefined kappa is neither 0 nor 1, so it is marked as undefined."""
    if value is None:
        return f"undefined ({n})" if n else ""
    return formatting.estimate(value)


def _pairs(found: JudgeStudy) -> Sheet:
    stages = _stages(found)
    by_name = {stage: {pair.raters: pair for pair in part.pairs or ()} for stage, part in stages.items()}
    names = sorted({raters for pairs in by_name.values() for raters in pairs})
    items = {raters: max(pairs[raters].plain.n for pairs in by_name.values() if raters in pairs) for raters in names}
    shown = sorted(sorted(names, key=lambda raters: -items[raters])[:_MOST_PAIRS])
    notes = ["undefined: all verdicts of both judges are equal"]
    if any(items[raters] < found.min_pairs for raters in shown):
        notes.append(f"*: fewer than {found.min_pairs} items, too few for a kappa to say much")
    if len(shown) < len(names):
        notes.append(f"{len(names) - len(shown)} pairs with fewer items are left out; --json has all")
    header = ["two judges"]
    columns: list[Callable[[RaterPair], str]] = [
        lambda pair: _kappa(pair.plain.kappa, pair.plain.n) + ("*" if pair.plain.n < found.min_pairs else ""),
        lambda pair: _kappa(pair.linear and pair.linear.kappa, pair.plain.n),
        lambda pair: formatting.percent(pair.plain.observed),
    ]
    for stage in stages:
        header += [_headed(name, stage) for name in ("kappa", "weighted", "agreement %")]
    rows = [
        [
            " / ".join(raters),
            *(cell(pairs[raters]) if raters in pairs else "" for pairs in by_name.values() for cell in columns),
        ]
        for raters in shown
    ]
    return Sheet("Every two judges", header, rows, notes, [ALWAYS, *[80, 20, 60] * len(stages)])


def _majority(found: JudgeStudy) -> Sheet:
    stages = _stages(found)
    header, rows = ["judge"], []
    for stage in stages:
        header += [
            _headed(name, stage) for name in ("kappa with all", "kappa with the others", "agreement with them %")
        ]
    for row in found.judges[:_MOST_JUDGES]:
        line = [row.judge]
        for part in stages.values():
            both = part.majority.get(row.judge)
            line += (
                [_agreement(both.all), _agreement(both.others), formatting.percent(both.others.observed)]
                if both
                else [""] * 3
            )
        rows.append(line)
    notes = [
        "with all: majority of all judges, including this one; with the others: without it",
        "if several verdicts lead, the majority is a tie"
        if found.preferences
        else "items without a majority are left out",
    ]
    return Sheet("With the majority", header, rows, [*notes, *_left_out(found)], [ALWAYS, *[60, 80, 40] * len(stages)])


def _agreement(found: Agreement) -> str:
    return _kappa(found.kappa, found.n)


def _habits(found: JudgeStudy) -> Sheet:
    columns: list[tuple[str, Callable[[JudgeRow], str], int]] = [
        ("judge", lambda row: row.judge, ALWAYS),
        ("verdicts", lambda row: str(row.verdicts), ALWAYS),
        ("abstained", lambda row: str(row.abstentions), 70),
        ("ties %", lambda row: formatting.percent(row.ties), 50),
        ("position bias: first side %", lambda row: _test(row.biases.position), 90),
        (
            "verbosity bias: longer text %",
            lambda row: _tested(row.biases.verbosity.longer, row.biases.verbosity.p),
            80,
        ),
        ("longer, above others %", lambda row: _tested(row.biases.verbosity.beyond, None), 30),
        (
            "family bias: own family, above others %",
            lambda row: _test(row.biases.family),
            75,
        ),
        ("same in both orders %", lambda row: formatting.percent(row.consistent), 75),
        ("changed %", lambda row: formatting.percent(row.changes.changed) if row.changes else "", 65),
        ("to the majority %", lambda row: formatting.percent(row.changes.towards) if row.changes else "", 40),
        ("away from it %", lambda row: formatting.percent(row.changes.away) if row.changes else "", 35),
    ]
    rows = [[cell(row) for _, cell, _ in columns] for row in found.judges[:_MOST_JUDGES]]
    notes = ["p: corrected for all tests of all judges (false discovery rate, Benjamini-Hochberg)"]
    if found.before:
        notes.append(
            "biases: from verdicts before discussion; position bias from final ones where both orders were judged"
        )
    notes += _bias_notes(found)
    return Sheet(
        "Biases and habits",
        [heading for heading, _, _ in columns],
        rows,
        [*notes, *_left_out(found)] if found.preferences else _left_out(found),
        [importance for _, _, importance in columns],
    ).without_empty_columns(3)


def _bias_notes(found: JudgeStudy) -> list[str]:
    biases = [row.biases for row in found.judges]
    notes = []
    if any(each.position for each in biases):
        notes.append("first side: the same texts, or the same two players, in both positions; 50 is no bias")
    else:
        notes.append("position bias not tested: no two players were shown in both positions")
    if any(each.verbosity.longer for each in biases):
        notes.append("longer text: between the same two players; 50 is no bias, unless longer texts are better")
    if any(each.verbosity.beyond or each.family for each in biases):
        notes.append(
            "above others: points added to the score beyond the other judges' view of the same texts; 0 is no bias"
        )
    if any(each.verbosity.p is not None for each in biases):
        notes.append("p of verbosity bias: both tests must agree")
    return notes


def _left_out(found: JudgeStudy) -> list[str]:
    more = len(found.judges) - _MOST_JUDGES
    return [f"{more} more judges are left out; --json has all"] if more > 0 else []


def _test(found: BiasTest | None) -> str:
    return _tested(found, found and found.p)


def _tested(found: BiasTest | None, p: float | None) -> str:
    """Formats the estimate of a test with a p-value."""
    text = formatting.percent(found and found.estimate)
    return f"{text} p {p:.2g}" if text and p is not None else text


def _stage_table(stage: StageAgreement, found: JudgeStudy) -> dict[str, Any]:
    return {
        "pairs": None if stage.pairs is None else [_pair_table(pair, found) for pair in stage.pairs],
        "fleiss": stage.fleiss and stage.fleiss.value,
        "krippendorff": stage.krippendorff and stage.krippendorff.value,
        "intervals": {"fleiss": interval_table(stage.fleiss), "krippendorff": interval_table(stage.krippendorff)},
        "shared_items": stage.shared,
        "agreement_pooled": interval_table(stage.pooled),
        "mean": _means_table(stage.means),
        "mean_of_pairs_with_enough": _means_table(stage.means_of_many),
        "majority": [
            {"judge": judge, "all": _agreement_table(both.all), "others": _agreement_table(both.others)}
            for judge, both in stage.majority.items()
        ],
    }


def _pair_table(pair: RaterPair, found: JudgeStudy) -> dict[str, Any]:
    return {
        "judges": list(pair.raters),
        **_agreement_table(pair.plain),
        "kappa_linear": pair.linear and pair.linear.kappa and pair.linear.kappa.value,
        "kappa_quadratic": pair.quadratic and pair.quadratic.kappa and pair.quadratic.kappa.value,
        "few": pair.plain.n < found.min_pairs,
    }


def _agreement_table(found: Agreement) -> dict[str, Any]:
    return {
        "n": found.n,
        "kappa": found.kappa and found.kappa.value,
        "agreement": found.observed and found.observed.value,
        "kappa_interval": found.kappa and [found.kappa.low, found.kappa.high],
        "agreement_interval": found.observed and [found.observed.low, found.observed.high],
    }


def _means_table(means: PairMeans | None) -> dict[str, Any] | None:
    if means is None:
        return None
    return {
        "agreement": interval_table(means.agreement),
        "kappa": interval_table(means.kappa),
        "pairs": means.pairs,
        "pairs_with_kappa": means.defined,
        "pairs_left_out": means.left_out,
    }


def _judge_table(row: JudgeRow, found: JudgeStudy) -> dict[str, Any]:
    table = {
        "judge": row.judge,
        "verdicts": row.verdicts,
        "abstentions": row.abstentions,
    }
    if not found.preferences:
        return table
    position, verbosity, family = row.biases.position, row.biases.verbosity, row.biases.family
    return {
        **table,
        "ties": interval_table(row.ties),
        "position_bias": _test_table(position, "first_side"),
        "verbosity_bias": {
            "longer_text": verbosity.longer and interval_table(verbosity.longer.estimate),
            "beyond_others": verbosity.beyond and interval_table(verbosity.beyond.estimate),
            "p": verbosity.p,
            "power": verbosity.power,
        },
        "family_bias": family and _test_table(family, "beyond_others"),
        "same_in_both_orders": interval_table(row.consistent),
        "changed": row.changes and interval_table(row.changes.changed),
        "changed_to_majority": row.changes and interval_table(row.changes.towards),
        "changed_from_majority": row.changes and interval_table(row.changes.away),
        "biases": row.biases.named(),
    }


def _test_table(found: BiasTest | None, name: str) -> dict[str, Any]:
    return {name: found and interval_table(found.estimate), "p": found and found.p, "power": found and found.power}


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_rounded(item) for item in value]
    return round(value, _DECIMALS) + 0.0 if isinstance(value, float) else value
