"""Biases of judges: how often unbiased judges are named, and how often planted biases are found.

    OMP_NUM_THREADS=1 python -m research.judge_biases
    python -m research.judge_biases --smoke

Judges compare two texts. Each decides by the difference in quality, its planted biases and logistic noise of its own scale. The
quality of a text is the strength of its policy plus Gumbel noise, which makes the difference logistic as well. Judge 0 is of the
family of policy 0, and so on: every judge is tested for position, verbosity and family bias. Biases are in logits: for the side
shown first, the longer text, or the text of the judge's family.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks.options import option, parse
from rating.judge_biases import judge_biases
from rating.judgements import FIRST, SECOND, TIE, Judgement

KINDS = ("position", "verbosity", "family")
BIASES = (0.5, 1.0, 2.0)
_LABELS = {1: FIRST, 0: TIE, -1: SECOND}


@dataclass(frozen=True)
class Options:
    """Options of the study."""

    runs: int = option(200, "studies of unbiased judges, each line", smoke=2)
    planted: int = option(60, "studies with planted biases, each line", smoke=1)
    seed: int = option(2026, "of the studies")
    smoke: bool = option(False, "the smallest size, which only shows that everything runs")


@dataclass(frozen=True)
class Setting:
    """A study.

    Attributes:
        judges: number of judges.
        items: number of pairs of texts.
        policies: number of policies that write texts.
        spread: difference in strength between the best and the worst policy, in logits.
        noise: least and greatest scale of the judges' noise.
        ties: lead below which a judge calls a tie, in logits.
        per_item: judges of an item; 0 for all.
        both_orders: whether every item is judged in both orders.
        quality: extra words, in hundreds, of a text for each logit of its own quality.
        strong_first: chance that the text of the stronger policy is shown first.
        biased: number of biased judges.
        position: their bias for the side shown first, in logits.
        verbosity: their bias for the longer text.
        family: their bias for their own family.
    """

    judges: int = 6
    items: int = 200
    policies: int = 8
    spread: float = 3.0
    noise: tuple[float, float] = (0.5, 2.0)
    ties: float = 0.0
    per_item: int = 0
    both_orders: bool = False
    quality: float = 0.0
    strong_first: float = 0.5
    biased: int = 0
    position: float = 0.0
    verbosity: float = 0.0
    family: float = 0.0


UNBIASED = {
    "plain": Setting(),
    "both orders": Setting(both_orders=True),
    "longer texts are better": Setting(quality=0.3),
    "120 items": Setting(items=120),
    "3 judges": Setting(judges=3),
    "12 judges, 4 of them judge an item, 300 items": Setting(judges=12, items=300, per_item=4),
    "one third of verdicts tied": Setting(ties=1.0),
    "noise .3 to 3": Setting(noise=(0.3, 3.0)),
    "stronger policy shown first in 80 %": Setting(strong_first=0.8),
}

PLANTED = (
    ("position", Setting(biased=1)),
    ("position", Setting(biased=1, both_orders=True)),
    ("verbosity", Setting(biased=1)),
    ("family", Setting(biased=1)),
)


def judgements(rng: np.random.Generator, setting: Setting) -> list[Judgement]:
    """Draws a study."""
    judges, items = setting.judges, setting.items
    strengths = rng.permutation(np.linspace(-0.5, 0.5, setting.policies)) * setting.spread
    pairs = np.argsort(rng.random((items, setting.policies)), axis=1)[:, :2]
    is_first_stronger = strengths[pairs[:, 0]] > strengths[pairs[:, 1]]
    turned = is_first_stronger != (rng.random(items) < setting.strong_first)
    pairs[turned] = pairs[turned, ::-1]
    luck = rng.gumbel(size=(items, 2))
    words = np.maximum(1, np.round(300 + 50 * rng.normal(size=(items, 2)) + 100 * setting.quality * luck))
    kin = (np.equal.outer(np.arange(judges), pairs).astype(int) @ [1, -1]) * setting.family
    longer = np.sign(words @ [1, -1]) * setting.verbosity
    is_biased = np.arange(judges)[:, None] < setting.biased
    fair = ((strengths[pairs] + luck) @ [1, -1])[None, :]
    scales = rng.permutation(np.geomspace(*setting.noise, judges))[:, None]
    seated = np.argsort(rng.random((judges, items)), axis=0) < (setting.per_item or judges)
    found = []
    for order in (1, -1) if setting.both_orders else (1,):
        leads = fair + is_biased * (kin + longer + order * setting.position) + scales * rng.logistic(size=seated.shape)
        verdicts = np.where(np.abs(leads) < setting.ties, 0, np.sign(leads)).astype(int) * order
        shown, lengths, name = pairs[:, ::order].tolist(), words[:, ::order].tolist(), f"{order:+d}"
        for item, judge in np.argwhere(seated.T).tolist():
            first, second = shown[item]
            found.append(
                Judgement(
                    f"item {item} {name}",
                    f"judge {judge}",
                    _LABELS[int(verdicts[judge, item])],
                    players=(f"policy {first}", f"policy {second}"),
                    words=(lengths[item][0], lengths[item][1]),
                    texts_name=f"item {item}",
                )
            )
    return found


def named(setting: Setting, runs: int, seed: int) -> Iterator[list[set[str]]]:
    """Yields, for each study, the kinds of bias that each judge is named for."""
    families = {f"{kind} {number}": f"family {number}" for kind in ("judge", "policy") for number in range(99)}
    for run in range(runs):
        biases = judge_biases(judgements(np.random.default_rng([seed, run]), setting), families)
        yield [
            {text.partition(" bias")[0] for text in biases[f"judge {judge}"].named()} for judge in range(setting.judges)
        ]


def unbiased(options: Options) -> None:
    """Prints how often unbiased judges are named."""
    print(f"Unbiased judges: share of {options.runs} studies that name at least one\n")
    print(f"| 6 judges, 200 items | any | {' | '.join(KINDS)} |\n{'|---' * 5}|")
    for name, setting in UNBIASED.items():
        studies = [set[str]().union(*study) for study in named(setting, options.runs, options.seed)]
        shares = [float(np.mean([bool(kinds) for kinds in studies]))]
        shares += [float(np.mean([kind in kinds for kinds in studies])) for kind in KINDS]
        print(f"| {name} | {' | '.join(f'{share:.3f}' for share in shares)} |", flush=True)


def one_biased(options: Options) -> None:
    """Prints how often one biased judge is named, and the unbiased ones beside it."""
    print(f"\nOne biased judge of 6: share of {options.planted} studies that name it for that bias\n")
    columns = " | ".join(f"{bias:g} logits" for bias in BIASES)
    print(f"| bias | {columns} | an unbiased judge named, mean of the three |\n{'|---' * 5}|")
    for kind, base in PLANTED:
        powers, others = [], []
        for bias in BIASES:
            studies = list(named(_planted(base, kind, bias), options.planted, options.seed + 1))
            powers.append(np.mean([kind in study[0] for study in studies]))
            others.append(np.mean([any(study[1:]) for study in studies]))
        label = f"{kind}{', both orders' if base.both_orders else ''}"
        print(f"| {label} | {' | '.join(f'{x:.2f}' for x in powers)} | {np.mean(others):.2f} |", flush=True)


def most_biased(options: Options) -> None:
    """Prints which judges are named if most of them favour the longer text."""
    print(f"\nFive of 6 judges with verbosity bias: share of {options.planted} studies\n")
    print(f"| bias | at least one biased judge named | the unbiased judge named |\n{'|---' * 3}|")
    for bias in BIASES:
        studies = list(named(_planted(Setting(biased=5), "verbosity", bias), options.planted, options.seed + 2))
        biased = np.mean([any("verbosity" in kinds for kinds in study[:5]) for study in studies])
        fair = np.mean(["verbosity" in study[5] for study in studies])
        print(f"| {bias:g} logits | {biased:.2f} | {fair:.2f} |", flush=True)


def _planted(base: Setting, kind: str, bias: float) -> Setting:
    planted: dict[str, Any] = {kind: bias}
    return replace(base, **planted)


def main() -> None:
    """Simulates and prints the three tables."""
    options = parse(Options, __doc__)
    start = time.perf_counter()
    unbiased(options)
    one_biased(options)
    most_biased(options)
    print(f"\n{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
