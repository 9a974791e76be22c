"""Pay-offs at public goods with private information: each player sees its own income (DeepEval, arXiv 2309.04369, Figure 4 a)."""

from benchmarks.deepeval.pay_offs import make_row

ROW = make_row(1, "each is told its own income only", "Figure 4 (a)")
