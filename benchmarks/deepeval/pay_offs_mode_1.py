"""Pay-offs at public goods where each player is told its own income only (DeepEval, arXiv 2309.04369, Figure 4 a)."""

from benchmarks.deepeval.pay_offs import make_row

ROW = make_row(1, "each is told its own income only", "Figure 4 (a)")
