"""Intervals of the statistics that only experiments use: on their scale, and with enough independent cases."""

from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.deepeval.ordering import concordance, rank_correlation
from benchmarks.experiments.proportions import paired_change, unpaired_change
from benchmarks.simulbench.against_truth import mean_error, praise, rank_agreement, separation
from benchmarks.simulbench.both_orders import compare
from rating.stats.estimates import FEWEST_CLUSTERS, bounded_mean, mean_estimate
from rating.stats.prediction_powered import corrected_mean

UNIT, SIGNED = (0, 1), (-1, 1)

shares = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1))
cases = st.lists(st.tuples(shares, shares, st.integers(0, 7)), min_size=1, max_size=24)


def found(cases):
    """Returns every estimate of some cases, each a share, another share and a cluster, with its scale."""
    first, second, groups = (list(column) for column in zip(*cases, strict=True))
    hits, others = [value > 0.5 for value in first], [value > 0.5 for value in second]
    verdicts = compare([(float(one), float(other)) for one, other in zip(hits, others, strict=True)], groups)
    corrected = corrected_mean(first, [value if group % 2 else None for _, value, group in cases], groups)
    before, after = bounded_mean(first, groups), mean_estimate(second, groups, scale=UNIT)
    rates = [*praise(first, second, 0.5, groups), separation(first, second, groups)]
    rates += [concordance(first, second, groups), *verdicts[:3], verdicts[4]]
    rates += [corrected.known, corrected.corrected] if corrected else []
    signed = [mean_error(first, second, groups), verdicts.delta, paired_change(hits, others)]
    signed += [unpaired_change(before, after), rank_correlation(first, second, groups)]
    signed += [rank_agreement(first, second, groups)]
    return [*((estimate, UNIT) for estimate in rates), *((estimate, SIGNED) for estimate in signed)]


@settings(max_examples=50)
@given(cases)
def test_intervals_of_any_cases_stay_on_their_scale(cases):
    for estimate, (least, most) in found(cases):
        if estimate is None or estimate.low is None:
            continue
        assert estimate.clusters >= FEWEST_CLUSTERS
        assert least <= estimate.low <= estimate.value + 1e-9
        assert estimate.value - 1e-9 <= estimate.high <= most
