"""An iterated prisoner's dilemma with talk."""

import pettingzoo

if hasattr(pettingzoo, "register"):  # PettingZoo has it since version 1.27
    pettingzoo.register("aec", "dilemma/dilemma-v0", "dilemma.env:env")
    pettingzoo.register("parallel", "dilemma/dilemma-v0", "dilemma.env:parallel_env")
