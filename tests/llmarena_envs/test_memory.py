"""Memory does not grow from match to match, in any environment."""

import subprocess
import sys

import pytest

from llmarena_envs.catalogue import CATALOGUE

pytestmark = pytest.mark.slow

# Runs in its own process: entries that other tests left in bounded caches would be evicted while memory is traced. The same
# matches are played again, to fill the caches before measuring.
SCRIPT = """
import gc, sys, tracemalloc
import numpy as np
from llmarena_envs.catalogue import make_environment

env = make_environment(sys.argv[1], {})

def play():
    rng = np.random.default_rng(0)
    for seed in range(20):
        env.reset(seed=seed)
        for agent in env.agent_iter():
            over = env.last()[2]
            env.step(None if over else env.unwrapped.random_action(agent, rng))
    env.reset(seed=0)
    gc.collect()
    sys._clear_type_cache()  # holds names of attributes that patterns look up
    return tracemalloc.get_traced_memory()[0]

play()
tracemalloc.start()
first = play()
print(play() - first)
"""


@pytest.mark.parametrize("name", [entry.name for entry in CATALOGUE])
def test_memory_does_not_grow_from_match_to_match(name):
    done = subprocess.run([sys.executable, "-c", SCRIPT, name], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 1_500  # bytes in 20 matches
