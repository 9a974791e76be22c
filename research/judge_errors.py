"""Errors of judges: coverage of prediction-powered scores, false discoveries and power of bias tests, transport, rater model.

OMP_NUM_THREADS=1 python -m research.judge_errors
python -m research.judge_errors --only coverage --picture docs/pictures/judge-errors
python -m research.judge_errors --smoke
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.experiments import pictures
from benchmarks.options import option, parse
from rating.judge_biases import Biases, judge_biases
from rating.stats.estimates import Estimate, Floats
from rating.stats.prediction_powered import TrueScore, true_score
from rating.stats.rater_model import fit_raters
from rating.stats.transport import transport
from research.judge_biases import KINDS, Setting, judgements
from research.tables import print_table


@dataclass(frozen=True)
class Options:
    """Options of the study."""

    only: str = option("", "one table: coverage, discoveries, power, transport or raters")
    runs: int = option(1000, "data sets of a row of coverage", smoke=3)
    studies: int = option(200, "studies of a row of the other tables", smoke=2)
    seed: int = option(2026, "of everything drawn")
    picture: str = option("", "picture of one simulated run: path without .svg and .png")
    smoke: bool = option(False, "the smallest size, which only shows that everything runs")


class Judge(NamedTuple):
    """A simulated judge of work that is right or wrong.

    Attributes:
        praise: chance to score wrong work as right.
        slip: chance to confuse right and wrong.
        noise: standard deviation of its scores, on a scale of 1.
    """

    praise: float = 0.0
    slip: float = 0.0
    noise: float = 0.1


JUDGES = {
    "nearly perfect": Judge(),
    "praises 30 % of wrong work": Judge(praise=0.3),
    "praises 60 %, slips 10 %": Judge(praise=0.6, slip=0.1),
    "chance": Judge(slip=0.5),
}

SIZES = ((150, 0.2), (150, 0.5), (600, 0.1), (600, 0.3), (2000, 0.1))
"""Numbers of items, and the share with truth."""

RATES = (0.6, 0.9)


def draw(
    rng: np.random.Generator, judge: Judge, items: int, share: float, rate: float, deal: int = 1, kinder: float = 0.0
) -> TrueScore:
    """Draws the work of one policy, and estimates its true score.

    Args:
        rng: source of randomness.
        judge: the judge.
        items: number of items.
        share: chance of a deal to have truth.
        rate: chance of right work.
        deal: items of a deal, which are right with a common chance.
        kinder: further chance to praise wrong work without truth.
    """
    deals = items // deal
    chances = np.full(deals, rate) if deal == 1 else rng.beta(2 * rate, 2 * (1 - rate), deals)
    right = rng.random(items) < chances.repeat(deal)
    known = (rng.random(deals) < share).repeat(deal)
    seen = right | (rng.random(items) < judge.praise + kinder * ~known)
    seen ^= rng.random(items) < judge.slip
    scores = np.clip(0.1 + 0.8 * seen + judge.noise * rng.normal(size=items), 0, 1)
    truth = [float(one) if flag else None for one, flag in zip(right, known, strict=True)]
    found = true_score(scores.tolist(), truth, np.arange(deals).repeat(deal).tolist())
    assert found is not None
    return found


def coverage_rows(options: Options) -> Iterator[list[str]]:
    """Yields the coverage of true scores, in groups of settings."""
    settings: list[tuple[str, dict[str, Any]]] = [
        (f"{name}; {items} items, truth of {share:.0%}; right {rate:.0%}", {"judge": judge} | _size(items, share, rate))
        for name, judge in JUDGES.items()
        for items, share in SIZES
        for rate in RATES
    ]
    praising = {"judge": JUDGES["praises 30 % of wrong work"]} | _size(600, 0.3, 0.6)
    settings += [
        ("praises 30 %; 600 items, truth of 30 %; 4 items a deal", praising | {"deal": 4}),
        ("the same, but 20 % more praise without truth", praising | {"kinder": 0.2}),
        ("the same, but 50 % more praise without truth", praising | {"kinder": 0.5}),
    ]
    for number, (name, setting) in enumerate(settings):
        rng, rate = np.random.default_rng([options.seed, number]), setting["rate"]
        found = [draw(rng, **setting) for _ in range(options.runs)]
        given = [one.corrected for one in found if one.corrected]
        alone = [one.judged for one in found]
        yield [
            name,
            f"{1 - len(given) / len(found):.2f}",
            f"{_covered(given, rate):.3f}",
            f"{_covered(alone, rate):.3f}",
            f"{_half(given):.3f}",
            f"{np.mean([one.value for one in alone]) - rate:+.3f}",
        ]


def _size(items: int, share: float, rate: float) -> dict[str, Any]:
    return {"items": items, "share": share, "rate": rate}


def _covered(found: Sequence[Estimate], value: float) -> float:
    inside = [one.low <= value <= one.high for one in found if one.low is not None and one.high is not None]
    return float(np.mean(inside)) if inside else float("nan")


def _half(found: Sequence[Estimate]) -> float:
    widths = [(one.high - one.low) / 2 for one in found if one.low is not None and one.high is not None]
    return float(np.mean(widths)) if widths else float("nan")


DISCOVERIES = {
    "no judge of 6": Setting(),
    "1 of 6: position": Setting(biased=1, position=1.0),
    "3 of 6: position": Setting(biased=3, position=1.0),
    "3 of 6: position, both orders": Setting(biased=3, position=0.5, both_orders=True),
    "2 of 6: verbosity": Setting(biased=2, verbosity=1.0),
    "2 of 6: family": Setting(biased=2, family=2.0),
    "2 of 6: all three": Setting(biased=2, position=1.0, verbosity=1.0, family=2.0),
    "4 of 12: all three": Setting(judges=12, biased=4, position=1.0, verbosity=1.0, family=2.0),
    "5 of 6: verbosity": Setting(biased=5, verbosity=1.0),
}

_FAMILIES = {f"{kind} {number}": f"family {number}" for kind in ("judge", "policy") for number in range(99)}


def studies(setting: Setting, options: Options) -> Iterator[list[Biases]]:
    """Yields the biases of the judges of each study, by number."""
    for study in range(options.studies):
        found = judge_biases(judgements(np.random.default_rng([options.seed, study]), setting), _FAMILIES)
        yield [found[f"judge {number}"] for number in range(setting.judges)]


def discovery_rows(options: Options) -> Iterator[list[str]]:
    """Yields the share of planted biases that are named, and of false ones among those named."""
    for name, setting in DISCOVERIES.items():
        planted = {kind for kind in KINDS if getattr(setting, kind)}
        hits, false, any_false = [], [], []
        for biases in studies(setting, options):
            named = {(number, text.partition(" bias")[0]) for number, one in enumerate(biases) for text in one.named()}
            right = {(number, kind) for number, kind in named if number < setting.biased and kind in planted}
            hits.append(len(right) / max(1, setting.biased * len(planted)))
            false.append((len(named) - len(right)) / max(1, len(named)))
            any_false.append(len(named) > len(right))
        hit = f"{np.mean(hits):.2f}" if planted else ""
        yield [name, hit, f"{np.mean(false):.3f}", f"{np.mean(any_false):.3f}"]


POWERED: dict[str, tuple[Setting, Sequence[float]]] = {
    "position, 100 items": (Setting(biased=1, items=100), (0.6, 0.8, 1.0)),
    "position, both orders, 100 items": (Setting(biased=1, items=100, both_orders=True), (0.6, 0.8, 1.0)),
    "position, both orders, 200 items": (Setting(biased=1, both_orders=True), (0.6, 0.8, 1.0)),
    "family, 200 items": (Setting(biased=1), (0.6, 0.8, 1.0)),
    "family, 800 items": (Setting(biased=1, items=800), (0.6, 0.8, 1.0)),
    "verbosity, 400 items": (Setting(biased=1, items=400), (0.6, 0.8, 1.0)),
}
"""Studies of one biased judge, and biases in logits around 10 points."""


def power_rows(options: Options) -> Iterator[list[str]]:
    """Yields the stated power for a bias of 10 points beside the rate of finding one."""
    for name, (setting, logits) in POWERED.items():
        kind, points, stated, realised = name.split(",")[0], [], [], []
        for logit in logits:
            planted: dict[str, Any] = {kind: logit}
            own = [biases[0] for biases in studies(replace(setting, **planted), options)]
            points.append(float(np.nanmean([_points(one, kind) for one in own])))
            stated.append(float(np.nanmean([_power(one, kind) for one in own])))
            realised.append(float(np.mean([any(kind in text for text in one.named()) for one in own])))
        at = [f"{np.interp(0.1, points, values):.2f}" for values in (stated, realised)]
        yield [name, f"{np.interp(0.1, points, logits):.2f}", *at]


def _points(biases: Biases, kind: str) -> float:
    test = {
        "position": biases.position,
        "family": biases.family,
        "verbosity": biases.verbosity.beyond,
    }[kind]
    if test is None:
        return float("nan")
    return test.estimate.value - 0.5 if kind == "position" else test.estimate.value / 2


def _power(biases: Biases, kind: str) -> float:
    test = biases.verbosity if kind == "verbosity" else getattr(biases, kind)
    return float("nan") if test is None or test.power is None else float(test.power)


def transport_rows(options: Options) -> Iterator[list[str]]:
    """Yields how often a part with another calibration is found, and any of the other parts."""
    for parts, deals, share in ((2, 40, 0.0), (6, 12, 0.0), (4, 40, 0.0), (4, 40, 0.2), (4, 40, 0.4), (2, 100, 0.3)):
        rng = np.random.default_rng([options.seed, parts, deals])
        last, others = [], []
        for _ in range(options.studies):
            part, deal = np.arange(parts).repeat(3 * deals), np.tile(np.arange(deals).repeat(3), parts)
            right = rng.random(len(part)) < np.tile([0.9, 0.6, 0.3], parts * deals)
            praise = 0.2 + share * (part == parts - 1)
            scores = np.clip(0.8 * (right | (rng.random(len(part)) < praise)) + 0.1 * rng.normal(size=len(part)), 0, 1)
            names = [f"part {one}" for one in part]
            found = transport(scores.tolist(), right.astype(float).tolist(), names, deal.tolist())
            last.append(any(one.p < 0.05 for one in found if one.part == f"part {parts - 1}"))
            others.append(any(one.p < 0.05 for one in found))
        planted = f"{share:.0%} more praise in the last" if share else "none"
        hit = f"{np.mean(last):.2f}" if share else ""
        yield [f"{parts} parts of {deals} deals", planted, hit, "" if share else f"{np.mean(others):.3f}"]


def rater_rows(options: Options) -> Iterator[list[str]]:
    """Yields the recovery of planted severities and discriminations."""
    for raters, items, kinds, each in ((3, 60, 3, 3), (6, 60, 3, 6), (6, 300, 3, 6), (12, 300, 3, 4), (6, 300, 10, 3)):
        rng = np.random.default_rng([options.seed, raters, items])
        errors, covered = [], []
        for _ in range(options.studies):
            slopes, severities, cases = _rated(rng, raters, items, kinds, each)
            for one, slope, severity in zip(fit_raters(cases).raters, slopes, severities, strict=True):
                found, planted = (one.severity, one.discrimination), (severity, slope)
                covered.append([_covered([mine], value) for mine, value in zip(found, planted, strict=True)])
                errors.append((one.severity.value - severity, np.log(one.discrimination.value / slope)))
        names = f"{raters} judges, {items} items, {each} each, {kinds} kinds of verdicts"
        within = [f"{share:.3f}" for share in np.mean(covered, axis=0)]
        yield [name for pair in ([names], within, [f"{one:.2f}" for one in np.std(errors, axis=0)]) for name in pair]


def _rated(
    rng: np.random.Generator, raters: int, items: int, kinds: int, each: int
) -> tuple[Floats, Floats, dict[str, dict[str, float]]]:
    slopes, severities = np.exp(rng.normal(0.3, 0.4, raters)), rng.normal(0, 0.5, raters)
    severities -= severities.mean()
    thresholds = np.linspace(-1.5, 1.5, kinds - 1)
    cases = {}
    for item, quality in enumerate(rng.normal(size=items)):
        own = rng.permutation(raters)[:each]
        chances = 1 / (1 + np.exp(-slopes[own, None] * (quality - severities[own, None] - thresholds)))
        scores = (rng.random((len(own), 1)) < chances).sum(axis=1)
        cases[f"{item}"] = {f"{rater:02}": float(score) for rater, score in zip(own, scores, strict=True)}
    return slopes, severities, cases


def draw_picture(options: Options) -> None:
    """Draws one simulated run: the same work before four judges, alone and corrected."""
    rows: dict[str, Estimate | None] = {}
    for name, judge in JUDGES.items():
        found = draw(np.random.default_rng(options.seed), judge, 600, 0.3, 0.6)
        for label, one in (("judge alone", found.judged), ("true (PPI)", found.corrected)):
            rows[f"{name}: {label}"] = _percent(one)
    label = "share of right work, %: 600 items, truth of 30 %, 95 % intervals"
    pictures.save(pictures.estimates(rows, label, lines={"planted": 60.0}), Path(options.picture))


def _percent(one: Estimate | None) -> Estimate | None:
    if one is None or one.low is None or one.high is None:
        return None
    return one._replace(value=100 * one.value, low=100 * one.low, high=100 * one.high)


TABLES: dict[str, tuple[str, Callable[[Options], Iterator[list[str]]]]] = {
    "coverage": ("judge and items | refused | coverage | judge alone | half-width | error of the judge", coverage_rows),
    "discoveries": ("biased judges | found | false discovery rate | any false one", discovery_rows),
    "power": ("bias of 10 points | logits | stated power | realised", power_rows),
    "transport": ("parts | difference | found | any false one", transport_rows),
    "raters": ("design | severity covered | discrimination covered | error | error of the log", rater_rows),
}
"""Heading and rows of each table."""


def main(options: Options) -> None:
    """Prints the tables."""
    for name, (header, rows) in TABLES.items():
        if options.only in ("", name):
            print_table(header, rows(options))
            print()
    if options.picture:
        draw_picture(options)


if __name__ == "__main__":
    main(parse(Options, __doc__))
