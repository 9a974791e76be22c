"""TorchRL: its wrapper of PettingZoo, its check of specifications, and rollouts."""

import torch
from torchrl.envs import PettingZooWrapper
from torchrl.envs.utils import check_env_specs

from benchmarks.clients.games import PARALLEL, TEXT, TEXT_ACTIONS, VECTOR, Make
from benchmarks.clients.trials import Trial


def rollouts(make: Make, smoke: bool) -> None:
    """Plays masked random actions through the wrapper, over the ends of matches."""
    env = PettingZooWrapper(make(), use_mask=True, seed=0)
    steps = 40 if smoke else 400
    record = env.rollout(steps, break_when_any_done=False)
    assert record.batch_size[0] == steps


def specifications(make: Make, smoke: bool) -> None:
    """TorchRL's own check, with several seeds: it plays three random steps, which end some matches."""
    for seed in range(10):
        torch.manual_seed(seed)
        check_env_specs(PettingZooWrapper(make(), use_mask=True, seed=seed))


TRIALS = (
    Trial("PettingZooWrapper, rollouts", VECTOR, rollouts),
    Trial("PettingZooWrapper, rollouts", PARALLEL, rollouts),
    Trial("PettingZooWrapper, rollouts", TEXT, rollouts, refuses=TEXT_ACTIONS),
    Trial("check_env_specs", VECTOR, specifications),
    Trial("check_env_specs", PARALLEL, specifications),
)
