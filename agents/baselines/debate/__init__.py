"""Policies for debates. Each can take any seat, so a pool can be its own committee.

Scripted judges must recognise the quality of an answer. A debater of strength ``s`` draws a quality ``q = s + g`` for a match,
``g`` from the standard Gumbel distribution, and makes ``8 + 4 q`` *points*, rounded, 0 to 40 of them, each on a line that begins
with ``- ``, spread evenly over its three answers. The difference of two Gumbel variables is logistic, so with judges without
noise and biases a debater of strength ``s`` beats one of strength ``t`` with probability ``1 / (1 + exp(t - s))``, up to
rounding: a Bradley-Terry fit recovers the strengths.
"""

from agents.baselines.debate.debaters import Debater, Empty, Examiner, OffTopic, Verbose
from agents.baselines.debate.hostile import Injecting, TagBreaking
from agents.baselines.debate.judges import Constant, Honest, Keyword, Shorter

BASELINES = {
    "debater": Debater,
    "verbose": Verbose,
    "off_topic": OffTopic,
    "tag_breaking": TagBreaking,
    "injecting": Injecting,
    "empty": Empty,
    "honest": Honest,
    "constant": Constant,
    "length": Shorter,
    "keyword": Keyword,
    "examiner": Examiner,
}
