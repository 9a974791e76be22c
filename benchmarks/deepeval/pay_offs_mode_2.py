"""Pay-offs at public goods with public information: all see all investments (DeepEval, arXiv 2309.04369, Figure 4 b)."""

from benchmarks.deepeval.pay_offs import make_row

ROW = make_row(2, "all are told the sorted list of investments", "Figure 4 (b)")
